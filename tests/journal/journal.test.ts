/** The journal contains every change once, in order, with its author and details. Its size is limited. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface Entry {
  number: number;
  kind: string;
  byId: string | null;
  by: { username: string } | null;
  at: string;
  folderId: string | null;
  folder: { name: string } | null;
  path: string | null;
  formerPath: string | null;
  ancestorIds: string[] | null;
  formerAncestorIds: string[] | null;
  userId: string | null;
  groupId: string | null;
  sessionId: string | null;
  before: unknown;
  after: unknown;
}

const fields = `number kind at byId by{username} folderId folder{name} path formerPath ancestorIds formerAncestorIds
  userId user{username} groupId group{name} sessionId before after`;
const journalPage = `query($filter: JournalFilter, $first: Int, $after: String){
  journal(filter: $filter, first: $first, after: $after){
    items{${fields}} totalCount pageInfo{hasNextPage hasPreviousPage endCursor}}}`;

interface Page {
  items: Entry[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
}

for (const kind of databaseKinds) {
  describe(`the journal on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let rootId: string;
    let ownId: string;

    before(async () => {
      tree = await TreeTestbed.start(kind, { settings: { JOURNAL_ENTRIES: '1000', TRASH_DAYS: '0' } });
      const { folder, viewer } = await tree.query<{
        folder: { id: string };
        viewer: { user: { id: string } };
      }>('{folder{id} viewer{user{id}}}');
      rootId = folder.id;
      ownId = viewer.user.id;
    });
    after(() => tree.stop());

    const page = async (variables: Variables = {}) =>
      (await tree.query<{ journal: Page }>(journalPage, variables)).journal;
    const latest = async (count: number) => (await page({ first: count })).items.toReversed();
    /** Returns the entries written during `work`. */
    const recordEntries = async (work: () => Promise<unknown>) => {
      const start = (await latest(1))[0]?.number ?? 0;
      await work();
      const { items } = await page({ first: 100 });
      return items.filter(({ number }) => number > start).toReversed();
    };
    const listKinds = (entries: readonly Entry[]) => entries.map((entry) => entry.kind);

    test('starts with the creation of the first administrator by the server itself', async () => {
      const first = (await page({ first: 1000 })).items.at(-1)!;
      assert.equal(first.number, 1);
      assert.equal(first.kind, 'CREATE_USER');
      assert.equal(first.byId, null);
      assert.deepEqual(first.after, { username: administrator.username, isAdministrator: true });
    });

    test('records each change of a folder with its ancestors and the changed fields', async () => {
      let ids: string[] = [];
      const created = await recordEntries(async () => {
        ids = await tree.createChain(['Hall', 'Desk']);
      });
      const [hall, desk] = ids as [string, string];
      assert.deepEqual(listKinds(created), ['CREATE_FOLDER', 'CREATE_FOLDER']);
      assert.deepEqual(created[1]!.ancestorIds, [rootId, hall]);
      assert.deepEqual(created[1]!.after, { name: 'Desk' });
      assert.equal(created[1]!.by?.username, administrator.username);
      assert.equal(created[1]!.at, new Date(tree.server.clock.now()).toISOString());

      const description = 'long '.repeat(200);
      const [updated] = await recordEntries(() =>
        tree.mutate('updateFolder', { id: desk, name: 'Table', title: 'The table', description }),
      );
      assert.equal(updated!.kind, 'UPDATE_FOLDER');
      assert.deepEqual(updated!.before, { name: 'Desk', title: null, description: null });
      const shortened = `${description.slice(0, 255)}…`;
      assert.deepEqual(updated!.after, { name: 'Table', title: 'The table', description: shortened });

      const other = await tree.create('Attic');
      const [moved] = await recordEntries(() => tree.move(desk, other));
      assert.equal(moved!.kind, 'MOVE_FOLDER');
      assert.deepEqual(moved!.formerAncestorIds, [rootId, hall]);
      assert.deepEqual(moved!.ancestorIds, [rootId, other]);
      assert.deepEqual(moved!.before, { parentId: hall });
      assert.deepEqual(moved!.after, { parentId: other, name: 'Table' });

      const [imported] = await recordEntries(() => tree.import(['Box/Lid', 'Bag'], other));
      assert.equal(imported!.kind, 'IMPORT_FOLDERS');
      assert.equal(imported!.folderId, other);
      assert.deepEqual(imported!.after, { count: 3 });
    });

    test('keeps the paths of folders as they were at the time of the change', async () => {
      const own = await TreeTestbed.start(kind);
      try {
        const [top, id] = (await own.createChain(['Wing', 'Room', 'Shelf'])) as [string, string];
        const other = await own.create('Annex');
        const { id: userId } = await own.person({});
        await own.mutate('updateFolder', { id, name: 'Office' });
        await own.mutate('updateFolder', { id, title: 'The office' });
        await own.mutate('grantAccess', { folderId: id, userId, level: 'READ' });
        await own.mutate('moveFolder', { id, parentId: other, name: 'Studio' });
        await own.import(['Box'], id);
        await own.delete(id);
        await own.mutate('restoreFolder', { id, parentId: top });
        await own.mutate('moveFolder', { id, parentId: other });
        await own.mutate('revokeAccess', { folderId: id, userId });
        await own.delete(id);
        await own.mutate('updateFolder', { id: other, name: 'Later' });
        await own.advanceDays(31);
        await own.server.purge();
        await own.mutate('updateFolder', { id: await own.idOf('/'), name: 'Everything' });
        const { journal } = await own.query<{ journal: Page }>(journalPage);
        const paths = journal.items
          .filter(({ folderId, kind: entryKind }) => folderId !== null && entryKind !== 'CREATE_FOLDER')
          .map((entry) => [entry.kind, entry.formerPath, entry.path]);
        assert.deepEqual(paths.toReversed(), [
          ['UPDATE_FOLDER', '/Wing/Room', '/Wing/Office'],
          ['UPDATE_FOLDER', null, '/Wing/Office'],
          ['GRANT_ACCESS', null, '/Wing/Office'],
          ['MOVE_FOLDER', '/Wing/Office', '/Annex/Studio'],
          ['IMPORT_FOLDERS', null, '/Annex/Studio'],
          ['DELETE_FOLDER', null, '/Annex/Studio'],
          ['RESTORE_FOLDER', null, '/Wing/Studio'],
          ['MOVE_FOLDER', '/Wing/Studio', '/Annex/Studio'],
          ['REVOKE_ACCESS', null, '/Annex/Studio'],
          ['DELETE_FOLDER', null, '/Annex/Studio'],
          ['UPDATE_FOLDER', '/Annex', '/Later'],
          ['PURGE_FOLDER', null, '/Later/Studio'],
          ['UPDATE_FOLDER', '/', '/'],
        ]);
        const created = journal.items.filter((entry) => entry.kind === 'CREATE_FOLDER');
        assert.deepEqual(
          created.map(({ path }) => path),
          ['/Annex', '/Wing/Room/Shelf', '/Wing/Room', '/Wing'],
        );
      } finally {
        await own.stop();
      }
    });

    test('omits the start of a very long path', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `${index}${'🌲'.repeat(250)}`);
      await tree.createChain([...names, 'Leaf']);
      const [entry] = await latest(1);
      assert.equal(entry!.path!.length, 4_096);
      assert.match(entry!.path!, /^….*🌲\/Leaf$/u);
    });

    test('has one entry each for a deletion of any size, its restore and its purge', async () => {
      const own = await TreeTestbed.start(kind);
      try {
        const id = await own.create('Shed');
        await own.import(['A/B', 'C'], id);
        await own.delete(id);
        await own.mutate('restoreFolder', { id, name: 'Barn' });
        await own.delete(id);
        await own.advanceDays(31);
        await own.server.purge();
        const { journal } = await own.query<{ journal: Page }>(journalPage, { filter: { folderId: id } });
        assert.deepEqual(listKinds(journal.items.toReversed()), [
          'CREATE_FOLDER',
          'IMPORT_FOLDERS',
          'DELETE_FOLDER',
          'RESTORE_FOLDER',
          'DELETE_FOLDER',
          'PURGE_FOLDER',
        ]);
        const [purge, deletion, restoring] = journal.items;
        assert.deepEqual(purge!.before, { name: 'Barn' });
        assert.equal(purge!.byId, null);
        assert.deepEqual(deletion!.before, { name: 'Barn' });
        assert.equal(deletion!.folder, null);
        assert.deepEqual(restoring!.after, { name: 'Barn' });
      } finally {
        await own.stop();
      }
    });

    test('records each change of a grant with the level before and after', async () => {
      const folderId = await tree.create('Cellar');
      const { id: userId } = await tree.person({});
      const entries = await recordEntries(async () => {
        await tree.mutate('grantAccess', { folderId, userId, level: 'READ' });
        await tree.mutate('grantAccess', { folderId, userId, level: 'READ' });
        await tree.mutate('grantAccess', { folderId, userId, level: 'MANAGE' });
        await tree.mutate('revokeAccess', { folderId, userId });
      });
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.folderId, entry.userId, entry.before, entry.after]),
        [
          ['GRANT_ACCESS', folderId, userId, null, { level: 'READ' }],
          ['GRANT_ACCESS', folderId, userId, { level: 'READ' }, { level: 'MANAGE' }],
          ['REVOKE_ACCESS', folderId, userId, { level: 'MANAGE' }, null],
        ],
      );
    });

    test('records each change of users, groups and memberships', async () => {
      const entries = await recordEntries(async () => {
        const one = await tree.mutate<{ user: { id: string } }>(
          'createUser',
          { username: 'Otto', password: 'a walnut in a cabin' },
          'user{id}',
        );
        const { id } = one.user;
        await tree.mutate('updateUser', { id, username: 'Otto' });
        await tree.mutate('updateUser', { id, username: 'Otto B', isAdministrator: true });
        await tree.mutate('resetPassword', { userId: id, password: 'a cabin in a walnut' });
        const { group } = await tree.mutate<{ group: { id: string } }>(
          'createGroup',
          { name: 'Staff' },
          'group{id}',
        );
        const groupId = group.id;
        await tree.mutate('addToGroup', { groupId, userIds: [id, ownId, id] });
        await tree.mutate('addToGroup', { groupId, userIds: [id] });
        await tree.mutate('removeFromGroup', { groupId, userIds: [id] });
        await tree.mutate('updateGroup', { id: groupId, name: 'Team' });
        await tree.mutate('deleteGroup', { id: groupId });
        await tree.mutate('updateUser', { id, isDisabled: true });
        await tree.mutate('deleteUser', { id });
      });
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.before, entry.after]),
        [
          ['CREATE_USER', null, { username: 'Otto', isAdministrator: false }],
          [
            'UPDATE_USER',
            { username: 'Otto', isAdministrator: false },
            { username: 'Otto B', isAdministrator: true },
          ],
          ['CHANGE_PASSWORD', null, null],
          ['CREATE_GROUP', null, { name: 'Staff' }],
          ['ADD_TO_GROUP', null, null],
          ['ADD_TO_GROUP', null, null],
          ['REMOVE_FROM_GROUP', null, null],
          ['UPDATE_GROUP', { name: 'Staff' }, { name: 'Team' }],
          ['REMOVE_FROM_GROUP', null, null],
          ['DELETE_GROUP', { name: 'Team' }, null],
          ['UPDATE_USER', { isDisabled: false }, { isDisabled: true }],
          ['DELETE_USER', { username: 'Otto B', isAdministrator: true }, null],
        ],
      );
      assert.ok(entries.every(({ byId }) => byId === ownId));
    });

    test('records each end of a session with its reason', async () => {
      const credentials = { username: 'Ida', password: 'a walnut and a cabin' };
      const { user: person } = await tree.mutate<{ user: { id: string } }>(
        'createUser',
        credentials,
        'user{id}',
      );
      await tree.server.logIn(credentials);
      const entries = await recordEntries(async () => {
        await tree.server.post('/logout', {}, (await tree.server.logIn(credentials)).authToken);
        await tree.mutate('revokeSessions', { userId: person.id });
      });
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.byId, entry.userId, entry.after]),
        [
          ['END_SESSION', person.id, person.id, { because: 'logout' }],
          ['END_SESSION', ownId, person.id, { because: 'revoked', count: 1 }],
        ],
      );
      assert.notEqual(entries[0]!.sessionId, null);
    });

    test('has no entry for a refused or empty change, and no gap in its numbers', async () => {
      const id = await tree.create('Still');
      const entries = await recordEntries(async () => {
        await tree.readMutationError('createFolder', { name: 'Still' });
        await tree.readMutationError('moveFolder', { id: rootId, parentId: id });
        await tree.mutate('updateFolder', { id, name: 'Still' });
        await tree.mutate('moveFolder', { id, parentId: rootId });
        await tree.mutate('moveFolder', { id, parentId: rootId, dryRun: true });
      });
      assert.deepEqual(entries, []);
      const numbers = (await page({ first: 1000 })).items.map(({ number }) => number);
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => numbers[0]! - index),
      );
    });

    test('contains every number in order after concurrent changes', async () => {
      const parent = await tree.create('Crowd');
      const start = (await latest(1))[0]!.number;
      const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
      const responses = await Promise.all(
        names.map((name) =>
          tree.mutate<{ folder: { id: string }; cursor: string }>(
            'createFolder',
            { name, parentId: parent },
            'folder{id} cursor',
          ),
        ),
      );
      const { items } = await page({ first: 60 });
      assert.deepEqual(
        items.map(({ number }) => number).toReversed(),
        names.map((_, index) => start + 1 + index),
      );
      assert.equal(new Set(responses.map(({ cursor }) => cursor)).size, 60);
      assert.deepEqual(
        new Set(items.map(({ folderId }) => folderId)),
        new Set(responses.map(({ folder }) => folder.id)),
      );
    });

    test('can be filtered by user, kind, folder and time, in pages', async () => {
      const folderId = await tree.create('Found');
      const person = await tree.person({ [folderId]: 'WRITE' });
      tree.server.clock.advanceSeconds(60);
      const noon = new Date(tree.server.clock.now()).toISOString();
      for (const title of ['one', 'two', 'three']) {
        await tree.mutate('updateFolder', { id: folderId, title }, '__typename', person.authToken);
      }
      tree.server.clock.advanceSeconds(60);
      const later = new Date(tree.server.clock.now()).toISOString();
      await tree.mutate('updateFolder', { id: folderId, title: 'four' });

      const titles = async (filter: Variables) =>
        (await page({ filter })).items.map(({ after: value }) => (value as { title?: string }).title);
      assert.deepEqual(await titles({ byId: person.id }), ['three', 'two', 'one']);
      assert.deepEqual(await titles({ folderId, kinds: ['UPDATE_FOLDER'] }), ['four', 'three', 'two', 'one']);
      assert.deepEqual(await titles({ folderId, from: noon, until: later }), ['three', 'two', 'one']);
      assert.deepEqual(await titles({ folderId, from: later }), ['four']);
      assert.deepEqual(listKinds((await page({ filter: { userId: person.id } })).items), [
        'GRANT_ACCESS',
        'CREATE_USER',
      ]);
      assert.deepEqual((await page({ filter: { kinds: [] } })).items, []);
      assert.deepEqual((await page({ filter: { folderId: 'nothing' } })).items, []);

      const pagedEntries: Entry[] = [];
      const filter = { folderId };
      for (let cursor: string | null | undefined; cursor !== null;) {
        const { items, pageInfo, totalCount } = await page({ filter, first: 2, after: cursor });
        pagedEntries.push(...items);
        assert.equal(totalCount, 6);
        cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      }
      assert.deepEqual(pagedEntries, (await page({ filter })).items);
    });

    test('is visible only to administrators', async () => {
      const { authToken } = await tree.person({ [rootId]: 'MANAGE' });
      const error = await tree.readError('{journal{totalCount}}', {}, authToken);
      assert.equal(error.extensions.code, 'FORBIDDEN');
    });

    test('contains no password, token or digest', async () => {
      const { items } = await page({ first: 1000 });
      const text = JSON.stringify(items);
      assert.doesNotMatch(text, /walnut|\$argon2|eyJ/);
      assert.ok(!text.includes(administrator.password));
    });

    test('has a maximum number of entries, and loses the oldest first', async () => {
      const parent = await tree.create('Many');
      const start = (await latest(1))[0]!.number;
      for (let round = 0; round < 13; round++) {
        const mutations = Array.from(
          { length: 80 },
          (_, index) =>
            `m${index}: createFolder(input: {name: "${round} ${index}", parentId: "${parent}"}){__typename}`,
        );
        await tree.query(`mutation{${mutations.join(' ')}}`);
      }
      await tree.server.purge();
      const { items, totalCount } = await page({ first: 1000 });
      assert.equal(totalCount, 1000);
      assert.equal(items[0]!.number, start + 13 * 80);
      assert.equal(items.at(-1)!.number, items[0]!.number - 999);
    });
  });
}
