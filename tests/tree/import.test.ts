/** Importing many folders at once, all or none. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { giveUpImports, stageImport } from './stored-imports.ts';
import { countRows } from '../stored-rows.ts';
import { mutation } from '../graph-bed.ts';
import { TreeBed, type ListedFolder } from './tree-bed.ts';

const exported = 'query($id: ID){exportFolders(id: $id){path title icon description properties}}';
const numbered = (count: number, name: (place: number) => string) =>
  Array.from({ length: count }, (_, place) => name(place));
/** 50 folders with as many in each as it takes. */
const spread = (count: number, word: string) =>
  numbered(count, (place) => (place < 50 ? `${word} ${place}` : `${word} ${place % 50}/${word} ${place}`));

for (const kind of databaseKinds) {
  describe(`importing on ${kind.name}`, () => {
    let tree: TreeBed;
    /** Called once, when a large import begins to write. */
    let onStaged: (() => void) | undefined;

    before(async () => {
      tree = await TreeBed.start(kind, {
        onStatement(text) {
          if (!text.includes("detached_because = 'import'")) return;
          onStaged?.();
          onStaged = undefined;
        },
      });
    });
    after(() => tree.stop());

    const refusal = async (input: Record<string, unknown>) => tree.refused('importFolders', input);
    const exportOf = async (id: string) =>
      (await tree.ask<{ exportFolders: ListedFolder[] }>(exported, { id })).exportFolders;

    describe('what is given', () => {
      test('a tree becomes folders with all that they say of themselves', async () => {
        const id = await tree.create('Tree');
        const texts = { title: 'T', icon: 'i', description: 'D', properties: { a: [1] } };
        const input = {
          parentId: id,
          tree: [
            {
              name: 'b',
              folders: [
                { name: 'b2', ...texts },
                { name: 'b1', folders: [] },
              ],
            },
            { name: 'a', folders: null, ...texts },
          ],
        };
        const payload = await tree.run(
          'importFolders',
          input,
          'folderCount parent{id version folders{totalCount}}',
        );
        assert.deepEqual(payload, { folderCount: 4, parent: { id, version: 1, folders: { totalCount: 2 } } });
        const none = { title: null, icon: null, description: null, properties: null };
        assert.deepEqual(await exportOf(id), [
          { path: 'a', ...texts },
          { path: 'b', ...none },
          { path: 'b/b1', ...none },
          { path: 'b/b2', ...texts },
        ]);
        assert.deepEqual(await tree.find(await tree.idOf('/Tree/a'), 'version createdAt updatedAt'), {
          version: 1,
          createdAt: new Date(tree.bed.clock.now()).toISOString(),
          updatedAt: new Date(tree.bed.clock.now()).toISOString(),
        });
      });

      test('a list becomes folders in any order of its paths, with the folders on the way', async () => {
        const id = await tree.create('List');
        const list = [
          { path: '/x/y/z/' },
          { path: 'Cafe\u0301/in' },
          { path: 'x/y', title: 'Y' },
          { path: 'x/w' },
        ];
        assert.equal(await tree.import([...list, 'Caf\u00e9'], id), 6);
        assert.deepEqual(await tree.paths(id), ['Café', 'Café/in', 'x', 'x/w', 'x/y', 'x/y/z']);
        assert.deepEqual(await tree.find(await tree.idOf('/List/x/y'), 'title'), { title: 'Y' });
      });

      test('a tree and a list, or neither, are refused; an empty one imports nothing', async () => {
        const snapshot = await tree.snapshot();
        for (const given of [
          {},
          { tree: null, list: null },
          { tree: [], list: [] },
          { tree: [{ name: 'a' }], list: [] },
        ]) {
          assert.equal((await refusal(given)).extensions.code, 'BAD_INPUT', JSON.stringify(given));
        }
        for (const given of [{ tree: [] }, { list: [] }]) {
          assert.deepEqual(await tree.run('importFolders', given, 'folderCount'), { folderCount: 0 });
        }
        assert.deepEqual(await tree.snapshot(), snapshot);
      });

      test('a folder that is there twice is a CONFLICT that names its path', async () => {
        const twice: [object, string][] = [
          [{ list: [{ path: 'a/b' }, { path: 'a' }, { path: 'a/b' }] }, 'a/b'],
          [{ list: [{ path: 'Caf\u00e9' }, { path: 'Cafe\u0301' }] }, 'Cafe\u0301'],
          [{ tree: [{ name: 'a', folders: [{ name: 'b' }, { name: 'b' }] }] }, 'a/b'],
        ];
        const long = Array.from({ length: 9 }, () => 'x'.repeat(200)).join('/');
        const { message: short } = await refusal({ list: [{ path: long }, { path: long }] });
        assert.ok(short.length < 400, short);
        for (const [given, path] of twice) {
          const { extensions, message } = await refusal({ ...given });
          assert.equal(extensions.code, 'CONFLICT');
          assert.equal(message, `${JSON.stringify(path)} is there twice.`);
        }
      });

      test('a name at the top that is taken is a CONFLICT; deeper down there is nothing to conflict with', async () => {
        const [id] = (await tree.createChain(['Taken', 'here', 'inside'])) as [string];
        const { extensions, message } = await refusal({
          parentId: id,
          list: [{ path: 'new' }, { path: 'here/inside' }],
        });
        assert.equal(extensions.code, 'CONFLICT');
        assert.match(message, /"here" is not free/);
        assert.equal(await tree.import(['new/here/inside'], id), 3);
      });

      test('a name or a text that is not allowed is refused with its path', async () => {
        const bad: [object, RegExp][] = [
          [{ path: '' }, /^"": /],
          [{ path: '/' }, /^"\/": /],
          [{ path: 'a//b' }, /^"a\/\/b": .*empty/],
          [{ path: `a/${'x'.repeat(256)}` }, /255 characters/],
          [{ path: 'a/b\u0001' }, /^"a\/b\\u0001": .*control/],
          [{ path: 'a/\ud800' }, /^"a\/\\ud800": .*well-formed/],
          [{ path: 'a', title: 'x'.repeat(256) }, /^"a": .*title.*255/],
          [{ path: 'a', properties: [] }, /^"a": .*object/],
          [{ path: 'a', properties: { x: 'x'.repeat(20_000) } }, /^"a": .*16384/],
        ];
        for (const [given, expected] of bad) {
          const { extensions, message } = await refusal({ list: [{ path: 'fine' }, given] });
          assert.equal(extensions.code, 'BAD_INPUT');
          assert.match(message, expected);
        }
        const inTree = await refusal({ tree: [{ name: 'a', folders: [{ name: 'b/c' }] }] });
        assert.match(inTree.message, /^"a\/b\/c": .*slash/);
      });

      test('checks the rights before it looks at the folders', async () => {
        const parentId = await tree.create('Not yours');
        const reader = await tree.person({ [parentId]: 'READ' });
        const stranger = await tree.person({});
        const input = { parentId, list: [{ path: 'bad\u0000name' }] };
        assert.equal(await tree.outcome('importFolders', input), 'BAD_INPUT');
        assert.equal(await tree.outcome('importFolders', input, reader.authToken), 'FORBIDDEN');
        assert.equal(await tree.outcome('importFolders', input, stranger.authToken), 'NOT_FOUND');
      });

      test('does not read a very long request of a user who may write nowhere', async () => {
        const parentId = await tree.create('Readable');
        const reader = await tree.person({ [parentId]: 'READ' });
        const writer = await tree.person({ [parentId]: 'WRITE' });
        const list = [{ path: 'Long', description: 'x'.repeat(2 ** 20) }];
        const send = async ({ authToken }: { authToken: string }) =>
          (
            await tree.bed.query(mutation('importFolders', '__typename'), authToken, {
              input: { parentId, list },
            })
          ).status;
        assert.equal(await send(reader), 413);
        assert.equal(await send(writer), 200);
      });

      test('needs WRITE where it goes', async () => {
        const id = await tree.create('Guarded');
        const reader = await tree.person({ [id]: 'READ' });
        const writer = await tree.person({ [id]: 'WRITE' });
        const input = { parentId: id, list: spread(1_200, 'brick').map((path) => ({ path })) };
        assert.equal(
          (await tree.refused('importFolders', input, reader.authToken)).extensions.code,
          'FORBIDDEN',
        );
        assert.equal(await tree.outcome('importFolders', input, writer.authToken), 'OK');
        assert.equal((await tree.paths(id)).length, 1_200);
        await tree.delete(id);
      });
    });

    describe('all or none', () => {
      test('one bad name among 3,000 imports nothing', async () => {
        const rows = await countRows(tree.bed.database.url);
        const list = spread(3_000, 'stone').map((path, place) => ({
          path: place === 2_999 ? 'a/b\n' : path,
        }));
        assert.equal((await refusal({ list })).extensions.code, 'BAD_INPUT');
        assert.deepEqual(await countRows(tree.bed.database.url), rows);
      });

      interface Counted {
        list: { totalCount: number };
      }
      const counting = (id: string, list: string) => tree.find<Counted>(id, `list: ${list}{totalCount}`);
      const readers: Readonly<Record<string, (id: string, word: string) => Promise<number>>> = {
        folders: async (id) => (await counting(id, 'folders'))!.list.totalCount,
        descendants: async (id) => (await counting(id, 'descendants'))!.list.totalCount,
        exportFolders: async (id) => (await tree.paths(id)).length,
        search: async (under, text) => {
          const query =
            'query($text: String!, $under: ID){list: search(text: $text, under: $under){totalCount}}';
          return (await tree.ask<Counted>(query, { text, under })).list.totalCount;
        },
      };
      for (const [reader, count] of Object.entries(readers)) {
        test(`2,500 folders appear all at once to whoever looks with ${reader} meanwhile`, async () => {
          const word = `plank for ${reader}`;
          const id = await tree.create(`Watched with ${reader}`);
          let isDone = false;
          const seen = new Set<number>();
          const watch = async () => {
            while (!isDone) seen.add(await count(id, word));
          };
          const importing = tree.import(
            numbered(2_500, (place) => `${word} ${place}`),
            id,
          );
          await Promise.all([importing.finally(() => (isDone = true)), watch(), watch(), watch()]);
          seen.add(await count(id, word));
          assert.deepEqual([...seen], [0, 2_500]);
          await tree.delete(id);
        });
      }

      const meanwhile: [what: string, code: string, change: (parentId: string) => Promise<unknown>][] = [
        ['its parent is deleted', 'NOT_FOUND', (parentId) => tree.delete(parentId)],
        ['a name is taken', 'CONFLICT', (parentId) => tree.create('twig 7', parentId)],
        ['the version moves on', 'CONFLICT', (id) => tree.run('updateFolder', { id, title: 'New' })],
        ['it is given up for purging', 'UNAVAILABLE', () => giveUpImports(tree.bed.database.url)],
      ];
      for (const [what, code, change] of meanwhile) {
        test(`an import leaves nothing behind if ${what} while it runs`, async () => {
          const id = await tree.create(`Parent until ${what}`);
          const { folders } = await countRows(tree.bed.database.url);
          const changed = new Promise((resolve, reject) => {
            onStaged = () => void change(id).then(resolve, reject);
          });
          const list = spread(6_000, 'twig').map((path) => ({ path }));
          const outcome = await tree.outcome('importFolders', { parentId: id, list, expectedVersion: 1 });
          await changed;
          assert.equal(outcome, code);
          assert.ok((await tree.search('twig')).length <= 1);
          assert.equal(
            (await countRows(tree.bed.database.url)).folders,
            folders + Number(what === 'a name is taken'),
          );
        });
      }

      test('an import that was interrupted is not to be seen, and is purged after an hour', async () => {
        const { url } = tree.bed.database;
        const parentId = await tree.create('Waiting');
        const snapshot = await tree.snapshot();
        const before = await countRows(url);
        const ids = await stageImport(url, {
          parentId,
          names: numbered(1_500, (place) => `shard ${place}`),
          now: tree.bed.clock.now(),
        });
        assert.deepEqual(await tree.snapshot(), snapshot);
        assert.deepEqual(await tree.search('shard'), []);
        for (const id of [ids[0]!, ids.at(-1)!]) {
          assert.equal(await tree.find(id, 'id'), null);
          assert.equal((await tree.refused('restoreFolder', { id })).extensions.code, 'NOT_FOUND');
          assert.equal(
            (await tree.refused('createFolder', { parentId: id, name: 'x' })).extensions.code,
            'NOT_FOUND',
          );
        }
        await tree.bed.sweep();
        assert.equal((await countRows(url)).folders, before.folders + 1_501);
        await tree.advanceDays(1 / 24);
        await tree.bed.sweep();
        assert.equal((await countRows(url)).folders, before.folders);
        assert.deepEqual(await tree.snapshot(), snapshot);
      });
    });
  });
}
