/** What mirrors once differed in, or were told too much of, each by itself. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createAccessBook, type AccessBook } from '../../server/src/access/access-book.ts';
import type { Database, Reader } from '../../server/src/database/database.ts';
import type { GraphOptions } from '../../server/src/graph/graph.ts';
import { databaseKinds } from '../databases.ts';
import { mutation } from '../graph-bed.ts';
import { MirrorBed } from './mirror-bed.ts';
import { Watcher, type Pace } from './mirror-watcher.ts';

type Variables = Readonly<Record<string, unknown>>;

for (const kind of databaseKinds) {
  describe(`a mirror on ${kind.name}`, () => {
    let bed: MirrorBed;
    let adminId: string;
    let watchers: Watcher[];
    let people: number;

    beforeEach(async () => {
      bed = await MirrorBed.start(kind);
      adminId = await bed.administratorId();
      watchers = [];
      people = 0;
    });
    afterEach(async () => {
      for (const watcher of watchers) await watcher.cut();
      await bed.stop();
    });

    const ask = async <Data>(userId: string, query: string, variables: Variables) => {
      const { data, errors } = await bed.run<Data>(userId, query, variables);
      assert.equal(errors, undefined, JSON.stringify(errors));
      return data!;
    };
    const run = async <Payload>(name: string, input: Variables, selection = '__typename') =>
      (await ask<Record<string, Payload>>(adminId, mutation(name, selection), { input }))[name]!;
    const create = async (name: string, parentId?: string) =>
      (await run<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}')).folder.id;
    const move = (id: string, parentId: string) => run('moveFolder', { id, parentId });
    const remove = (id: string) => run('deleteFolder', { id, recursive: true });

    const person = async (levels: Readonly<Record<string, string>>) => {
      const input = { username: `person ${++people}`, password: `walnut cabin ${people}` };
      const { user } = await run<{ user: { id: string } }>('createUser', input, 'user{id}');
      for (const [folderId, level] of Object.entries(levels)) {
        await run('grantAccess', { folderId, userId: user.id, level });
      }
      return user.id;
    };

    const watch = async (
      userId: string,
      {
        pace = 'prompt',
        under,
        services,
      }: { pace?: Pace; under?: string; services?: (given: GraphOptions) => GraphOptions } = {},
    ) => {
      const watcher = new Watcher({
        name: 'mirror',
        pace,
        userId,
        source: bed.openSource(services),
        ask: (query, variables) => ask(userId, query, variables),
        onChange: () => undefined,
      });
      watchers.push(watcher);
      await watcher.open(under);
      return watcher;
    };
    /** What it was told, when it has caught up and has what a fresh read shows. */
    const told = async (watcher: Watcher) => {
      await bed.place();
      await watcher.check();
      return watcher.told.map(({ kind: name, folderId }) => [name, folderId]);
    };

    test('is not told of a hidden folder that is deleted or restored, by itself or with one above', async () => {
      const top = await create('top');
      const middle = await create('middle', top);
      const hidden = await create('hidden', middle);
      const mirror = await watch(await person({ [top]: 'READ', [hidden]: 'NONE' }));
      await remove(hidden);
      assert.deepEqual(await told(mirror), []);
      await run('restoreFolder', { id: hidden });
      assert.deepEqual(await told(mirror), []);
      await remove(middle);
      await told(mirror);
      await run('restoreFolder', { id: middle });
      assert.deepEqual(await told(mirror), [
        ['DELETE', middle],
        ['CREATE', middle],
      ]);
    });

    test('gets a folder anew that is moved out of what was only a passage to it', async () => {
      const [from, to] = [await create('from'), await create('to')];
      const moved = await create('moved', from);
      const inside = await create('inside', moved);
      const mirror = await watch(await person({ [inside]: 'READ', [await create('other', to)]: 'READ' }));
      await move(moved, to);
      assert.deepEqual(await told(mirror), [
        ['DELETE', from],
        ['CREATE', moved],
      ]);
    });

    test('of a folder inside one that was out of sight meanwhile gets it anew, be it there or away', async () => {
      const [top, hidden] = [await create('top'), await create('hidden')];
      const under = await create('under', top);
      const inside = await create('inside', under);
      const { folder } = await ask<{ folder: { id: string } }>(adminId, '{folder{id}}', {});
      const userId = await person({ [folder.id]: 'READ', [hidden]: 'NONE' });
      const [prompt, slow, away] = [
        await watch(userId, { under }),
        await watch(userId, { under, pace: 'slow' }),
        await watch(userId, { under }),
      ];
      await run('updateFolder', { id: inside, title: 'first' });
      await told(prompt);
      await told(away);
      await away.cut();
      const { cursor } = await ask<{ cursor: string }>(userId, '{cursor}', {});
      await move(top, hidden);
      await told(prompt);
      await run('updateFolder', { id: inside, title: 'unseen' });
      await move(top, folder.id);
      await away.comeBack();
      const expected = [
        ['UPDATE', inside],
        ['DELETE', under],
        ['CREATE', under],
      ];
      for (const mirror of [prompt, slow, away]) assert.deepEqual(await told(mirror), expected);
      const query =
        'query($after: String, $under: ID){changes(after: $after, under: $under){items{kind folderId}}}';
      const { changes } = await ask<{ changes: { items: { kind: string; folderId: string }[] } }>(
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

    test('of a folder inside one that is moved to where more or less may be done is told so', async () => {
      const [read, write, passage] = [await create('read'), await create('write'), await create('passage')];
      const top = await create('top', read);
      const under = await create('under', top);
      const granted = await create('granted', under);
      await create('ungranted', under);
      const mirror = await watch(await person({ [read]: 'READ', [write]: 'WRITE', [granted]: 'MANAGE' }), {
        under,
      });
      await move(top, write);
      assert.deepEqual(await told(mirror), [['UPDATE', under]]);
      await move(top, passage);
      assert.deepEqual((await told(mirror)).slice(1), [['CREATE', under]]);
    });

    test('that is slow loses what it saw only as a passage when that is deleted', async () => {
      const under = await create('under');
      const passage = await create('passage', under);
      const granted = await create('granted', passage);
      const mirror = await watch(await person({ [granted]: 'READ' }), { under, pace: 'slow' });
      await run('updateFolder', { id: granted, title: 'one' });
      await bed.place();
      await mirror.begun();
      await run('updateFolder', { id: granted, title: 'two' });
      await remove(passage);
      await told(mirror);
    });

    /** Somebody who comes to see two folders at once when they join a group. */
    const joiner = async () => {
      const folderIds = [await create('one'), await create('two')];
      const { group } = await run<{ group: { id: string } }>('createGroup', { name: 'group' }, 'group{id}');
      for (const folderId of folderIds) {
        await run('grantAccess', { folderId, groupId: group.id, level: 'READ' });
      }
      const userId = await person({});
      const membership = { groupId: group.id, userIds: [userId] };
      const created = new Set(folderIds.map((id) => ['CREATE', id]));
      return {
        userId,
        groupId: group.id,
        folderIds,
        created,
        join: () => run('addToGroup', membership),
        leave: () => run('removeFromGroup', membership),
      };
    };

    test('that is slow is not shown what it may not see any more, not even with what it was told before', async () => {
      const { userId, created, join, leave } = await joiner();
      const mirror = await watch(userId, { pace: 'slow' });
      await join();
      await bed.place();
      await mirror.begun();
      await leave();
      assert.deepEqual(new Set((await told(mirror)).slice(0, 2)), created);
      assert.equal(mirror.told[1]!.folder, null);
    });

    test('that is cut off between two changes of one entry is not left without the second', async () => {
      const { userId, folderIds, join } = await joiner();
      const mirror = await watch(userId, { pace: 'slow' });
      await join();
      await bed.place();
      await mirror.take(1);
      // It applies it, and takes no more.
      await mirror.take(0);
      await mirror.cut();
      await mirror.comeBack();
      const [first, ...others] = await told(mirror);
      assert.ok(folderIds.includes(first![1]!));
      assert.deepEqual(others, [['RESYNC', null]]);
    });

    test('that is slow and has read with an access that came and went is told to read anew', async () => {
      const [top, elsewhere] = [await create('top'), await create('elsewhere')];
      const moved = await create('moved', elsewhere);
      const folderId = await create('inside', moved);
      const userId = await person({ [top]: 'READ' });
      const mirror = await watch(userId, { pace: 'slow' });
      await move(moved, top);
      await run('updateFolder', { id: top, title: 'behind it' });
      await bed.place();
      await mirror.take(1);
      await mirror.begun();
      await run('grantAccess', { folderId, userId, level: 'NONE' });
      // Only now it reads what is inside the folder that was moved.
      await mirror.take(0);
      await run('revokeAccess', { folderId, userId });
      assert.deepEqual(await told(mirror), [
        ['CREATE', moved],
        ['UPDATE', top],
        ['RESYNC', null],
      ]);
    });

    test('whose group was given something while it was away is told to read anew', async () => {
      const { userId, join, groupId } = await joiner();
      const folderId = await create('three');
      await join();
      const mirror = await watch(userId);
      await mirror.cut();
      await run('grantAccess', { folderId, groupId, level: 'READ' });
      await mirror.comeBack();
      assert.deepEqual(await told(mirror), [['RESYNC', null]]);
    });

    test('of a folder is not shown what is outside of it by now', async () => {
      const [under, elsewhere] = [await create('under'), await create('elsewhere')];
      const mirror = await watch(adminId, { under, pace: 'slow' });
      await create('on its way', under);
      await bed.place();
      await mirror.begun();
      const gone = await create('gone', under);
      await move(gone, elsewhere);
      await told(mirror);
      assert.deepEqual(
        mirror.told.slice(1).map(({ kind: name, folderId, folder }) => [name, folderId, folder]),
        [
          ['CREATE', gone, null],
          ['DELETE', gone, null],
        ],
      );
    });

    test('is shown a change with the rights of the moment in which it is read', async () => {
      const folderId = await create('folder');
      const userId = await person({ [folderId]: 'READ' });
      let isHidden = false;
      /** Between the news of the change and the reading of it, the right is taken away, and then a secret is written. */
      const hide = async () => {
        isHidden = true;
        await run('revokeAccess', { folderId, userId });
        await run('updateFolder', { id: folderId, title: 'secret' });
      };
      const services = (given: GraphOptions): GraphOptions => {
        const accessFor: AccessBook['accessFor'] = async (reading, id) => {
          if (isChanging && !isHidden) await hide();
          return given.accessBook.accessFor(reading, id);
        };
        return { ...given, accessBook: { ...given.accessBook, accessFor } };
      };
      let isChanging = false;
      const mirror = await watch(userId, { services });
      isChanging = true;
      await run('updateFolder', { id: folderId, title: 'harmless' });
      await told(mirror);
      assert.equal(isHidden, true);
      assert.doesNotMatch(JSON.stringify(mirror.told), /secret/);
    });

    test('whose access is changed while it is read, as it begins, is told of it', async () => {
      const folderId = await create('folder');
      const userId = await person({});
      let reads = 0;
      const interrupted = <R extends Reader>(reader: R): R => ({
        ...reader,
        get: (statement, parameters) => {
          const found = () => reader.get(statement, parameters);
          // The first tells the place in the journal, and then comes the grant.
          return ++reads === 2
            ? run('grantAccess', { folderId, userId, level: 'READ' }).then(found)
            : found();
        },
      });
      const services = (given: GraphOptions): GraphOptions => {
        const database: Database = {
          ...given.database,
          openSnapshot: () => interrupted(given.database.openSnapshot()),
          moment: (work) => given.database.moment((reader) => work(interrupted(reader))),
        };
        return { ...given, database, accessBook: createAccessBook(database) };
      };
      const mirror = await watch(userId, { pace: 'slow', services });
      assert.deepEqual(await told(mirror), [['CREATE', folderId]]);
    });
  });
}
