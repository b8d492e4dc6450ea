/**
 * Regression tests: cases in which a mirror (a client with a copy of the tree) once differed from a fresh read, or received
 * too much. A passage is a folder that a user sees only because it leads to a readable folder.
 */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { AccessCache } from '../../../server/src/access/access-cache.ts';
import type { Database, Reader } from '../../../server/src/database/database.ts';
import type { GraphOptions } from '../../../server/src/graph/graph.ts';
import { databaseKinds } from '../../support/databases.ts';
import { mutation } from '../../support/graph-testbed.ts';
import { MirrorTestbed, type RightsOf } from './mirror-testbed.ts';
import { Watcher, type Pace } from './mirror-watcher.ts';

type Variables = Readonly<Record<string, unknown>>;

for (const kind of databaseKinds) {
  describe(`a mirror on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let adminId: string;
    let watchers: Watcher[];
    let people: number;

    beforeEach(async () => {
      testbed = await MirrorTestbed.start(kind);
      adminId = await testbed.administratorId();
      watchers = [];
      people = 0;
    });
    afterEach(async () => {
      for (const watcher of watchers) await watcher.disconnect();
      await testbed.stop();
    });

    const runQuery = async <Data>(userId: RightsOf, query: string, variables: Variables) => {
      const { data, errors } = await testbed.run<Data>(userId, query, variables);
      assert.equal(errors, undefined, JSON.stringify(errors));
      return data!;
    };
    const run = async <Payload>(name: string, input: Variables, selection = '__typename') =>
      (await runQuery<Record<string, Payload>>(adminId, mutation(name, selection), { input }))[name]!;
    const create = async (name: string, parentId?: string) =>
      (await run<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}')).folder.id;
    const move = (id: string, parentId: string) => run('moveFolder', { id, parentId });
    const remove = (id: string) => run('deleteFolder', { id, recursive: true });

    const createPerson = async (levels: Readonly<Record<string, string>>) => {
      const input = { username: `person ${++people}`, password: `walnut cabin ${people}` };
      const { user } = await run<{ user: { id: string } }>('createUser', input, 'user{id}');
      for (const [folderId, level] of Object.entries(levels)) {
        await run('grantAccess', { folderId, userId: user.id, level });
      }
      return user.id;
    };

    const watch = async (
      userId: RightsOf,
      {
        pace = 'prompt',
        under,
        services,
      }: { pace?: Pace; under?: string; services?: (base: GraphOptions) => GraphOptions } = {},
    ) => {
      const watcher = new Watcher({
        name: 'mirror',
        pace,
        rights: () => userId,
        source: testbed.openSource(services),
        runQuery: (query, variables) => runQuery(userId, query, variables),
        onChange: () => undefined,
      });
      watchers.push(watcher);
      await watcher.open(under);
      return watcher;
    };
    /** Waits until the mirror has caught up and equals a fresh read, and returns the changes received. */
    const catchUp = async (watcher: Watcher) => {
      await testbed.awaitFeed();
      await watcher.check();
      return watcher.received.map(({ kind: name, folderId }) => [name, folderId]);
    };

    test('receives nothing when a hidden folder is deleted or restored, alone or with an ancestor', async () => {
      const top = await create('top');
      const middle = await create('middle', top);
      const hidden = await create('hidden', middle);
      const mirror = await watch(await createPerson({ [top]: 'READ', [hidden]: 'NONE' }));
      await remove(hidden);
      assert.deepEqual(await catchUp(mirror), []);
      await run('restoreFolder', { id: hidden });
      assert.deepEqual(await catchUp(mirror), []);
      await remove(middle);
      await catchUp(mirror);
      await run('restoreFolder', { id: middle });
      assert.deepEqual(await catchUp(mirror), [
        ['DELETE', middle],
        ['CREATE', middle],
      ]);
    });

    test('receives nothing with an API key for one folder when a hidden folder is moved out of this folder or into it', async () => {
      const [top, elsewhere] = [await create('top'), await create('elsewhere')];
      const hidden = await create('hidden', top);
      const userId = await createPerson({ [top]: 'READ', [hidden]: 'NONE' });
      const { createApiKey } = await runQuery<{ createApiKey: { apiKey: { id: string } } }>(
        userId,
        mutation('createApiKey', 'apiKey{id}'),
        { input: { name: 'mirror', level: 'READ', folderId: top } },
      );
      const mirror = await watch({ userId, apiKeyId: createApiKey.apiKey.id });
      await move(hidden, elsewhere);
      assert.deepEqual(await catchUp(mirror), []);
      await move(hidden, top);
      assert.deepEqual(await catchUp(mirror), []);
    });

    test('receives a CREATE for a folder that is moved away from a passage', async () => {
      const [from, to] = [await create('from'), await create('to')];
      const moved = await create('moved', from);
      const inside = await create('inside', moved);
      const mirror = await watch(
        await createPerson({ [inside]: 'READ', [await create('other', to)]: 'READ' }),
      );
      await move(moved, to);
      assert.deepEqual(await catchUp(mirror), [
        ['DELETE', from],
        ['CREATE', moved],
      ]);
    });

    test('receives DELETE and CREATE for a watched folder that was hidden temporarily, even after a reconnect', async () => {
      const [top, hidden] = [await create('top'), await create('hidden')];
      const under = await create('under', top);
      const inside = await create('inside', under);
      const { folder } = await runQuery<{ folder: { id: string } }>(adminId, '{folder{id}}', {});
      const userId = await createPerson({ [folder.id]: 'READ', [hidden]: 'NONE' });
      const [prompt, slow, away] = [
        await watch(userId, { under }),
        await watch(userId, { under, pace: 'slow' }),
        await watch(userId, { under }),
      ];
      await run('updateFolder', { id: inside, title: 'first' });
      await catchUp(prompt);
      await catchUp(away);
      await away.disconnect();
      const { cursor } = await runQuery<{ cursor: string }>(userId, '{cursor}', {});
      await move(top, hidden);
      await catchUp(prompt);
      await run('updateFolder', { id: inside, title: 'unseen' });
      await move(top, folder.id);
      await away.reconnect();
      const expected = [
        ['UPDATE', inside],
        ['DELETE', under],
        ['CREATE', under],
      ];
      for (const mirror of [prompt, slow, away]) assert.deepEqual(await catchUp(mirror), expected);
      const query =
        'query($after: String, $under: ID){changes(after: $after, under: $under){items{kind folderId}}}';
      const { changes } = await runQuery<{ changes: { items: { kind: string; folderId: string }[] } }>(
        userId,
        query,
        {
          after: cursor,
          under,
        },
      );
      assert.deepEqual(
        changes.items.map(({ kind: name, folderId }) => [name, folderId]),
        expected.slice(1),
      );
    });

    test('receives an UPDATE when a moved ancestor changes the access level of the watched folder', async () => {
      const [read, write, passage] = [await create('read'), await create('write'), await create('passage')];
      const top = await create('top', read);
      const under = await create('under', top);
      const granted = await create('granted', under);
      await create('ungranted', under);
      const mirror = await watch(
        await createPerson({ [read]: 'READ', [write]: 'WRITE', [granted]: 'MANAGE' }),
        {
          under,
        },
      );
      await move(top, write);
      assert.deepEqual(await catchUp(mirror), [['UPDATE', under]]);
      await move(top, passage);
      assert.deepEqual((await catchUp(mirror)).slice(1), [['CREATE', under]]);
    });

    test('removes a deleted passage even if it is slow', async () => {
      const under = await create('under');
      const passage = await create('passage', under);
      const granted = await create('granted', passage);
      const mirror = await watch(await createPerson({ [granted]: 'READ' }), { under, pace: 'slow' });
      await run('updateFolder', { id: granted, title: 'one' });
      await testbed.awaitFeed();
      await mirror.waitUntilReady();
      await run('updateFolder', { id: granted, title: 'two' });
      await remove(passage);
      await catchUp(mirror);
    });

    /** Creates a user and a group. When the user joins the group, one journal entry reveals two folders. */
    const createJoiner = async () => {
      const folderIds = [await create('one'), await create('two')];
      const { group } = await run<{ group: { id: string } }>('createGroup', { name: 'group' }, 'group{id}');
      for (const folderId of folderIds) {
        await run('grantAccess', { folderId, groupId: group.id, level: 'READ' });
      }
      const userId = await createPerson({});
      const membership = { groupId: group.id, userIds: [userId] };
      const expectedChanges = new Set(folderIds.map((id) => ['CREATE', id]));
      return {
        userId,
        groupId: group.id,
        folderIds,
        expectedChanges,
        join: () => run('addToGroup', membership),
        leave: () => run('removeFromGroup', membership),
      };
    };

    test('receives an earlier change without its folder if the folder was hidden afterwards', async () => {
      const { userId, expectedChanges, join, leave } = await createJoiner();
      const mirror = await watch(userId, { pace: 'slow' });
      await join();
      await testbed.awaitFeed();
      await mirror.waitUntilReady();
      await leave();
      assert.deepEqual(new Set((await catchUp(mirror)).slice(0, 2)), expectedChanges);
      assert.equal(mirror.received[1]!.folder, null);
    });

    test('receives a RESYNC after a disconnect between two changes of one entry', async () => {
      const { userId, folderIds, join } = await createJoiner();
      const mirror = await watch(userId, { pace: 'slow' });
      await join();
      await testbed.awaitFeed();
      await mirror.take(1);
      // Applies the change and takes no more.
      await mirror.take(0);
      await mirror.disconnect();
      await mirror.reconnect();
      const [first, ...others] = await catchUp(mirror);
      assert.ok(folderIds.includes(first![1]!));
      assert.deepEqual(others, [['RESYNC', null]]);
    });

    test('receives a RESYNC if it is slow and reads while its access is temporarily changed', async () => {
      const [top, elsewhere] = [await create('top'), await create('elsewhere')];
      const moved = await create('moved', elsewhere);
      const folderId = await create('inside', moved);
      const userId = await createPerson({ [top]: 'READ' });
      const mirror = await watch(userId, { pace: 'slow' });
      await move(moved, top);
      await run('updateFolder', { id: top, title: 'behind it' });
      await testbed.awaitFeed();
      await mirror.take(1);
      await mirror.waitUntilReady();
      await run('grantAccess', { folderId, userId, level: 'NONE' });
      // The mirror applies the move only now, and reads inside the moved folder.
      await mirror.take(0);
      await run('revokeAccess', { folderId, userId });
      assert.deepEqual(await catchUp(mirror), [
        ['CREATE', moved],
        ['UPDATE', top],
        ['RESYNC', null],
      ]);
    });

    test('receives a RESYNC if its group was granted access while it was disconnected', async () => {
      const { userId, join, groupId } = await createJoiner();
      const folderId = await create('three');
      await join();
      const mirror = await watch(userId);
      await mirror.disconnect();
      await run('grantAccess', { folderId, groupId, level: 'READ' });
      await mirror.reconnect();
      assert.deepEqual(await catchUp(mirror), [['RESYNC', null]]);
    });

    test('receives an earlier change without its folder if the folder was moved out afterwards', async () => {
      const [under, elsewhere] = [await create('under'), await create('elsewhere')];
      const mirror = await watch(adminId, { under, pace: 'slow' });
      await create('on its way', under);
      await testbed.awaitFeed();
      await mirror.waitUntilReady();
      const movedOut = await create('moved out', under);
      await move(movedOut, elsewhere);
      await catchUp(mirror);
      assert.deepEqual(
        mirror.received.slice(1).map(({ kind: name, folderId, folder }) => [name, folderId, folder]),
        [
          ['CREATE', movedOut, null],
          ['DELETE', movedOut, null],
        ],
      );
    });

    test('reads a change with the rights at the time of the read', async () => {
      const folderId = await create('folder');
      const userId = await createPerson({ [folderId]: 'READ' });
      let isHidden = false;
      /** Revokes the right between the notification and the read, and then writes a secret. */
      const hide = async () => {
        isHidden = true;
        await run('revokeAccess', { folderId, userId });
        await run('updateFolder', { id: folderId, title: 'secret' });
      };
      const services = (base: GraphOptions): GraphOptions => {
        const accessCache = new AccessCache(base.database);
        accessCache.accessFor = async (reading, id) => {
          if (isChanging && !isHidden) await hide();
          return base.accessCache.accessFor(reading, id);
        };
        return { ...base, accessCache };
      };
      let isChanging = false;
      const mirror = await watch(userId, { services });
      isChanging = true;
      await run('updateFolder', { id: folderId, title: 'harmless' });
      await catchUp(mirror);
      assert.equal(isHidden, true);
      assert.doesNotMatch(JSON.stringify(mirror.received), /secret/);
    });

    test('receives a change of access that happens while its subscription starts', async () => {
      const folderId = await create('folder');
      const userId = await createPerson({});
      let reads = 0;
      const grantOnSecondRead = <R extends Reader>(reader: R): R => ({
        ...reader,
        get: (statement, parameters) => {
          const read = () => reader.get(statement, parameters);
          // The first read returns the journal head; the grant follows it.
          return ++reads === 2 ? run('grantAccess', { folderId, userId, level: 'READ' }).then(read) : read();
        },
      });
      const services = (base: GraphOptions): GraphOptions => {
        const database: Database = {
          ...base.database,
          openSnapshot: () => grantOnSecondRead(base.database.openSnapshot()),
          shortSnapshot: (work) => base.database.shortSnapshot((reader) => work(grantOnSecondRead(reader))),
        };
        return { ...base, database, accessCache: new AccessCache(database) };
      };
      const mirror = await watch(userId, { pace: 'slow', services });
      assert.deepEqual(await catchUp(mirror), [['CREATE', folderId]]);
    });
  });
}
