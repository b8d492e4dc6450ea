/** With `cursor` and `changes`, a client reads the tree and then all later changes, without gaps and without leaks. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { fromJournalCursor, toJournalCursor } from '../../server/src/journal/journal-entry.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface Change {
  kind: string;
  cursor: string;
  folderId: string | null;
  folder: { name: string } | null;
  oldParent: { id: string } | null;
  newParent: { id: string } | null;
  folderCount: number | null;
  by: { username: string } | null;
}

interface Page {
  items: Change[];
  cursor: string;
  hasMore: boolean;
}

const changesPage = `query($after: String, $under: ID, $first: Int){changes(after: $after, under: $under, first: $first){
  items{kind cursor folderId folder{name} oldParent{id} newParent{id} folderCount by{username}} cursor hasMore}}`;

for (const kind of databaseKinds) {
  describe(`changes on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const readCursor = async (authToken?: string) =>
      (await tree.query<{ cursor: string }>('{cursor}', {}, authToken)).cursor;
    const changes = async (variables: Variables, authToken?: string) =>
      (await tree.query<{ changes: Page }>(changesPage, variables, authToken)).changes;
    const summarize = ({ items }: Page) => items.map((change) => [change.kind, change.folderId]);

    test('end at the cursor that the last mutation returned', async () => {
      const input = { name: 'Own cursor' };
      const { cursor } = await tree.mutate<{ cursor: string }>('createFolder', input, 'cursor');
      assert.equal(await readCursor(), cursor);
      assert.deepEqual(await changes({ after: cursor }), { items: [], cursor, hasMore: false });
    });

    test('have one cursor for every mutation of folders and grants, in the order of the mutations', async () => {
      const start = await readCursor();
      const parentId = await tree.create('Cursors');
      const run = async (name: string, input: Variables) =>
        (await tree.mutate<{ cursor: string }>(name, input, 'cursor')).cursor;
      const { id: userId } = await tree.person({});
      const id = await tree.create('Inside', parentId);
      const other = await tree.create('Other', parentId);
      const cursors = [
        await run('updateFolder', { id, title: 'One' }),
        await run('moveFolder', { id, parentId: other }),
        await run('importFolders', { parentId: id, list: [{ path: 'a/b' }] }),
        await run('grantAccess', { folderId: id, userId, level: 'READ' }),
        await run('revokeAccess', { folderId: id, userId }),
        await run('deleteFolder', { id, recursive: true }),
        await run('restoreFolder', { id }),
      ];
      assert.equal(new Set([start, ...cursors]).size, cursors.length + 1);
      const following = await Promise.all(
        cursors.map(async (cursor) => (await changes({ after: cursor })).items.length),
      );
      assert.deepEqual(following, [4, 3, 2, 2, 2, 1, 0]);
    });

    test('have one cursor for each of several mutations in one request', async () => {
      const data = await tree.query<Record<'a' | 'b', { cursor: string }>>(
        'mutation{a: createFolder(input: {name: "twin a"}){cursor} b: createFolder(input: {name: "twin b"}){cursor}}',
      );
      const { items } = await changes({ after: data.a.cursor });
      assert.deepEqual(
        items.map(({ cursor }) => cursor),
        [data.b.cursor],
      );
    });

    test('report each change of a folder, with the parents of a move and the count of an import', async () => {
      const start = await readCursor();
      const [one, two] = [await tree.create('Parent one'), await tree.create('Parent two')];
      const id = await tree.create('Child', one);
      await tree.mutate('updateFolder', { id, title: 'New title' });
      await tree.move(id, two);
      await tree.import(['x/y', 'z'], id);
      await tree.delete(id);
      await tree.mutate('restoreFolder', { id });
      const { items, cursor, hasMore } = await changes({ after: start });
      assert.deepEqual(
        items.map((change) => [change.kind, change.folderId, change.folder?.name]),
        [
          ['CREATE', one, 'Parent one'],
          ['CREATE', two, 'Parent two'],
          ['CREATE', id, 'Child'],
          ['UPDATE', id, 'Child'],
          ['MOVE', id, 'Child'],
          ['IMPORT', id, 'Child'],
          ['DELETE', id, undefined],
          ['CREATE', id, 'Child'],
        ],
      );
      assert.deepEqual([items[4]!.oldParent, items[4]!.newParent], [{ id: one }, { id: two }]);
      assert.equal(items[5]!.folderCount, 3);
      assert.equal(items.at(-1)!.cursor, cursor);
      assert.equal(hasMore, false);
    });

    test('are paged without gaps or overlaps, also below a folder', async () => {
      const top = await tree.create('Paged');
      const start = await readCursor();
      for (let index = 0; index < 7; index++) {
        await tree.create(`in ${index}`, top);
        await tree.create(`outside ${index}`);
      }
      for (const under of [undefined, top]) {
        const whole = await changes({ after: start, under });
        assert.equal(whole.items.length, under ? 7 : 14);
        for (const first of [1, 2, 3, 7]) {
          const items: Change[] = [];
          let page = await changes({ after: start, under, first });
          for (; page.hasMore; page = await changes({ after: page.cursor, under, first })) {
            items.push(...page.items);
          }
          items.push(...page.items);
          assert.deepEqual(items, whole.items);
        }
      }
    });

    test('report a move into or out of the requested folder as a create or a delete', async () => {
      const top = await tree.create('Scope');
      const id = await tree.create('Wanderer');
      const start = await readCursor();
      await tree.move(id, top);
      await tree.move(id, (await tree.find<{ parent: { id: string } }>(top, 'parent{id}'))!.parent.id);
      assert.deepEqual(summarize(await changes({ after: start, under: top })), [
        ['CREATE', id],
        ['DELETE', id],
      ]);
    });

    test('omit hidden folders, and report a move into or out of one as a delete or a create', async () => {
      const [open, closed] = [await tree.create('Open'), await tree.create('Closed')];
      const { authToken, id: personId } = await tree.person({ [open]: 'READ' });
      assert.ok(personId);
      const start = await readCursor(authToken);
      const hidden = await tree.create('Hidden', closed);
      await tree.mutate('updateFolder', { id: hidden, title: 'Still hidden' });
      await tree.import(['a/b'], closed);
      const seen = await tree.create('Seen', open);
      await tree.move(hidden, open);
      await tree.move(seen, closed);
      await tree.delete(seen);
      const page = await changes({ after: start }, authToken);
      assert.deepEqual(summarize(page), [
        ['CREATE', seen],
        ['CREATE', hidden],
        ['DELETE', seen],
      ]);
      assert.equal(page.items[0]!.folder, null);
      assert.deepEqual(
        page.items.map(({ by }) => by),
        [null, null, null],
      );
    });

    test('report RESYNC only to a viewer whose access has changed since the cursor', async () => {
      const folderId = await tree.create('Shifting');
      const one = await tree.person({ [folderId]: 'READ' });
      const other = await tree.person({ [folderId]: 'READ' });
      const start = await readCursor(one.authToken);
      await tree.mutate('grantAccess', { folderId, userId: one.id, level: 'WRITE' });
      const page = await changes({ after: start }, one.authToken);
      assert.deepEqual(summarize(page), [['RESYNC', null]]);
      assert.deepEqual(summarize(await changes({ after: page.cursor }, one.authToken)), []);
      assert.deepEqual(summarize(await changes({ after: start }, other.authToken)), []);
    });

    for (const [name, change] of Object.entries({
      'a group of this user gains access': async (ids: Ids) =>
        tree.mutate('grantAccess', { folderId: ids.top, groupId: ids.groupId, level: 'WRITE' }),
      'the user leaves a group': (ids: Ids) =>
        tree.mutate('removeFromGroup', { groupId: ids.groupId, userIds: [ids.userId] }),
      'a group of this user is deleted': (ids: Ids) => tree.mutate('deleteGroup', { id: ids.groupId }),
      'the user becomes an administrator': (ids: Ids) =>
        tree.mutate('updateUser', { id: ids.userId, isAdministrator: true }),
      'a folder above the grant is moved': (ids: Ids) => tree.move(ids.above, ids.elsewhere),
      'a folder above the grant is deleted': (ids: Ids) => tree.delete(ids.above),
      'the folder with the grant is deleted and purged': async (ids: Ids) => {
        await tree.delete(ids.granted);
        await tree.advanceDays(31);
        await tree.server.purge();
      },
    })) {
      test(`report RESYNC to a viewer after ${name}`, async () => {
        const ids = await createGrants(name);
        const start = await readCursor(ids.authToken);
        await change(ids);
        const { authToken } = await tree.server.logIn(ids.credentials);
        assert.deepEqual(summarize(await changes({ after: start }, authToken)), [['RESYNC', null]]);
      });
    }

    interface Ids {
      top: string;
      above: string;
      granted: string;
      elsewhere: string;
      userId: string;
      groupId: string;
      credentials: { username: string; password: string };
      authToken: string;
    }

    /** Creates a user with their own grant deep in the tree and another grant through a group. */
    async function createGrants(name: string): Promise<Ids> {
      const [top, above, granted] = (await tree.createChain([`Top ${name}`, 'above', 'granted'])) as [
        string,
        string,
        string,
      ];
      const elsewhere = await tree.create(`Elsewhere ${name}`);
      const credentials = { username: name.slice(-40), password: 'a walnut and a cabin' };
      const { user } = await tree.mutate<{ user: { id: string } }>('createUser', credentials, 'user{id}');
      const { group } = await tree.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}');
      await tree.mutate('addToGroup', { groupId: group.id, userIds: [user.id] });
      await tree.mutate('grantAccess', { folderId: granted, userId: user.id, level: 'READ' });
      await tree.mutate('grantAccess', { folderId: elsewhere, groupId: group.id, level: 'READ' });
      const { authToken } = await tree.server.logIn(credentials);
      return { top, above, granted, elsewhere, userId: user.id, groupId: group.id, credentials, authToken };
    }

    test('reject an invalid cursor, and report RESYNC for one of the future or another journal', async () => {
      const now = await readCursor();
      const index = fromJournalCursor(now, 'after');
      for (const after of ['', 'x', `${now}x`, now.slice(1), 'A'.repeat(5000), `${now}=`]) {
        const error = await tree.readError(changesPage, { after });
        assert.equal(error.extensions.code, 'BAD_INPUT');
        assert.match(error.message, /cursor/);
      }
      const future = toJournalCursor({ ...index, number: 1_000_000 });
      assert.deepEqual(summarize(await changes({ after: future })), [['RESYNC', null]]);
      const otherNow = toJournalCursor({ ...index, nonce: index.nonce === 1 ? 2 : 1 });
      assert.deepEqual(summarize(await changes({ after: otherNow })), [['RESYNC', null]]);
      const other = await Testbed.start(kind);
      try {
        const { data } = (await other.query('{cursor}', (await other.logIn()).authToken)).json<{
          data: { cursor: string };
        }>();
        assert.deepEqual(summarize(await changes({ after: data.cursor })), [['RESYNC', null]]);
      } finally {
        await other.stop();
      }
    });

    test('start with the oldest stored change if there is no cursor, or RESYNC for a pruned one', async () => {
      const own = await TreeTestbed.start(kind, { settings: { JOURNAL_DAYS: '1' } });
      try {
        const readChanges = async (after?: string) =>
          (await own.query<{ changes: Page }>(changesPage, { after })).changes;
        const { cursor } = await own.query<{ cursor: string }>('{cursor}');
        await own.create('Forgotten');
        await own.advanceDays(1);
        const id = await own.create('Kept');
        await own.server.purge();
        assert.deepEqual(summarize(await readChanges()), [['CREATE', id]]);
        assert.deepEqual(summarize(await readChanges(cursor)), [['RESYNC', null]]);
      } finally {
        await own.stop();
      }
    });

    test('cannot be requested below a folder that the viewer does not see', async () => {
      const closed = await tree.create('Locked');
      const { authToken } = await tree.person({});
      const error = await tree.readError(changesPage, { under: closed }, authToken);
      assert.equal(error.extensions.code, 'NOT_FOUND');
    });
  });
}
