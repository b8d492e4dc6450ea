/** An import can merge with existing folders: it creates missing folders, and keeps or updates existing ones. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { mutation, type Variables } from '../support/graph-testbed.ts';
import { countRows } from '../support/stored-rows.ts';
import { TreeTestbed, type ListedFolder } from './tree-testbed.ts';

interface Counts {
  readonly createdCount: number;
  readonly updatedCount: number;
  readonly keptCount: number;
}

interface Entry {
  readonly kind: string;
  readonly folderId: string;
  readonly before: unknown;
  readonly after: unknown;
}

const countFields = 'createdCount updatedCount keptCount';
const counts = (createdCount: number, updatedCount: number, keptCount: number): Counts => ({
  createdCount,
  updatedCount,
  keptCount,
});
const toList = (paths: readonly string[]) => paths.map((path) => ({ path }));
const spreadPaths = (count: number) =>
  Array.from({ length: count }, (_, index) => (index < 50 ? `${index}` : `${index % 50}/${index}`));

for (const kind of databaseKinds) {
  describe(`a merging import on ${kind.name}`, () => {
    let tree: TreeTestbed;
    /** Called once, when a large import starts to write. */
    let onStaged: (() => void) | undefined;
    /** Called once, when an import starts to look for existing folders. */
    let onMatching: (() => void) | undefined;

    before(async () => {
      tree = await TreeTestbed.start(kind, {
        onStatement(text) {
          if (text.includes(') as height')) {
            onMatching?.();
            onMatching = undefined;
          }
          if (!text.includes("detached_because = 'import'")) return;
          onStaged?.();
          onStaged = undefined;
        },
      });
    });
    after(() => tree.stop());

    const merge = (input: Variables, authToken?: string) =>
      tree.mutate<Counts>('importFolders', { onExisting: 'UPDATE', ...input }, countFields, authToken);
    const refusal = (input: Variables, authToken?: string) =>
      tree.readMutationError('importFolders', { onExisting: 'UPDATE', ...input }, authToken);
    /** Sends a merge with an idempotency key. */
    const send = async (input: Variables, selection: string, key: string) => {
      const variables = { input: { onExisting: 'UPDATE', ...input } };
      const body = JSON.stringify({ query: mutation('importFolders', selection), variables });
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      const response = await tree.server.postRaw('/graphql', body, {
        ...headers,
        authorization: `Bearer ${tree.authToken}`,
      });
      return response.json<{ data: { importFolders: Counts } }>().data.importFolders;
    };
    const readCursor = async () => (await tree.query<{ cursor: string }>('{cursor}')).cursor;
    const exportFolder = async (id: string) =>
      (
        await tree.query<{ exportFolders: ListedFolder[] }>(
          'query($id: ID){exportFolders(id: $id){path title icon description properties}}',
          { id },
        )
      ).exportFolders;
    const entriesOf = async (folderId: string) =>
      (
        await tree.query<{ journal: { items: Entry[] } }>(
          'query($folderId: ID){journal(filter: {folderId: $folderId}){items{kind before after}}}',
          { folderId },
        )
      ).journal.items;

    test('creates missing folders, and keeps existing ones', async () => {
      const id = await tree.create('Kept');
      await tree.import([{ path: 'a/b', title: 'B' }, { path: 'Caf\u00e9' }], id);
      const list = [
        { path: 'a/b', title: 'Other' },
        { path: 'a/b/c', title: 'C' },
        { path: 'Cafe\u0301/in' },
        { path: 'new/x' },
      ];
      assert.deepEqual(await merge({ parentId: id, list, onExisting: 'KEEP' }), counts(4, 0, 3));
      const exported = await exportFolder(id);
      assert.deepEqual(
        exported.map(({ path, title }) => [path, title]),
        [
          ['a', null],
          ['a/b', 'B'],
          ['a/b/c', 'C'],
          ['Café', null],
          ['Café/in', null],
          ['new', null],
          ['new/x', null],
        ],
      );
      assert.deepEqual(await merge({ parentId: id, list, onExisting: 'KEEP' }), counts(0, 0, 7));
      const found = await tree.find(await tree.idOf('/Kept/a'), 'version folders{totalCount}');
      assert.deepEqual(found, { version: 1, folders: { totalCount: 1 } });
    });

    test('updates only the texts in the input, and nothing if they are equal', async () => {
      const id = await tree.create('Updated');
      const texts = { title: 'T', icon: 'i', description: 'D', properties: { a: [1] } };
      const none = { title: null, icon: null, description: null, properties: null };
      await tree.import([{ path: 'a', ...texts }, { path: 'b', ...texts }, { path: 'c' }], id);
      const aId = await tree.idOf('/Updated/a');
      const list = [
        { path: 'a', title: 'New\u0308', icon: null },
        { path: 'b', ...texts },
        { path: 'c', ...none },
        { path: 'd', title: 'D' },
      ];
      assert.deepEqual(await merge({ parentId: id, list }), counts(1, 1, 2));
      assert.deepEqual(await exportFolder(id), [
        { path: 'a', ...texts, title: 'New\u0308'.normalize('NFC'), icon: null },
        { path: 'b', ...texts },
        { path: 'c', ...none },
        { path: 'd', ...none, title: 'D' },
      ]);
      assert.equal(await tree.version(aId), 2);
      assert.equal(await tree.version(await tree.idOf('/Updated/b')), 1);
      assert.deepEqual(await tree.search('n\u0308', id), ['a']);
      assert.deepEqual(await exportFolder(id), await exportFolder(id));
      assert.deepEqual(await merge({ parentId: id, list: await exportFolder(id) }), counts(0, 0, 4));
      const input = [{ name: 'a', title: 'From a tree', folders: [{ name: 'in' }] }];
      assert.deepEqual(await merge({ parentId: id, tree: input }), counts(1, 1, 0));
    });

    test('has one journal entry for each updated folder and for each folder that gets new subfolders', async () => {
      const id = await tree.create('Journal');
      await tree.import(['a/b', 'c'], id);
      const [aId, bId] = [await tree.idOf('/Journal/a'), await tree.idOf('/Journal/a/b')];
      const after = await readCursor();
      const list = [
        { path: 'a', title: 'A' },
        { path: 'a/b/1' },
        { path: 'a/b/2/3' },
        { path: 'new/in' },
        { path: 'c' },
      ];
      assert.deepEqual(await merge({ parentId: id, list }), counts(5, 1, 2));
      const { changes } = await tree.query<{ changes: { items: unknown[] } }>(
        'query($after: String){changes(after: $after){items{kind folderId folderCount}}}',
        { after },
      );
      assert.deepEqual(changes.items, [
        { kind: 'IMPORT', folderId: id, folderCount: 2 },
        { kind: 'IMPORT', folderId: bId, folderCount: 3 },
        { kind: 'UPDATE', folderId: aId, folderCount: null },
      ]);
      assert.deepEqual((await entriesOf(aId))[0], {
        kind: 'UPDATE_FOLDER',
        before: { title: null },
        after: { title: 'A' },
      });
      const unchanged = await readCursor();
      assert.deepEqual(await merge({ parentId: id, list }), counts(0, 0, 8));
      assert.equal(await readCursor(), unchanged);
    });

    test('changes nothing in a dry run, but returns the same counts and errors', async () => {
      const id = await tree.create('Dry');
      await tree.import(['a/b'], id);
      const input = { parentId: id, list: [{ path: 'a/b', title: 'B' }, { path: 'a/c' }], dryRun: true };
      const state = [await tree.snapshot(), await readCursor()];
      const selection = `${countFields} folderCount isDryRun`;
      const planned = { ...counts(1, 1, 1), folderCount: 1, isDryRun: true };
      for (const key of [randomUUID(), randomUUID()]) {
        for (let times = 0; times < 2; times++) assert.deepEqual(await send(input, selection, key), planned);
      }
      assert.equal((await refusal({ ...input, onExisting: 'FAIL' })).extensions.code, 'CONFLICT');
      assert.equal((await refusal({ ...input, list: [{ path: 'a//b' }] })).extensions.code, 'BAD_INPUT');
      assert.deepEqual([await tree.snapshot(), await readCursor()], state);
    });

    test('requires WRITE where it creates or updates folders, and names a path without WRITE', async () => {
      const id = await tree.create('Rights');
      await tree.import([{ path: 'a/low/in', title: 'In' }, { path: 'a/free' }], id);
      const lowId = await tree.idOf('/Rights/a/low');
      const { authToken } = await tree.person({ [id]: 'WRITE', [lowId]: 'READ' });
      const same = [
        { path: 'a/low/in', title: 'In' },
        { path: 'a/free', title: 'Free' },
      ];
      for (const [path, texts, message] of [
        ['a/low/new', {}, /^"a\/low": You need the access level WRITE on "low"; you have READ/],
        ['a/low', { title: 'Low' }, /^"a\/low": You need the access level WRITE/],
        ['a/low/in', { title: 'Out' }, /^"a\/low\/in": You need the access level WRITE/],
      ] as const) {
        const error = await refusal(
          { parentId: id, list: [{ path, ...texts }, { path: 'a/other' }] },
          authToken,
        );
        assert.equal(error.extensions.code, 'FORBIDDEN');
        assert.match(error.message, message);
      }
      assert.deepEqual(await merge({ parentId: id, list: same }, authToken), counts(0, 1, 3));
      const reader = await tree.person({ [id]: 'READ' });
      assert.equal(
        (await refusal({ parentId: id, list: same }, reader.authToken)).extensions.code,
        'FORBIDDEN',
      );
    });

    test('reveals nothing about hidden folders to a user who may not create folders there', async () => {
      const id = await tree.create('Secrets');
      await tree.import([{ path: 'low/secret/deep', title: 'Hidden' }, { path: 'hall/secret/deep' }], id);
      const idOf = (path: string) => tree.idOf(`/Secrets/${path}`);
      const { authToken } = await tree.person({
        [id]: 'WRITE',
        [await idOf('low')]: 'READ',
        [await idOf('low/secret')]: 'NONE',
        [await idOf('hall/secret')]: 'NONE',
        [await idOf('hall/secret/deep')]: 'WRITE',
      });
      const [hidden, missing] = await Promise.all(
        ['secret', 'secreu'].map((name) =>
          refusal({ parentId: id, list: toList([`low/${name}/x`]) }, authToken),
        ),
      );
      assert.equal(hidden!.extensions.code, 'FORBIDDEN');
      assert.deepEqual({ ...hidden, path: missing!.path }, missing);
      // A passage shows only its name. The server refuses any other text, even if the text is the stored one.
      for (const onExisting of ['KEEP', 'UPDATE']) {
        const list = [{ path: 'hall/secret', title: null }, { path: 'hall/secret/deep/new' }];
        const name = onExisting.toLowerCase();
        const input = { parentId: id, list: [...list, { path: `hall/secret/deep/${name}` }], onExisting };
        assert.equal((await merge(input, authToken)).updatedCount, 0);
        assert.match(
          (await refusal({ ...input, list: toList(['hall/secret/x']) }, authToken)).message,
          /^"hall\/secret": You need the access level WRITE/,
        );
      }
      assert.equal(
        (await refusal({ parentId: id, list: [{ path: 'hall/secret', title: 'x' }] }, authToken)).extensions
          .code,
        'FORBIDDEN',
      );
    });

    test('fails with CONFLICT if a hidden folder has the same name, like `createFolder()`', async () => {
      const id = await tree.create('Taken');
      await tree.import(['a/hidden/in'], id);
      const { authToken } = await tree.person({
        [id]: 'WRITE',
        [await tree.idOf('/Taken/a/hidden')]: 'NONE',
      });
      for (const path of ['a/hidden', 'a/hidden/in', 'a/hidden/new']) {
        const error = await refusal({ parentId: id, list: toList([path, 'a/x']) }, authToken);
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.equal(
          error.message,
          '"a/hidden": The name "hidden" is already in use in that folder. Choose another name.',
        );
      }
    });

    test('applies a large import in one step, also to several folders with equal subfolder names', async () => {
      const id = await tree.create('Large');
      await tree.import(
        spreadPaths(200).map((path) => ({ path, title: 'Old' })),
        id,
      );
      const tops = Array.from({ length: 50 }, (_, index) => `${index}`);
      const list = [
        ...spreadPaths(200).map((path) => ({ path, title: 'New' })),
        ...tops.flatMap((top) =>
          Array.from({ length: 40 }, (_, index) => ({ path: `${top}/same ${index}` })),
        ),
        { path: 'other/deep/deeper' },
      ];
      const titles = async () => [
        (await tree.paths(id)).length,
        (await tree.find<{ title: string }>(await tree.idOf('/Large/7'), 'title'))!.title,
      ];
      let isDone = false;
      const seen = new Set<string>();
      const watch = async () => {
        const query =
          'query($id: ID!){folder(id: $id){descendants{totalCount} folders(first: 8){items{title}}}}';
        type Data = {
          folder: { descendants: { totalCount: number }; folders: { items: { title: string }[] } };
        };
        while (!isDone) {
          const { folder } = await tree.query<Data>(query, { id });
          seen.add(`${folder.descendants.totalCount} ${folder.folders.items[7]!.title}`);
        }
      };
      assert.deepEqual(await titles(), [200, 'Old']);
      const merging = merge({ parentId: id, list }).finally(() => (isDone = true));
      const [made] = await Promise.all([merging, watch()]);
      assert.deepEqual(made, counts(2_003, 200, 0));
      assert.deepEqual(await titles(), [2_203, 'New']);
      for (const state of seen) assert.match(state, /^(200 Old|2203 New)$/);
      assert.deepEqual(await merge({ parentId: id, list }), counts(0, 0, 2_203));
      // Later moves check the depth with the stored heights, so these must include the new levels.
      assert.deepEqual(await merge({ parentId: id, list: toList(['10/60/x/y']) }), counts(2, 0, 2));
      const names = Array.from({ length: 253 }, (_, index) => `level ${index}`);
      await tree.import([names.join('/')]);
      const movedId = await tree.idOf('/Large/10');
      const moveTo = async (depth: number) => {
        const parentId = await tree.idOf(`/${names.slice(0, depth).join('/')}`);
        return tree.outcome('moveFolder', { id: movedId, parentId });
      };
      assert.deepEqual([await moveTo(253), await moveTo(252)], ['BAD_INPUT', 'OK']);
      await tree.delete(await tree.idOf('/level 0'));
    });

    // Runs on SQLite only: the limit is the same on both databases, and PostgreSQL needs longer for the import.
    if (kind === sqlite)
      test('refuses to change more than 10,000 existing folders', async () => {
        const id = await tree.create('Many');
        const names = Array.from({ length: 10_001 }, (_, index) => `wing ${index}`);
        await tree.import(names, id);
        const list = names.map((path) => ({ path, title: 'New' }));
        const { message, extensions } = await refusal({ parentId: id, list });
        assert.equal(extensions.code, 'TOO_EXPENSIVE');
        assert.match(message, /changes 10001 existing folders; the maximum for one import is 10000/);
        assert.deepEqual(
          await merge({ parentId: id, list: list.slice(1), dryRun: true }),
          counts(0, 10_000, 0),
        );
        await tree.delete(id);
      });

    const interruptions: [what: string, code: string, change: (id: string) => Promise<unknown>][] = [
      ['a missing folder is created', 'CONFLICT', (id) => tree.create('twig 7', id)],
      [
        'an existing folder is deleted',
        'CONFLICT',
        async (id) =>
          tree.delete(
            (await tree.find<{ folders: { items: { id: string }[] } }>(id, 'folders{items{id}}'))!.folders
              .items[0]!.id,
          ),
      ],
    ];
    for (const [what, code, change] of interruptions) {
      test(`leaves nothing behind if ${what} during the import`, async () => {
        let outcome: string;
        let left: number;
        let count = 2_000;
        // On a busy machine, the change may arrive after the end of the import. Then the test repeats with a longer import.
        do {
          count *= 2;
          const id = await tree.create(`Until ${what} ${count}`);
          await tree.import(['base/in'], id);
          const changed = new Promise((resolve, reject) => {
            onStaged = () => void change(id).then(resolve, reject);
          });
          const list = toList(['base/twig', ...Array.from({ length: count }, (_, index) => `twig ${index}`)]);
          outcome = await tree.outcome('importFolders', { parentId: id, list, onExisting: 'KEEP' });
          await changed;
          left = (await tree.paths(id)).length;
          await tree.delete(id);
        } while (outcome === 'OK' && count < 32_000);
        assert.equal(outcome, code);
        assert.ok(left <= 3, String(left));
        await tree.advanceDays(31);
        await tree.server.purge();
        assert.deepEqual(await tree.search('twig'), []);
      });
    }

    test('is refused if thousands of existing folders are deleted during the import', async () => {
      let outcome: string;
      let count = 4_000;
      // On a busy machine, the deletion may arrive after the end of the import. Then the test repeats with a larger import.
      do {
        count *= 2;
        const parentId = await tree.create(`Kept ${count}`);
        const list = toList(Array.from({ length: count }, (_, index) => `base/${index}`));
        await tree.import(list, parentId);
        const base = await tree.idOf(`/Kept ${count}/base`);
        const deleted = new Promise((resolve, reject) => {
          onMatching = () => void tree.delete(base).then(resolve, reject);
        });
        outcome = await tree.outcome('importFolders', { parentId, list, onExisting: 'KEEP' });
        await deleted;
        await tree.delete(parentId);
      } while (outcome === 'OK' && count < 32_000);
      assert.equal(outcome, 'CONFLICT');
    });

    test('runs only once if the same request is sent twice at the same time', async () => {
      const id = await tree.create('Twice');
      await tree.import(['a'], id);
      const list = ['a', ...Array.from({ length: 1_200 }, (_, index) => `a/${index}`)].map((path) => ({
        path,
        title: 'T',
      }));
      const { folders } = await countRows(tree.server.database.url);
      const key = randomUUID();
      const sendOnce = () => send({ parentId: id, list }, `cursor ${countFields}`, key);
      const [one, other] = await Promise.all([sendOnce(), sendOnce()]);
      assert.deepEqual(one, other);
      assert.deepEqual(await sendOnce(), one);
      assert.deepEqual({ ...one, cursor: undefined }, { ...counts(1_200, 1, 0), cursor: undefined });
      assert.equal((await countRows(tree.server.database.url)).folders, folders + 1_200);
      assert.equal((await tree.paths(id)).length, 1_201);
    });
  });
}
