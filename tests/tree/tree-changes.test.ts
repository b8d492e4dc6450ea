/** Creates and updates folders, and validates ids and names. A refused change leaves the tree unchanged. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { TreeTestbed } from './tree-testbed.ts';

const loneSurrogate = '\ud800';
const fields = 'id name title icon description properties path depth version';

for (const kind of databaseKinds) {
  describe(`changes of the tree on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let rootId: string;

    before(async () => {
      tree = await TreeTestbed.start(kind);
      rootId = await tree.idOf('/');
    });
    after(() => tree.stop());

    const refusalCode = async (name: string, input: Variables, authToken?: string) =>
      (await tree.readMutationError(name, input, authToken)).extensions.code;

    describe('`createFolder()`', () => {
      test('returns the new folder, which is in the root by default', async () => {
        const values = { title: 'T', icon: 'i', description: 'D', properties: { a: 1 } };
        const { folder } = await tree.mutate<{ folder: { id: string } }>(
          'createFolder',
          { name: 'New', ...values },
          `folder{${fields}}`,
        );
        const { id } = folder;
        assert.deepEqual(folder, { id, name: 'New', ...values, path: '/New', depth: 1, version: 1 });
        assert.deepEqual(await tree.find(id, fields), folder);
        const inside = await tree.create('Inside', id);
        assert.deepEqual(await tree.find(inside, 'path'), { path: '/New/Inside' });
        assert.deepEqual(await tree.find(id, 'version folders{totalCount}'), {
          version: 1,
          folders: { totalCount: 1 },
        });
      });

      test('requires WRITE on the parent', async () => {
        const [open, deep] = (await tree.createChain(['Desk', 'Drawer'])) as [string, string];
        const writer = await tree.person({ [open]: 'WRITE' });
        await tree.mutate('createFolder', { parentId: deep, name: 'Theirs' }, 'folder{id}', writer.authToken);
        const reader = await tree.person({ [open]: 'READ' });
        assert.equal(
          await refusalCode('createFolder', { parentId: deep, name: 'No' }, reader.authToken),
          'FORBIDDEN',
        );
        assert.equal(await refusalCode('createFolder', { name: 'No' }, writer.authToken), 'FORBIDDEN');
      });

      test('requires a name that no sibling has in composed form (NFC)', async () => {
        const id = await tree.create('Caf\u00e9');
        for (const name of ['Caf\u00e9', 'Cafe\u0301']) {
          const error = await tree.readMutationError('createFolder', { name });
          assert.equal(error.extensions.code, 'CONFLICT');
          assert.equal(
            error.message,
            'The name "Café" is already in use in that folder. Choose another name.',
          );
        }
        await tree.create('café');
        await tree.create('Café ');
        await tree.create('Café', id);
      });

      test('accepts names with 1 to 255 characters, counted in composed form', async () => {
        const validNames = [
          'x'.repeat(255),
          '🌳'.repeat(255),
          'e\u0301'.repeat(255),
          ' ',
          '.',
          '..',
          '\\',
          '%',
          "'",
        ];
        for (const name of validNames) {
          const id = await tree.create(name);
          assert.deepEqual(await tree.find(id, 'name path'), {
            name: name.normalize(),
            path: `/${name.normalize()}`,
          });
          assert.equal(await tree.idOf(`/${name}`), id);
        }
      });

      test('rejects invalid names, also on update and restore', async () => {
        const id = await tree.create('Well named');
        const trashed = await tree.create('Once well named');
        await tree.delete(trashed);
        const invalidNames = [
          '',
          'x'.repeat(256),
          '🌳'.repeat(256),
          'e\u0301'.repeat(256),
          'a/b',
          '/',
          'a\nb',
          '\0',
          '\x7f',
        ];
        invalidNames.push('\u0085', loneSurrogate, `a${loneSurrogate}`, '\udc00b', '\udc00\ud800');
        for (const name of invalidNames) {
          assert.equal(await refusalCode('createFolder', { name }), 'BAD_INPUT', JSON.stringify(name));
          assert.equal(await refusalCode('updateFolder', { id, name }), 'BAD_INPUT', JSON.stringify(name));
          if (name === '') continue;
          assert.equal(
            await refusalCode('restoreFolder', { id: trashed, name }),
            'BAD_INPUT',
            JSON.stringify(name),
          );
        }
      });
    });

    describe('`updateFolder()`', () => {
      test('changes the fields in the input, keeps the others, and clears those that are null', async () => {
        const values = { title: 'T', icon: 'i', description: 'D', properties: { a: 1 } };
        const id = await tree.create('Updated', undefined, values);
        const location = { id, path: '/Updated', depth: 1, name: 'Updated' };
        const update = async (input: Variables) =>
          (await tree.mutate<{ folder: object }>('updateFolder', { id, ...input }, `folder{${fields}}`))
            .folder;
        const { description, properties } = values;
        assert.deepEqual(await update({ title: 'New' }), {
          ...location,
          ...values,
          title: 'New',
          version: 2,
        });
        assert.deepEqual(await update({ icon: null, title: null }), {
          ...location,
          ...{ title: 'Updated', icon: null, description, properties, version: 3 },
        });
        assert.deepEqual(await update({ description: null, properties: null, icon: 'j' }), {
          ...location,
          ...{ title: 'Updated', icon: 'j', description: null, properties: {}, version: 4 },
        });
      });

      test('changes nothing, not even the version, if all values are the same', async () => {
        const id = await tree.create('Saved', undefined, { title: 'T', properties: { a: [1] } });
        tree.server.clock.advanceSeconds(1);
        const before = await tree.find(id, `${fields} updatedAt`);
        const same = { id, name: 'Saved', title: 'T', icon: null, description: '', properties: { a: [1] } };
        await tree.mutate('updateFolder', same);
        assert.deepEqual(await tree.find(id, `${fields} updatedAt`), before);
      });

      test('renames a folder, keeps its descendants, sorts it again, and frees the old name', async () => {
        const [top, id] = (await tree.createChain(['Names', 'b', 'Inside'])) as [string, string];
        await tree.create('a', top);
        await tree.mutate('updateFolder', { id, name: 'A2' });
        assert.deepEqual(await tree.paths(top), ['a', 'A2', 'A2/Inside']);
        await tree.create('b', top);
        const error = await tree.readMutationError('updateFolder', { id, name: 'b' });
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.equal(error.message, 'The name "b" is already in use in that folder. Choose another name.');
        await tree.mutate('updateFolder', { id, name: 'A2' });
      });

      test('names the input field with the refused value', async () => {
        const [top, id] = (await tree.createChain(['Fields', 'taken'])) as [string, string];
        await tree.create('free', top);
        const long = 'x'.repeat(256);
        for (const [inputField, value] of Object.entries({
          name: 'free',
          title: long,
          icon: long,
          properties: 1,
        })) {
          const { extensions } = await tree.readMutationError('updateFolder', { id, [inputField]: value });
          assert.equal(extensions.inputField, inputField);
        }
        const moved = await tree.readMutationError('moveFolder', { id, parentId: top, name: 'free' });
        assert.equal(moved.extensions.inputField, 'name');
        const username = await tree.readMutationError('createUser', {
          username: '',
          password: 'walnut cabin 73',
        });
        assert.equal(username.extensions.inputField, 'username');
      });

      test('can rename the root without moving it', async () => {
        await tree.mutate('updateFolder', { id: rootId, name: 'Trunk' });
        assert.deepEqual(await tree.query('{folder{name path parent{id}}}'), {
          folder: { name: 'Trunk', path: '/', parent: null },
        });
        await tree.mutate('updateFolder', { id: rootId, name: 'Root' });
      });
    });

    test('applies the mutations of one request independently, with an error for a refused one', async () => {
      const create = 'createFolder(input: {name: "Twin"}){folder{name}}';
      const { data, errors } = await tree.execute(
        `mutation{a: ${create} b: ${create} c: ${create.replace('Twin', 'Third')}}`,
      );
      assert.deepEqual(data, { a: { folder: { name: 'Twin' } }, b: null, c: { folder: { name: 'Third' } } });
      assert.deepEqual(
        errors?.map(({ path, extensions }) => [path, extensions.code]),
        [[['b'], 'CONFLICT']],
      );
    });

    test('reports NOT_FOUND for an id without a folder, in every argument', async () => {
      const [gone, inside] = (await tree.createChain(['Gone', 'Gone inside'])) as [string, string];
      const id = await tree.create('Still here');
      await tree.delete(gone);
      const { id: userId } = await tree.person({});
      const foreign = [
        '',
        'x',
        "' or 1=1 --",
        randomUUID(),
        id.toUpperCase(),
        ` ${id}`,
        userId,
        gone,
        inside,
      ];
      for (const other of [...foreign, `{${id}}`, loneSurrogate, '\0']) {
        const inputs: [string, Variables][] = [
          ['createFolder', { name: 'New', parentId: other }],
          ['updateFolder', { id: other, title: 'New' }],
          ['moveFolder', { id: other, parentId: rootId }],
          ['moveFolder', { id, parentId: other }],
          ['deleteFolder', { id: other, recursive: true }],
          ['importFolders', { parentId: other, list: [{ path: 'New' }] }],
          ['restoreFolder', { id: gone, parentId: other || 'x' }],
          ['restoreFolder', { id: other === gone ? id : other }],
        ];
        for (const [name, input] of inputs) {
          assert.equal(await refusalCode(name, input), 'NOT_FOUND', `${name} ${JSON.stringify(input)}`);
        }
        assert.equal(await tree.find(other, 'id'), null);
      }
    });

    test('does not treat an empty id or name as absent', async () => {
      const id = await tree.create('Emptied');
      await tree.delete(id);
      assert.equal(await refusalCode('restoreFolder', { id, name: '' }), 'BAD_INPUT');
      assert.equal(await refusalCode('restoreFolder', { id, parentId: '' }), 'NOT_FOUND');
      for (const query of [
        '{exportFolders(id: ""){path}}',
        '{search(text: "Root", under: ""){totalCount}}',
      ]) {
        assert.equal((await tree.readError(query)).extensions.code, 'NOT_FOUND', query);
      }
    });
  });
}
