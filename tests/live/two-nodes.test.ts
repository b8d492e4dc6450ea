/** Two nodes on one database: what one does, those who are connected to the other learn within a second. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { startOwnTime } from '../own-time.ts';
import { PeopleBed } from '../people/people-bed.ts';
import { Testbed } from '../testbed.ts';
import { SocketClient } from './socket-client.ts';

const subscription = 'subscription{folderChanges{kind folderId folder{name}}}';

for (const kind of databaseKinds) {
  describe(`two nodes on ${kind.name}`, () => {
    let here: PeopleBed;
    let there: Testbed;

    before(async () => {
      here = await PeopleBed.start(kind);
      const { database, clock } = here.bed;
      there = await Testbed.start(kind, { database, clock });
    });
    after(async () => {
      await there.stop();
      await here.stop();
    });

    const rootId = async () => (await here.ask<{ folder: { id: string } }>('{folder{id}}')).folder.id;
    const create = async (name: string) =>
      (await here.run<{ folder: { id: string } }>('createFolder', { name }, 'folder{id}')).folder.id;
    const nextKind = async (client: SocketClient) => {
      const { payload } = await client.next();
      const { folderChanges } = payload!['data'] as { folderChanges: { kind: string; folderId: string } };
      return [folderChanges.kind, folderChanges.folderId];
    };
    /** What is done here, and how long it takes until something happens there. */
    const withinASecond = async <T>(work: () => Promise<unknown>, effect: () => Promise<T>): Promise<T> => {
      await work();
      const elapsed = startOwnTime();
      const result = await effect();
      assert.ok(elapsed() < 1000, 'it took longer than a second');
      return result;
    };
    /** Somebody who is connected to the other node. */
    const connect = async () => {
      const person = await here.createUser();
      const { authToken } = await here.logIn(person);
      const client = await SocketClient.connect(there.url, authToken);
      client.start('1', subscription);
      // Started for certain when something after it is answered.
      client.start('2', '{__typename}');
      await client.next();
      await client.next();
      return { person, client, authToken };
    };

    test('a change is told there, in the order in which changes were made here', async () => {
      const client = await SocketClient.connect(there.url, here.authToken);
      const { cursor } = await here.ask<{ cursor: string }>('{cursor}');
      client.start('1', 'subscription($after: String){folderChanges(after: $after){kind folderId}}', {
        after: cursor,
      });
      const ids: string[] = [];
      for (let place = 0; place < 30; place++) ids.push(await create(`n${place}`));
      for (const id of ids) assert.deepEqual(await nextKind(client), ['CREATE', id]);
      await client.close();
    });

    test('access that is given or taken here uncovers and hides there', async () => {
      const { person, client } = await connect();
      const id = await create('Shared');
      const grant = { folderId: id, userId: person.id };
      const uncovered = await withinASecond(
        () => here.run('grantAccess', { ...grant, level: 'READ' }),
        () => nextKind(client),
      );
      assert.deepEqual(uncovered, ['CREATE', id]);
      const hidden = await withinASecond(
        () => here.run('revokeAccess', grant),
        () => nextKind(client),
      );
      assert.deepEqual(hidden, ['DELETE', id]);
      await client.close();
    });

    for (const [name, end] of Object.entries({
      'a session that is revoked': (userId: string) => here.run('revokeSessions', { userId }),
      'a user who is disabled': (id: string) => here.run('updateUser', { id, isDisabled: true }),
      'a user who is deleted': (id: string) => here.run('deleteUser', { id }),
      'a user whose password is reset': (userId: string) =>
        here.run('resetPassword', { userId, password: 'a cabin of walnut' }),
    })) {
      test(`${name} here is disconnected there, and nobody else`, async () => {
        const { person, client, authToken } = await connect();
        const bystander = await connect();
        await here.run('grantAccess', {
          folderId: await rootId(),
          userId: bystander.person.id,
          level: 'READ',
        });
        assert.equal((await nextKind(bystander.client))[0], 'CREATE');
        const closed = await withinASecond(
          () => end(person.id),
          () => client.closed(),
        );
        assert.deepEqual(closed, { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
        assert.deepEqual(client.unread, []);
        assert.equal((await there.query('{__typename}', authToken)).status, 401);
        const id = await create(`after ${name}`);
        assert.deepEqual(await nextKind(bystander.client), ['CREATE', id]);
        await bystander.client.close();
      });
    }

    test('a logout here leaves the auth token and its socket alone, until it expires', async () => {
      const { client, authToken } = await connect();
      assert.equal((await here.bed.post('/logout', {}, authToken)).status, 204);
      client.start('3', '{folder{name}}');
      assert.equal((await client.next()).type, 'next');
      await client.next();
      here.bed.clock.advanceSeconds(600);
      for (;;) {
        const frame = await client.next().catch(() => undefined);
        if (!frame) break;
        assert.equal(frame.type, 'ping');
      }
      assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    });
  });
}
