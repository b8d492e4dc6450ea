/** Imports many folders in one step, all or none. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '../../server/src/database/database.ts';
import { databaseKinds } from '../support/databases.ts';
import { markStagedImportsForPurge, stageImport } from './stored-imports.ts';
import { countRows, withDatabase } from '../support/stored-rows.ts';
import { mutation } from '../support/graph-testbed.ts';
import { TreeTestbed, type ListedFolder } from './tree-testbed.ts';

const exportQuery = 'query($id: ID){exportFolders(id: $id){path title icon description properties}}';
const createNames = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index));
/** Distributes the folders evenly over 50 parents. */
const spreadPaths = (count: number, word: string) =>
  createNames(count, (index) => (index < 50 ? `${word} ${index}` : `${word} ${index % 50}/${word} ${index}`));

for (const kind of databaseKinds) {
  describe(`an import on ${kind.name}`, () => {
    let tree: TreeTestbed;
    /** Called once, when a large import starts to write. */
    let onStaged: (() => void) | undefined;

    before(async () => {
      tree = await TreeTestbed.start(kind, {
        onStatement(text) {
          if (!text.includes("detached_because = 'import'")) return;
          onStaged?.();
          onStaged = undefined;
        },
      });
    });
    after(() => tree.stop());

    const refusal = async (input: Record<string, unknown>) => tree.readMutationError('importFolders', input);
    const exportFolder = async (id: string) =>
      (await tree.query<{ exportFolders: ListedFolder[] }>(exportQuery, { id })).exportFolders;

    describe('the input', () => {
      test('can be a tree of folders with all their fields', async () => {
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
        const payload = await tree.mutate(
          'importFolders',
          input,
          'folderCount parent{id version folders{totalCount}}',
        );
        assert.deepEqual(payload, { folderCount: 4, parent: { id, version: 1, folders: { totalCount: 2 } } });
        const none = { title: null, icon: null, description: null, properties: null };
        assert.deepEqual(await exportFolder(id), [
          { path: 'a', ...texts },
          { path: 'b', ...none },
          { path: 'b/b1', ...none },
          { path: 'b/b2', ...texts },
        ]);
        assert.deepEqual(await tree.find(await tree.idOf('/Tree/a'), 'version createdAt updatedAt'), {
          version: 1,
          createdAt: new Date(tree.server.clock.now()).toISOString(),
          updatedAt: new Date(tree.server.clock.now()).toISOString(),
        });
      });

      test('can be a list of paths in any order, also if parents are missing', async () => {
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

      test('is rejected if it has both a tree and a list, or neither', async () => {
        const snapshot = await tree.snapshot();
        for (const input of [
          {},
          { tree: null, list: null },
          { tree: [], list: [] },
          { tree: [{ name: 'a' }], list: [] },
        ]) {
          assert.equal((await refusal(input)).extensions.code, 'BAD_INPUT', JSON.stringify(input));
        }
        for (const input of [{ tree: [] }, { list: [] }]) {
          assert.deepEqual(await tree.mutate('importFolders', input, 'folderCount'), { folderCount: 0 });
        }
        assert.deepEqual(await tree.snapshot(), snapshot);
      });

      test('is refused with CONFLICT and the path if a folder occurs twice', async () => {
        const duplicates: [object, string][] = [
          [{ list: [{ path: 'a/b' }, { path: 'a' }, { path: 'a/b' }] }, 'a/b'],
          [{ list: [{ path: 'Caf\u00e9' }, { path: 'Cafe\u0301' }] }, 'Cafe\u0301'],
          [{ tree: [{ name: 'a', folders: [{ name: 'b' }, { name: 'b' }] }] }, 'a/b'],
        ];
        const long = Array.from({ length: 9 }, () => 'x'.repeat(200)).join('/');
        const { message: short } = await refusal({ list: [{ path: long }, { path: long }] });
        assert.ok(short.length < 400, short);
        for (const [input, path] of duplicates) {
          const { extensions, message } = await refusal({ ...input });
          assert.equal(extensions.code, 'CONFLICT');
          assert.equal(message, `${JSON.stringify(path)} occurs twice in the import. Remove one of the two.`);
        }
      });

      test('is refused with CONFLICT if a name in the parent is taken', async () => {
        const [id] = (await tree.createChain(['Taken', 'here', 'inside'])) as [string];
        const { extensions, message } = await refusal({
          parentId: id,
          list: [{ path: 'new' }, { path: 'here/inside' }],
        });
        assert.equal(extensions.code, 'CONFLICT');
        assert.match(message, /"here" is already in use/);
        assert.equal(await tree.import(['new/here/inside'], id), 3);
      });

      test('is rejected with its path if a name or a text is not allowed', async () => {
        const invalidInputs: [object, RegExp][] = [
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
        for (const [input, expected] of invalidInputs) {
          const { extensions, message } = await refusal({ list: [{ path: 'fine' }, input] });
          assert.equal(extensions.code, 'BAD_INPUT');
          assert.match(message, expected);
        }
        const inTree = await refusal({ tree: [{ name: 'a', folders: [{ name: 'b/c' }] }] });
        assert.match(inTree.message, /^"a\/b\/c": .*slash/);
      });

      test('is validated only after the rights are checked', async () => {
        const parentId = await tree.create('Not yours');
        const reader = await tree.person({ [parentId]: 'READ' });
        const stranger = await tree.person({});
        const input = { parentId, list: [{ path: 'bad\u0000name' }] };
        assert.equal(await tree.outcome('importFolders', input), 'BAD_INPUT');
        assert.equal(await tree.outcome('importFolders', input, reader.authToken), 'FORBIDDEN');
        assert.equal(await tree.outcome('importFolders', input, stranger.authToken), 'NOT_FOUND');
      });

      test('is refused unread if it is very long and the user may write nowhere', async () => {
        const parentId = await tree.create('Readable');
        const reader = await tree.person({ [parentId]: 'READ' });
        const writer = await tree.person({ [parentId]: 'WRITE' });
        const list = [{ path: 'Long', description: 'x'.repeat(2 ** 20) }];
        const send = async ({ authToken }: { authToken: string }) =>
          (
            await tree.server.query(mutation('importFolders', '__typename'), authToken, {
              input: { parentId, list },
            })
          ).status;
        assert.equal(await send(reader), 413);
        assert.equal(await send(writer), 200);
      });

      test('is accepted only from users with WRITE on the parent', async () => {
        const id = await tree.create('Guarded');
        const reader = await tree.person({ [id]: 'READ' });
        const writer = await tree.person({ [id]: 'WRITE' });
        const input = { parentId: id, list: spreadPaths(1_200, 'brick').map((path) => ({ path })) };
        assert.equal(
          (await tree.readMutationError('importFolders', input, reader.authToken)).extensions.code,
          'FORBIDDEN',
        );
        assert.equal(await tree.outcome('importFolders', input, writer.authToken), 'OK');
        assert.equal((await tree.paths(id)).length, 1_200);
        await tree.delete(id);
      });
    });

    describe('as one change', () => {
      test('imports nothing if one of 3,000 names is invalid', async () => {
        const rows = await countRows(tree.server.database.url);
        const list = spreadPaths(3_000, 'stone').map((path, index) => ({
          path: index === 2_999 ? 'a/b\n' : path,
        }));
        assert.equal((await refusal({ list })).extensions.code, 'BAD_INPUT');
        assert.deepEqual(await countRows(tree.server.database.url), rows);
      });

      interface CountData {
        list: { totalCount: number };
      }
      const countList = (id: string, list: string) => tree.find<CountData>(id, `list: ${list}{totalCount}`);
      const readers: Readonly<Record<string, (id: string, word: string) => Promise<number>>> = {
        folders: async (id) => (await countList(id, 'folders'))!.list.totalCount,
        descendants: async (id) => (await countList(id, 'descendants'))!.list.totalCount,
        exportFolders: async (id) => (await tree.paths(id)).length,
        search: async (under, text) => {
          const query =
            'query($text: String!, $under: ID){list: search(text: $text, under: $under){totalCount}}';
          return (await tree.query<CountData>(query, { text, under })).list.totalCount;
        },
      };
      for (const [reader, count] of Object.entries(readers)) {
        test(`makes 2,500 folders visible in one step to a concurrent reader of ${reader}`, async () => {
          const word = `plank for ${reader}`;
          const id = await tree.create(`Watched with ${reader}`);
          let isDone = false;
          const seen = new Set<number>();
          const watch = async () => {
            while (!isDone) seen.add(await count(id, word));
          };
          const importing = tree.import(
            createNames(2_500, (index) => `${word} ${index}`),
            id,
          );
          await Promise.all([importing.finally(() => (isDone = true)), watch(), watch(), watch()]);
          seen.add(await count(id, word));
          assert.deepEqual([...seen], [0, 2_500]);
          await tree.delete(id);
        });
      }

      const interruptions: [
        what: string,
        code: string,
        change: (parentId: string, other: Database) => Promise<unknown>,
      ][] = [
        ['its parent is deleted', 'NOT_FOUND', (parentId) => tree.delete(parentId)],
        ['a name is taken', 'CONFLICT', (parentId) => tree.create('twig 7', parentId)],
        ['the version changes', 'CONFLICT', (id) => tree.mutate('updateFolder', { id, title: 'New' })],
        [
          'the staged folders are marked for purging',
          'UNAVAILABLE',
          (_, other) => markStagedImportsForPurge(other),
        ],
      ];
      for (const [what, code, change] of interruptions) {
        test(`leaves nothing behind if ${what} during the import`, () =>
          // The connection for the change is open before the import starts.
          withDatabase(tree.server.database.url, async (other) => {
            let folders: number;
            let outcome: string;
            let count = 3_000;
            // On a busy machine, the change may arrive after the end of the import. Then the test repeats with a longer import.
            do {
              count *= 2;
              const id = await tree.create(`Parent until ${what}`);
              ({ folders } = await countRows(tree.server.database.url));
              // The change may fail long before the import responds.
              const failure = new Promise<unknown>((resolve) => {
                onStaged = () => void change(id, other).then(() => resolve(undefined), resolve);
              });
              const list = spreadPaths(count, 'twig').map((path) => ({ path }));
              outcome = await tree.outcome('importFolders', { parentId: id, list, expectedVersion: 1 });
              const error = await failure;
              if (outcome !== 'OK') assert.ifError(error);
              if (outcome === 'OK') await tree.outcome('deleteFolder', { id, recursive: true });
            } while (outcome === 'OK' && count < 24_000);
            assert.equal(outcome, code);
            assert.ok((await tree.search('twig')).length <= 1);
            assert.equal(
              (await countRows(tree.server.database.url)).folders,
              folders + Number(what === 'a name is taken'),
            );
          }));
      }

      test('leaves only hidden folders if it is interrupted, which are purged after an hour', async () => {
        const { url } = tree.server.database;
        const parentId = await tree.create('Waiting');
        const snapshot = await tree.snapshot();
        const before = await countRows(url);
        const ids = await stageImport(url, {
          parentId,
          names: createNames(1_500, (index) => `shard ${index}`),
          now: tree.server.clock.now(),
        });
        assert.deepEqual(await tree.snapshot(), snapshot);
        assert.deepEqual(await tree.search('shard'), []);
        for (const id of [ids[0]!, ids.at(-1)!]) {
          assert.equal(await tree.find(id, 'id'), null);
          assert.equal((await tree.readMutationError('restoreFolder', { id })).extensions.code, 'NOT_FOUND');
          assert.equal(
            (await tree.readMutationError('createFolder', { parentId: id, name: 'x' })).extensions.code,
            'NOT_FOUND',
          );
        }
        await tree.server.purge();
        assert.equal((await countRows(url)).folders, before.folders + 1_501);
        await tree.advanceDays(1 / 24);
        await tree.server.purge();
        assert.equal((await countRows(url)).folders, before.folders);
        assert.deepEqual(await tree.snapshot(), snapshot);
      });
    });
  });
}
