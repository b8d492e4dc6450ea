/** Two nodes on one database: clients of one node receive changes made on the other within a second. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { startProcessTimer } from '../support/process-timer.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { Testbed } from '../support/testbed.ts';
import { SocketClient } from './socket-client.ts';

const subscription = 'subscription{folderChanges{kind folderId folder{name}}}';

for (const kind of databaseKinds) {
  describe(`two nodes on ${kind.name}`, () => {
    let testbed: PeopleTestbed;
    let otherServer: Testbed;

    before(async () => {
      testbed = await PeopleTestbed.start(kind);
      const { database, clock } = testbed.server;
      otherServer = await Testbed.start(kind, { database, clock });
    });
    after(async () => {
      await otherServer.stop();
      await testbed.stop();
    });

    const rootId = async () => (await testbed.query<{ folder: { id: string } }>('{folder{id}}')).folder.id;
    const create = async (name: string) =>
      (await testbed.mutate<{ folder: { id: string } }>('createFolder', { name }, 'folder{id}')).folder.id;
    const nextKind = async (client: SocketClient) => {
      const { payload } = await client.next();
      const { folderChanges } = payload!['data'] as { folderChanges: { kind: string; folderId: string } };
      return [folderChanges.kind, folderChanges.folderId];
    };
    /** Runs `work` on one node, and asserts that its effect reaches the other node within a second. */
    const assertWithinASecond = async <T>(
      work: () => Promise<unknown>,
      effect: () => Promise<T>,
    ): Promise<T> => {
      await work();
      const elapsed = startProcessTimer();
      const result = await effect();
      assert.ok(elapsed() < 1000, 'the effect took longer than a second');
      return result;
    };
    /** Creates a user and connects this user to the other node. */
    const connect = async () => {
      const person = await testbed.createUser();
      const { authToken } = await testbed.logIn(person);
      const client = await SocketClient.connect(otherServer.url, authToken);
      client.start('1', subscription);
      // The response to a later query shows that the subscription has started.
      client.start('2', '{__typename}');
      await client.next();
      await client.next();
      return { person, client, authToken };
    };

    /** Starts a view as another user on this node, and connects to the other node with its token. */
    const startView = async () => {
      const administrator = await testbed.createUser({ isAdministrator: true });
      const viewedUser = await testbed.createUser();
      const { authToken } = await testbed.logIn(administrator);
      const input = { userId: viewedUser.id };
      const { viewToken } = await testbed.mutate<{ viewToken: string }>(
        'startViewAs',
        input,
        'viewToken',
        authToken,
      );
      const client = await SocketClient.connect(otherServer.url, authToken, {
        headers: { 'espalier-view-as': viewToken },
      });
      client.start('1', subscription);
      client.start('2', '{viewer{user{id}}}');
      assert.deepEqual((await client.next()).payload, { data: { viewer: { user: { id: viewedUser.id } } } });
      await client.next();
      return { administrator, viewedUser, authToken, client };
    };

    test('deliver changes to clients of the other node in order', async () => {
      const client = await SocketClient.connect(otherServer.url, testbed.authToken);
      const { cursor } = await testbed.query<{ cursor: string }>('{cursor}');
      client.start('1', 'subscription($after: String){folderChanges(after: $after){kind folderId}}', {
        after: cursor,
      });
      const ids: string[] = [];
      for (let index = 0; index < 30; index++) ids.push(await create(`n${index}`));
      for (const id of ids) assert.deepEqual(await nextKind(client), ['CREATE', id]);
      await client.close();
    });

    test('reveal and hide folders on the other node after a grant and its revocation', async () => {
      const { person, client } = await connect();
      const id = await create('Shared');
      const grant = { folderId: id, userId: person.id };
      const revealed = await assertWithinASecond(
        () => testbed.mutate('grantAccess', { ...grant, level: 'READ' }),
        () => nextKind(client),
      );
      assert.deepEqual(revealed, ['CREATE', id]);
      const hidden = await assertWithinASecond(
        () => testbed.mutate('revokeAccess', grant),
        () => nextKind(client),
      );
      assert.deepEqual(hidden, ['DELETE', id]);
      await client.close();
    });

    for (const [name, end] of Object.entries({
      'a revoked session': (userId: string) => testbed.mutate('revokeSessions', { userId }),
      'a disabled user': (id: string) => testbed.mutate('updateUser', { id, isDisabled: true }),
      'a deleted user': (id: string) => testbed.mutate('deleteUser', { id }),
      'a user whose password is reset': (userId: string) =>
        testbed.mutate('resetPassword', { userId, password: 'a cabin of walnut' }),
    })) {
      test(`close the sockets on the other node only for ${name}`, async () => {
        const { person, client, authToken } = await connect();
        const bystander = await connect();
        await testbed.mutate('grantAccess', {
          folderId: await rootId(),
          userId: bystander.person.id,
          level: 'READ',
        });
        assert.equal((await nextKind(bystander.client))[0], 'CREATE');
        const closed = await assertWithinASecond(
          () => end(person.id),
          () => client.closed(),
        );
        assert.deepEqual(closed, { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
        assert.deepEqual(client.unread, []);
        assert.equal((await otherServer.query('{__typename}', authToken)).status, 401);
        const id = await create(`after ${name}`);
        assert.deepEqual(await nextKind(bystander.client), ['CREATE', id]);
        await bystander.client.close();
      });
    }

    for (const [name, end] of Object.entries({
      'the viewed user is disabled': ({ viewedUser }: { viewedUser: Person }) =>
        testbed.mutate('updateUser', { id: viewedUser.id, isDisabled: true }),
      'the viewed user is deleted': ({ viewedUser }: { viewedUser: Person }) =>
        testbed.mutate('deleteUser', { id: viewedUser.id }),
      'the administrator loses the role': ({ administrator }: { administrator: Person }) =>
        testbed.mutate('updateUser', { id: administrator.id, isAdministrator: false }),
    })) {
      test(`end only the affected view on the other node when ${name}`, async () => {
        const [ended, other] = [await startView(), await startView()];
        const closed = await assertWithinASecond(
          () => end(ended),
          () => ended.client.closed(),
        );
        assert.deepEqual(closed, { code: 4403, reason: 'INVALID_VIEW_TOKEN' });
        assert.deepEqual(ended.client.unread, []);
        assert.equal((await otherServer.query('{__typename}', ended.authToken)).status, 200);
        other.client.start('3', '{viewer{user{id}}}');
        assert.deepEqual((await other.client.next()).payload, {
          data: { viewer: { user: { id: other.viewedUser.id } } },
        });
        await other.client.close();
      });
    }

    for (const [name, end] of Object.entries({
      'the administrator is disabled': (id: string) => testbed.mutate('updateUser', { id, isDisabled: true }),
      'the sessions of the administrator are revoked': (userId: string) =>
        testbed.mutate('revokeSessions', { userId }),
    })) {
      test(`end a view on the other node when ${name}`, async () => {
        const { administrator, client, authToken } = await startView();
        const closed = await assertWithinASecond(
          () => end(administrator.id),
          () => client.closed(),
        );
        assert.deepEqual(closed, { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
        assert.equal((await otherServer.query('{__typename}', authToken)).status, 401);
      });
    }

    test('keep the auth token and the socket of a logged-out session valid until expiry', async () => {
      const { client, authToken } = await connect();
      assert.equal((await testbed.server.post('/logout', {}, authToken)).status, 204);
      client.start('3', '{folder{name}}');
      assert.equal((await client.next()).type, 'next');
      await client.next();
      testbed.server.clock.advanceSeconds(600);
      for (;;) {
        const frame = await client.next().catch(() => undefined);
        if (!frame) break;
        assert.equal(frame.type, 'ping');
      }
      assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    });
  });
}
