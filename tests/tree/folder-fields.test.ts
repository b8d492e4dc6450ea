/** The fields of a folder have limits, and are returned exactly as written. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from './tree-testbed.ts';

interface Texts {
  title: string;
  icon: string | null;
  description: string | null;
  properties: Record<string, unknown>;
}

const texts = 'title icon description properties';
const loneSurrogate = '\ud800';

for (const kind of databaseKinds) {
  describe(`fields of folders on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const read = async (id: string): Promise<Texts> => (await tree.find<Texts>(id, texts))!;

    describe('texts', () => {
      test('include the name as the default title, also after a rename', async () => {
        const id = await tree.create('plain');
        assert.deepEqual(await read(id), { title: 'plain', icon: null, description: null, properties: {} });
        await tree.mutate('updateFolder', { id, name: 'renamed' });
        assert.equal((await read(id)).title, 'renamed');
      });

      test('are returned exactly as written', async () => {
        const input = { title: 'Ça va? <b>"%_\\\'', icon: '🗂️', description: 'one\ntwo\r\n\tthree' };
        const id = await tree.create('texts', undefined, input);
        assert.deepEqual(await read(id), { ...input, properties: {} });
      });

      test('are stored in composed form (NFC)', async () => {
        const id = await tree.create('composed', undefined, { title: 'Cafe\u0301', description: 'e\u0301' });
        assert.equal((await read(id)).title, 'Caf\u00e9');
        assert.equal((await read(id)).description, '\u00e9');
      });

      test('are null if empty', async () => {
        const id = await tree.create('empty', undefined, { title: '', icon: '', description: '' });
        assert.deepEqual(await read(id), { title: 'empty', icon: null, description: null, properties: {} });
      });

      test('have a maximum length, counted in characters', async () => {
        const longestTexts = {
          title: '𝔸'.repeat(255),
          icon: 'i'.repeat(255),
          description: '🌳'.repeat(10_000),
        };
        const id = await tree.create('long', undefined, longestTexts);
        assert.deepEqual(await read(id), { ...longestTexts, properties: {} });
        for (const [field, text] of Object.entries(longestTexts)) {
          const error = await tree.readMutationError('updateFolder', { id, [field]: `${text}x` });
          assert.equal(error.extensions.code, 'BAD_INPUT');
          assert.match(error.message, new RegExp(`${field}.*at most`));
        }
      });

      test('reject control characters and unpaired surrogates', async () => {
        const id = await tree.create('controlled');
        const refused = [
          { title: 'a\nb' },
          { title: 'a\u0085b' },
          { title: loneSurrogate },
          { icon: '\0' },
          { icon: `x${loneSurrogate}` },
          { description: 'a\0b' },
          { description: 'a\u001bb' },
          { description: '\udc00\ud800' },
        ];
        for (const input of refused) {
          const { extensions } = await tree.readMutationError('updateFolder', { id, ...input });
          assert.equal(extensions.code, 'BAD_INPUT', JSON.stringify(input));
          assert.equal(
            (await tree.readMutationError('createFolder', { name: 'new', ...input })).extensions.code,
            'BAD_INPUT',
          );
        }
      });
    });

    describe('properties', () => {
      const nested = (levels: number): unknown => (levels === 0 ? 1 : { in: nested(levels - 1) });
      /** Returns an object whose JSON has this size. */
      const createObjectOfSize = (bytes: number) => ({ é: 'x'.repeat(bytes - '{"":""}'.length - 2) });

      test('are returned exactly as written, for any JSON object', async () => {
        const input = JSON.parse(
          `{"text":"a\\"b\\\\c\\u0000\\n","zero":0,"negative":-1.5e-7,"large":9007199254740991,"yes":true,"none":null,
            "list":[1,[2,{"x":[]}],{}],"":"empty key","__proto__":{"polluted":true},"constructor":1,"ключ":"🌳","10":1,"9":2}`,
        ) as Record<string, unknown>;
        const id = await tree.create('json', undefined, { properties: input });
        const response = await tree.server.query(`{folder(id: "${id}"){properties}}`, tree.authToken);
        assert.equal(response.text, JSON.stringify({ data: { folder: { properties: input } } }));
        assert.equal(({} as { polluted?: boolean }).polluted, undefined);
      });

      test('accept literals in the query, with variables inside', async () => {
        const { createFolder } = await tree.query<{ createFolder: { folder: Texts } }>(
          `mutation($deep: JSON, $text: String){createFolder(input: {name: "literal", properties: {
            text: $text, deep: {here: $deep}, list: [1, -2.5, true, null, WORD], __proto__: {a: 1}, block: """x"""}}){
            folder{properties}}}`,
          { deep: { a: [1] }, text: 'given' },
        );
        assert.equal(
          JSON.stringify(createFolder.folder.properties),
          '{"text":"given","deep":{"here":{"a":[1]}},"list":[1,-2.5,true,null,"WORD"],"__proto__":{"a":1},"block":"x"}',
        );
      });

      test('are replaced as a whole by an update, and removed by null or {}', async () => {
        const id = await tree.create('replaced', undefined, { properties: { a: 1, b: 2 } });
        await tree.mutate('updateFolder', { id, properties: { b: 3 } });
        assert.deepEqual((await read(id)).properties, { b: 3 });
        await tree.mutate('updateFolder', { id, title: 'Other' });
        assert.deepEqual((await read(id)).properties, { b: 3 });
        await tree.mutate('updateFolder', { id, properties: {} });
        assert.deepEqual((await read(id)).properties, {});
        await tree.mutate('updateFolder', { id, properties: { c: 1 } });
        await tree.mutate('updateFolder', { id, properties: null });
        assert.deepEqual((await read(id)).properties, {});
      });

      test('are limited to 16 KiB as JSON, counted in bytes', async () => {
        const id = await tree.create('large', undefined, { properties: createObjectOfSize(16 * 1024) });
        assert.deepEqual((await read(id)).properties, createObjectOfSize(16 * 1024));
        for (const bytes of [16 * 1024 + 1, 1_000_000]) {
          const error = await tree.readMutationError('updateFolder', {
            id,
            properties: createObjectOfSize(bytes),
          });
          assert.equal(error.extensions.code, 'BAD_INPUT');
          assert.match(error.message, /16384 bytes/);
        }
      });

      test('are limited to 32 levels of nesting', async () => {
        await tree.create('nested', undefined, { properties: nested(32) });
        for (const levels of [33, 290, 1_000, 20_000]) {
          const text = `${'{"in":'.repeat(levels)}1${'}'.repeat(levels)}`;
          const body = `{"query":"mutation($p: JSON){createFolder(input: {name: \\"n\\", properties: $p}){folder{id}}}","variables":{"p":${text}}}`;
          const response = await tree.server.postRaw('/graphql', body, {
            'content-type': 'application/json',
            authorization: `Bearer ${tree.authToken}`,
          });
          assert.match(response.text, /"code":"BAD_INPUT"/, String(levels));
        }
      });

      test('reject values that are not objects or not well-formed', async () => {
        const refused = [
          [],
          [{}],
          'text',
          '{}',
          1,
          true,
          { text: loneSurrogate },
          { [loneSurrogate]: 1 },
          { list: [{ deep: `a${loneSurrogate}` }] },
        ];
        for (const properties of refused) {
          const { extensions } = await tree.readMutationError('createFolder', { name: 'new', properties });
          assert.equal(extensions.code, 'BAD_INPUT', JSON.stringify(properties));
        }
      });
    });

    describe('fields that the server sets', () => {
      test('include the parent, the path, the depth, and the ancestors from the root down', async () => {
        const [, , third] = await tree.createChain(['Grand', 'Parent %', 'Child 🌳']);
        const selection = 'parent{name} ancestors{name depth path} path depth';
        assert.deepEqual(await tree.find(third!, selection), {
          parent: { name: 'Parent %' },
          ancestors: [
            { name: 'Root', depth: 0, path: '/' },
            { name: 'Grand', depth: 1, path: '/Grand' },
            { name: 'Parent %', depth: 2, path: '/Grand/Parent %' },
          ],
          path: '/Grand/Parent %/Child 🌳',
          depth: 3,
        });
        assert.equal(await tree.idOf('/Grand/Parent %/Child 🌳'), third);
        const { folder } = await tree.query<{ folder: unknown }>(`{folder{${selection}}}`);
        assert.deepEqual(folder, { parent: null, ancestors: [], path: '/', depth: 0 });
      });

      test('include the full path, but only the names of ancestors that the viewer may not read', async () => {
        const [closed, , open] = await tree.createChain(['Closed', 'Between', 'Open']);
        await tree.mutate('updateFolder', { id: closed, title: 'Secret', description: 'Secret' });
        const { authToken } = await tree.person({ [open!]: 'READ' });
        const selection = 'path depth ancestors{name title description version accessLevel}';
        const passage = { description: null, version: 0, accessLevel: 'NONE' };
        assert.deepEqual(await tree.find(open!, selection, authToken), {
          path: '/Closed/Between/Open',
          depth: 3,
          ancestors: ['Root', 'Closed', 'Between'].map((name) => ({ name, title: name, ...passage })),
        });
      });

      test('include a version and an update time, which change only for the changed folder', async () => {
        const [above, folder, inside] = await tree.createChain(['Above', 'Timed', 'Inside']);
        const other = await tree.create('Other place');
        const selection = 'version createdAt updatedAt';
        const created = new Date(tree.server.clock.now()).toISOString();
        const fresh = { version: 1, createdAt: created, updatedAt: created };
        assert.deepEqual(await tree.find(folder!, selection), fresh);
        let version = 1;
        const changes: [string, object][] = [
          ['updateFolder', { title: 'New' }],
          ['updateFolder', { name: 'Timed again' }],
          ['moveFolder', { parentId: other }],
          ['deleteFolder', { recursive: true }],
          ['restoreFolder', {}],
        ];
        for (const [name, input] of changes) {
          tree.server.clock.advanceSeconds(7);
          await tree.mutate(name, { id: folder, ...input });
          version++;
          if (name === 'deleteFolder') continue;
          assert.deepEqual(await tree.find(folder!, selection), {
            version,
            createdAt: created,
            updatedAt: new Date(tree.server.clock.now()).toISOString(),
          });
        }
        for (const id of [above!, inside!, other]) assert.deepEqual(await tree.find(id, selection), fresh);
      });

      test('stay the same after an empty update or a move to the same parent', async () => {
        const id = await tree.create('Untouched');
        const parent = (await tree.find<{ parent: { id: string } }>(id, 'parent{id}'))!.parent.id;
        const snapshot = await tree.snapshot();
        tree.server.clock.advanceSeconds(1);
        await tree.mutate('updateFolder', { id });
        await tree.mutate('updateFolder', { id, name: null, expectedVersion: null });
        await tree.mutate('moveFolder', { id, parentId: parent });
        assert.deepEqual(await tree.snapshot(), snapshot);
      });
    });
  });
}
