/** The personal lists of each user: shared folders, favorites, and recently visited folders. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Access } from '../../server/src/access/access.ts';
import { sql } from '../../server/src/database/statement.ts';
import { PersonalFolders } from '../../server/src/folders/personal-folders.ts';
import { purgeTrash } from '../../server/src/folders/purge.ts';
import type { ChangeRunner } from '../../server/src/journal/change-runner.ts';
import type { Refusal } from '../../server/src/refusal.ts';
import { countRows, withDatabase } from '../support/stored-rows.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';

const deleteFolderRow = sql<{ id: string }, { id: string }>`
  delete from folders where id = ${'id'} returning id`;

interface Lists {
  readonly shared: readonly string[];
  readonly favorites: readonly string[];
  readonly recent: readonly string[];
}

for (const kind of databaseKinds) {
  describe(`the personal lists of a user on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let ann: Person;
    let token: string;

    before(async () => {
      people = await PeopleTestbed.start(kind, { settings: { TRASH_DAYS: '1' } });
      ann = await people.createUser({ username: 'ann' });
      token = (await people.logIn(ann)).authToken;
    });
    after(() => people.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;

    const grant = (folderId: string, level: string, userId = ann.id) =>
      people.mutate('grantAccess', { folderId, userId, level });

    const setFavorite = (folderId: string, isFavorite = true, authToken = token) =>
      people.mutate('setFavorite', { folderId, isFavorite }, 'folder{id}', authToken);

    const visit = (folderId: string, authToken = token) =>
      people.mutate('visitFolder', { folderId }, 'folder{id}', authToken);

    const readLists = async (authToken = token): Promise<Lists> => {
      const selection = 'items{name} totalCount';
      const query = `{viewer{sharedFolders{${selection}} favorites(first: 1000){${selection}} recentFolders{name}}}`;
      type Named = readonly { readonly name: string }[];
      type List = { readonly items: Named; readonly totalCount: number };
      type Data = { viewer: { sharedFolders: List; favorites: List; recentFolders: Named } };
      const { viewer } = await people.query<Data>(query, {}, authToken);
      const namesOf = (list: Named) => list.map(({ name }) => name);
      for (const { items, totalCount } of [viewer.sharedFolders, viewer.favorites]) {
        assert.equal(totalCount, items.length);
      }
      return {
        shared: namesOf(viewer.sharedFolders.items),
        favorites: namesOf(viewer.favorites.items),
        recent: namesOf(viewer.recentFolders),
      };
    };

    test('include the topmost folders that grants to them or to their groups make readable', async () => {
      const top = await createFolder('Top');
      const open = await createFolder('Open 10', top);
      const inside = await createFolder('Inside', open);
      const closed = await createFolder('Closed', open);
      const reopened = await createFolder('Reopened', closed);
      const other = await createFolder('Open 9', top);
      const gone = await createFolder('Gone', top);
      const group = await people.createGroup('Readers');
      await people.mutate('addToGroup', { groupId: group, userIds: [ann.id] });
      await grant(open, 'READ');
      await grant(inside, 'MANAGE');
      await grant(closed, 'NONE');
      await grant(reopened, 'READ');
      await grant(gone, 'READ');
      await people.mutate('grantAccess', { folderId: other, groupId: group, level: 'WRITE' });
      await people.mutate('deleteFolder', { id: gone });
      // `Reopened` is not listed, because the user may read `Open 10` above it.
      assert.deepEqual((await readLists()).shared, ['Open 9', 'Open 10']);
      assert.deepEqual((await readLists(people.authToken)).shared, []);
      await grant(open, 'NONE');
      assert.deepEqual((await readLists()).shared, ['Inside', 'Open 9', 'Reopened']);
      await people.mutate('removeFromGroup', { groupId: group, userIds: [ann.id] });
      assert.deepEqual((await readLists()).shared, ['Inside', 'Reopened']);
      await people.mutate('restoreFolder', { id: gone });
      assert.deepEqual((await readLists()).shared, ['Gone', 'Inside', 'Reopened']);
    });

    test('continue on the next page even if the last folder of a page was deleted', async () => {
      const read = async (cursor: string | null) => {
        const query =
          'query($after: String){viewer{sharedFolders(first: 1, after: $after){items{id name} pageInfo{endCursor hasNextPage hasPreviousPage}}}}';
        type PageInfo = { endCursor: string; hasNextPage: boolean; hasPreviousPage: boolean };
        type Page = { items: { id: string; name: string }[]; pageInfo: PageInfo };
        const { viewer } = await people.query<{ viewer: { sharedFolders: Page } }>(
          query,
          { after: cursor },
          token,
        );
        return viewer.sharedFolders;
      };
      const first = await read(null);
      assert.deepEqual([first.items[0]!.name, first.pageInfo.hasNextPage], ['Gone', true]);
      await people.mutate('deleteFolder', { id: first.items[0]!.id });
      const second = await read(first.pageInfo.endCursor);
      assert.deepEqual(
        [second.items[0]!.name, second.pageInfo.hasNextPage, second.pageInfo.hasPreviousPage],
        ['Inside', true, false],
      );
      const forged = `{viewer{favorites(after: "${first.pageInfo.endCursor}"){totalCount items{id}}}}`;
      assert.match(await people.queryError(forged, {}, token), /^BAD_INPUT/);
    });

    test('include favorites and visits of each user, which the journal does not record', async () => {
      const ids = [];
      for (const name of ['Room 10', 'Room 9', 'Room 8']) ids.push(await createFolder(name));
      for (const id of ids) await grant(id, 'READ');
      const { cursor } = await people.query<{ cursor: string }>('{cursor}');
      for (const id of ids) await setFavorite(id);
      await setFavorite(ids[0]!);
      for (const id of [...ids, ids[0]!, ids[0]!]) {
        people.server.clock.advanceSeconds(1);
        await visit(id);
      }
      const { favorites, recent } = await readLists();
      assert.deepEqual(favorites, ['Room 8', 'Room 9', 'Room 10']);
      assert.deepEqual(recent, ['Room 10', 'Room 8', 'Room 9']);
      await setFavorite(ids[1]!, false);
      await setFavorite(ids[1]!, false);
      assert.deepEqual((await readLists()).favorites, ['Room 8', 'Room 10']);
      assert.deepEqual(await people.query('{cursor}'), { cursor });
      const mine = await readLists(people.authToken);
      assert.deepEqual([mine.favorites, mine.recent], [[], []]);
    });

    test('omit folders while they are deleted or hidden', async () => {
      const parent = await createFolder('Parent');
      const id = await createFolder('Kept', parent);
      await grant(id, 'READ');
      await setFavorite(id);
      people.server.clock.advanceSeconds(1);
      await visit(id);
      const isListed = async () => {
        const { favorites, recent } = await readLists();
        assert.equal(favorites.includes('Kept'), recent.includes('Kept'));
        return favorites.includes('Kept');
      };
      assert.equal(await isListed(), true);
      await people.mutate('deleteFolder', { id: parent, recursive: true });
      assert.equal(await isListed(), false);
      await people.mutate('restoreFolder', { id: parent });
      assert.equal(await isListed(), true);
      await grant(id, 'NONE');
      assert.equal(await isListed(), false);
      for (const name of ['setFavorite', 'visitFolder']) {
        const input = { folderId: id, ...(name === 'setFavorite' && { isFavorite: true }) };
        assert.match(await people.mutationError(name, input, token), /^NOT_FOUND/);
        assert.match(await people.mutationError(name, { ...input, folderId: 'x' }, token), /^NOT_FOUND/);
      }
      // A hidden favorite can be removed, and the response does not reveal whether the folder exists.
      assert.deepEqual(await setFavorite(id, false), { folder: null });
      assert.deepEqual(await setFavorite('x', false), { folder: null });
      await grant(id, 'READ');
      assert.deepEqual((await readLists()).favorites.includes('Kept'), false);
    });

    test('refuse a folder that is purged during the request', async () => {
      const now = people.server.clock.now();
      const caller = { userId: ann.id, sessionId: ann.id };
      await withDatabase(people.server.database.url, async (database) => {
        // Runs the write while an uncommitted purge removes the folder that the read has found.
        const purging = (id: string): Pick<ChangeRunner<Access>, 'runUnrecorded'> => ({
          async runUnrecorded(_, { write }) {
            const written = await database.transaction(async (transaction) => {
              await transaction.all(deleteFolderRow, { id });
              const writing = database.transaction((later) => write(later, { hiddenIds: [] } as never, now));
              return { result: writing.catch((error: unknown) => error) };
            });
            throw await written.result;
          },
        });
        const [favorite, visited] = [await createFolder('Favorite'), await createFolder('Visited')];
        const results = await Promise.allSettled([
          new PersonalFolders(purging(favorite)).setFavorite(caller, {
            folderId: favorite,
            isFavorite: true,
          }),
          new PersonalFolders(purging(visited)).visit(caller, { folderId: visited }),
        ]);
        assert.deepEqual(
          results.map((result) => result.status === 'rejected' && (result.reason as Refusal).message),
          [`There is no folder with the id ${favorite}.`, `There is no folder with the id ${visited}.`],
        );
      });
    });

    test('contain at most 200 visible favorites and 20 visits', async () => {
      const bob = await people.createUser({ username: 'bob' });
      const { authToken } = await people.logIn(bob);
      const parentId = await createFolder('Many');
      await people.mutate('grantAccess', { folderId: parentId, userId: bob.id, level: 'READ' });
      const list = Array.from({ length: 202 }, (_, index) => ({ path: `Item ${index}` }));
      await people.mutate('importFolders', { parentId, list });
      const { folder } = await people.query<{ folder: { folders: { items: { id: string }[] } } }>(
        `{folder(id: "${parentId}"){folders{items{id}}}}`,
      );
      const ids = folder.folders.items.map(({ id }) => id);
      const results = await Promise.allSettled(
        ids.slice(0, 201).map((id) => setFavorite(id, true, authToken)),
      );
      assert.equal(results.filter(({ status }) => status === 'rejected').length, 1);
      const { favorites } = await people
        .query<{ viewer: { favorites: { totalCount: number } } }>(
          '{viewer{favorites{totalCount}}}',
          {},
          authToken,
        )
        .then(({ viewer }) => viewer);
      assert.equal(favorites.totalCount, 200);
      const refused = await people.mutationError(
        'setFavorite',
        { folderId: ids[201], isFavorite: true },
        authToken,
      );
      assert.match(refused, /^CONFLICT: You have 200 favorites, which is the limit. Remove one first\.$/);
      await people.mutate('deleteFolder', { id: ids[5]! });
      await setFavorite(ids[201]!, true, authToken);
      for (const id of ids.slice(100, 125)) {
        people.server.clock.advanceSeconds(1);
        await visit(id, authToken);
      }
      const { recent } = await readLists(authToken);
      const names = Array.from({ length: 20 }, (_, index) => `Item ${124 - index}`);
      assert.deepEqual(recent, names);
      for (const first of [-1, 21]) {
        const query = `{viewer{recentFolders(first: ${first}){id}}}`;
        assert.match(await people.queryError(query, {}, authToken), /^BAD_INPUT/);
      }
      const { url } = people.server.database;
      const countPersonal = async () => (await countRows(url)).personal_folders;
      const count = await countPersonal();
      await people.mutate('deleteFolder', { id: ids[201]! });
      assert.equal(await countPersonal(), count);
      const later = people.server.clock.now() + 2 * 86_400_000;
      await withDatabase(url, (database) => purgeTrash(database, later, 1));
      assert.equal(await countPersonal(), count - 1);
      await people.mutate('deleteUser', { id: bob.id });
      assert.equal(await countPersonal(), count - 220);
    });
  });
}
