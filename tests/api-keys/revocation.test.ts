/**
 * The end of an API key reaches its sockets and event streams on another node within a second, and no other connection. The documentation
 * promises this limit.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { startProcessTimer } from '../support/process-timer.ts';
import { selectLength } from '../support/run-length.ts';
import { Testbed } from '../support/testbed.ts';

const crowdSize = selectLength({ short: 200, long: 1_000 });
const batchSize = 50;
const watchDocument = 'subscription($after: String){folderChanges(after: $after){kind folderId}}';
const ended = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };

interface Key {
  readonly key: string;
  readonly id: string;
}

for (const kind of databaseKinds) {
  describe(`the end of an API key on ${kind.name}`, { timeout: 240_000 }, () => {
    let people: PeopleTestbed;
    let otherNode: Testbed;
    let ann: Person;
    let annToken: string;
    let top: string;
    const crowd: SocketClient[] = [];

    before(async () => {
      people = await PeopleTestbed.start(kind);
      const { database, clock } = people.server;
      otherNode = await Testbed.start(kind, { database, clock });
      ann = await people.createUser();
      annToken = (await people.logIn(ann)).authToken;
      top = await createFolder('Top');
      await people.mutate('grantAccess', { folderId: top, userId: ann.id, level: 'MANAGE' });
      // The first key of the crowd has the same user as the keys that end. A user can have 200 sockets.
      const keys = [await createKey({ folderId: top })];
      while (keys.length < 10) {
        const folderId = keys.length % 2 === 0 ? top : null;
        keys.push(await createKeyOf(await people.createUser(), { folderId }));
      }
      const cursor = await readCursor();
      for (let start = 0; start < crowdSize; start += batchSize) {
        const connecting = Array.from({ length: batchSize }, (_, at) =>
          watch(keys[at % keys.length]!.key, cursor),
        );
        crowd.push(...(await Promise.all(connecting)));
      }
    });
    after(async () => {
      await otherNode.stop();
      await people.stop();
    });

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;
    const createKey = async (input: Variables = {}, authToken = annToken): Promise<Key> => {
      const { key, apiKey } = await people.mutate<{ key: string; apiKey: { id: string } }>(
        'createApiKey',
        { name: 'watcher', level: 'READ', ...input },
        'key apiKey{id}',
        authToken,
      );
      return { key, id: apiKey.id };
    };
    const readCursor = async () => (await people.query<{ cursor: string }>('{cursor}')).cursor;
    /** Subscribes on the other node. With a cursor, the client also receives changes while the subscription starts. */
    const watch = async (key: string, cursor?: string): Promise<SocketClient> => {
      const after = cursor ?? (await readCursor());
      const client = await SocketClient.connect(otherNode.url, key);
      client.start('watch', watchDocument, { after });
      client.start('started', '{__typename}');
      assert.deepEqual([(await client.next()).id, (await client.next()).id], ['started', 'started']);
      return client;
    };
    const createKeyOf = async (person: Person, input: Variables = {}): Promise<Key> => {
      await people.mutate('grantAccess', { folderId: top, userId: person.id, level: 'READ' });
      return createKey(input, (await people.logIn(person)).authToken);
    };
    const nextChange = async (client: SocketClient) => {
      const { id, payload } = await client.next();
      assert.equal(id, 'watch');
      return (payload!['data'] as { folderChanges: { kind: string; folderId: string } }).folderChanges;
    };
    const assertWithinASecond = async <T>(
      context: TestContext,
      work: () => Promise<unknown>,
      effect: () => Promise<T>,
    ): Promise<T> => {
      const elapsed = startProcessTimer();
      await work();
      const result = await effect();
      context.diagnostic(`${elapsed().toFixed(0)} ms`);
      assert.ok(elapsed() < 1000, 'the effect took longer than a second');
      return result;
    };
    /** Each of the others receives one change, and nothing else. */
    const assertCrowdStays = async () => {
      const folderId = await createFolder(`for all ${Math.random()}`, top);
      for (const client of crowd) {
        assert.deepEqual(await nextChange(client), { kind: 'CREATE', folderId });
        assert.deepEqual(client.unread, []);
        assert.equal(client.socket.readyState, client.socket.OPEN);
      }
    };
    const statusOf = async (key: string) => (await otherNode.query('{__typename}', key)).status;

    test(`closes its sockets within a second when it is revoked, and keeps ${crowdSize.toLocaleString('en')} others`, async (context) => {
      const { key, id } = await createKey();
      const [one, other] = [await watch(key), await watch(key)];
      const closed = await assertWithinASecond(
        context,
        () => people.mutate('revokeApiKey', { id }, '__typename', annToken),
        () => Promise.all([one.closed(), other.closed()]),
      );
      assert.deepEqual(closed, [ended, ended]);
      assert.deepEqual([...one.unread, ...other.unread], []);
      assert.equal(await statusOf(key), 401);
      await assertCrowdStays();
    });

    for (const [name, end] of Object.entries({
      disabled: (id: string) => people.mutate('updateUser', { id, isDisabled: true }),
      deleted: (id: string) => people.mutate('deleteUser', { id }),
    })) {
      test(`closes its sockets within a second when its user is ${name}, and no others`, async (context) => {
        const person = await people.createUser();
        const { key } = await createKeyOf(person);
        const client = await watch(key);
        const closed = await assertWithinASecond(
          context,
          () => end(person.id),
          () => client.closed(),
        );
        assert.deepEqual(closed, ended);
        assert.deepEqual(client.unread, []);
        assert.equal(await statusOf(key), 401);
        await assertCrowdStays();
      });
    }

    test('completes its event streams within a second with the reason', async (context) => {
      const { key, id } = await createKey();
      const headers = { authorization: `Bearer ${key}` };
      const stream = await EventClient.open(otherNode.url, { query: watchDocument }, headers);
      assert.equal(stream.response.status, 200);
      const events = await assertWithinASecond(
        context,
        () => people.mutate('revokeApiKey', { id }, '__typename', annToken),
        () => stream.readRest(),
      );
      const { errors } = events[0]!.data as { errors: { extensions: { code: string } }[] };
      assert.deepEqual(
        [events[0]!.event, errors[0]!.extensions.code, events[1]!.event],
        ['next', 'INVALID_AUTH_TOKEN', 'complete'],
      );
      assert.equal(events.length, 2);
    });

    test('shows its subscriptions within a second that its folder was deleted or restored, and keeps the socket', async (context) => {
      const folderId = await createFolder('Short-lived', top);
      const { key } = await createKey({ folderId });
      const client = await watch(key);
      const deleted = await assertWithinASecond(
        context,
        () => people.mutate('deleteFolder', { id: folderId }),
        () => nextChange(client),
      );
      assert.equal(deleted.kind, 'DELETE');
      client.start('read', '{folder{descendants{totalCount}}}');
      assert.deepEqual((await client.next()).payload, {
        data: { folder: { descendants: { totalCount: 0 } } },
      });
      await client.next();
      const restored = await assertWithinASecond(
        context,
        () => people.mutate('restoreFolder', { id: folderId }),
        () => nextChange(client),
      );
      assert.equal(restored.kind, 'CREATE');
      await client.close();
      for (const each of crowd)
        assert.deepEqual(
          [(await nextChange(each)).kind, (await nextChange(each)).kind, (await nextChange(each)).kind],
          ['CREATE', 'DELETE', 'CREATE'],
        );
    });

    test('does not make other clients of its user read everything again', async () => {
      const [old, next] = [await createKey(), await createKey()];
      const { cursor } = await people.query<{ cursor: string }>('{cursor}', {}, next.key);
      const folderId = await createFolder(`after the rotation ${Math.random()}`, top);
      await people.mutate('revokeApiKey', { id: old.id });
      const { changes } = await people.query<{ changes: { items: { kind: string; folderId: string }[] } }>(
        'query($after: String!){changes(after: $after){items{kind folderId}}}',
        { after: cursor },
        next.key,
      );
      assert.deepEqual(changes.items, [{ kind: 'CREATE', folderId }]);
      for (const client of crowd) assert.deepEqual(await nextChange(client), { kind: 'CREATE', folderId });
    });

    test('closes its sockets when it expires', async () => {
      const { clock } = people.server;
      const expiresAt = new Date(clock.now() + 5_000).toISOString();
      const { key } = await createKey({ expiresAt });
      const client = await watch(key);
      clock.advanceSeconds(5);
      assert.deepEqual(await client.closed(), ended);
      assert.equal(await statusOf(key), 401);
      await assertCrowdStays();
    });
  });
}
