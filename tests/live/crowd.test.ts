/** Many who watch at once: each is told once, and who is shut out is shut out alone. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { startOwnTime } from '../own-time.ts';
import { PeopleBed, type Person } from '../people/people-bed.ts';
import { lengthOf } from '../run-length.ts';
import { SocketClient } from './socket-client.ts';

const userCount = 10;
const sessionsPerUser = 2;
const crowdSize = lengthOf({ short: 300, long: 1_000 });
const openedAtOnce = 50;
const protocols = ['graphql-transport-ws', 'graphql-ws'];
const expired = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
const watching = 'subscription($after: String){folderChanges(after: $after){kind folder{name parent{name}}}}';

interface Session {
  readonly user: Person;
  readonly authToken: string;
}

interface Watcher {
  readonly client: SocketClient;
  readonly user: Person;
}

for (const kind of databaseKinds) {
  describe(`a crowd of watchers on ${kind.name}`, { timeout: 120_000 }, () => {
    let bed: PeopleBed;
    let folderId: string;
    const users: Person[] = [];
    const watchers: Watcher[] = [];
    let outcast: Watcher;
    let outcastToken: string;
    let folders = 0;

    const makeFolder = async (name: string, parentId?: string): Promise<string> =>
      (await bed.run<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}')).folder.id;

    const cursorNow = async () => (await bed.ask<{ cursor: string }>('{cursor}')).cursor;

    const watch = async (
      { user, authToken }: Session,
      after: string,
      protocol = protocols[0]!,
    ): Promise<Watcher> => {
      const client = await SocketClient.connect(bed.bed.url, authToken, { protocols: [protocol] });
      client.start('watch', watching, { after });
      return { client, user };
    };

    /** Makes a folder: each of these is told of it, once, and of nothing else. */
    const assertAllAreTold = async (told: readonly Watcher[]) => {
      const name = `folder ${++folders}`;
      await makeFolder(name, folderId);
      const change = { kind: 'CREATE', folder: { name, parent: { name: 'commons' } } };
      for (const { client } of told) {
        const { id, payload } = await client.next();
        assert.deepEqual({ id, payload }, { id: 'watch', payload: { data: { folderChanges: change } } });
      }
      // What came before the answer to a query would come out before it.
      for (const { client } of told) client.start('alive', '{__typename}');
      for (const { client } of told) {
        const frames = [await client.next(), await client.next()];
        assert.deepEqual(
          frames.map(({ id }) => id),
          ['alive', 'alive'],
        );
        assert.deepEqual(client.unread, []);
        assert.equal(client.socket.readyState, client.socket.OPEN);
      }
    };

    before(async () => {
      bed = await PeopleBed.start(kind);
      folderId = await makeFolder('commons');
      const sessions: Session[] = [];
      for (let done = 0; done < userCount; done++) {
        const user = await bed.createUser();
        users.push(user);
        await bed.run('grantAccess', { folderId, userId: user.id, level: 'READ' });
        for (let each = 0; each < sessionsPerUser; each++) {
          sessions.push({ user, authToken: (await bed.logIn(user)).authToken });
        }
      }
      const cursor = await cursorNow();
      for (let start = 0; start < crowdSize; start += openedAtOnce) {
        const opening = Array.from({ length: openedAtOnce }, (_, place) =>
          watch(sessions[(start + place) % sessions.length]!, cursor, protocols[place % protocols.length]),
        );
        watchers.push(...(await Promise.all(opening)));
      }
      ({ authToken: outcastToken } = await bed.logIn(users[0]!));
      outcast = await watch({ user: users[0]!, authToken: outcastToken }, cursor);
    });
    after(() => bed.stop());

    test(`of ${(crowdSize + 1).toLocaleString('en')} each is told of a change once`, async () => {
      await assertAllAreTold([...watchers, outcast]);
    });

    test(`a revoked session's socket closes within a second, and ${crowdSize.toLocaleString('en')} others stay`, async (context) => {
      const query = '{viewer{session{id}}}';
      const { viewer } = await bed.ask<{ viewer: { session: { id: string } } }>(query, {}, outcastToken);
      const elapsed = startOwnTime();
      await bed.run('revokeSession', { id: viewer.session.id });
      assert.deepEqual(await outcast.client.closed(), expired);
      assertWithinASecond(elapsed(), context);
      assert.deepEqual(outcast.client.unread, []);
      assert.ok(watchers.some(({ user }) => user === outcast.user));
      await assertAllAreTold(watchers);
    });

    test("a disabled user's sockets all close within a second, and nobody else's", async (context) => {
      const gone = watchers.filter(({ user }) => user === users[1]);
      const others = watchers.filter(({ user }) => user !== users[1]);
      assert.equal(gone.length, crowdSize / userCount);
      const elapsed = startOwnTime();
      await bed.run('updateUser', { id: users[1]!.id, isDisabled: true });
      for (const { client } of gone) assert.deepEqual(await client.closed(), expired);
      assertWithinASecond(elapsed(), context);
      // A client of the older protocol gets the reason before the close, and no client gets anything else.
      for (const { client } of gone) {
        const isOlder = client.socket.protocol === 'graphql-ws';
        const types = client.unread.map(({ type }) => type);
        assert.deepEqual(types, isOlder ? ['connection_error'] : []);
      }
      await assertAllAreTold(others);
    });

    test('500 subscriptions on five sockets get one change each, and one of a stranger gets none', async () => {
      const { authToken } = await bed.logIn(users[0]!);
      const user = await bed.createUser();
      const cursor = await cursorNow();
      const ids = Array.from({ length: 100 }, (_, place) => `watch ${place}`);
      const clients = await Promise.all(
        Array.from({ length: 5 }, () => SocketClient.connect(bed.bed.url, authToken)),
      );
      for (const client of clients) for (const id of ids) client.start(id, watching, { after: cursor });
      const stranger = await watch({ user, authToken: (await bed.logIn(user)).authToken }, cursor);
      await makeFolder('for all', folderId);
      for (const client of clients) {
        const told: unknown[] = [];
        for (let got = 0; got < ids.length; got++) told.push((await client.next()).id);
        assert.deepEqual(told.toSorted(), ids.toSorted());
      }
      for (const { client } of [...clients.map((client) => ({ client })), stranger]) {
        client.send({ type: 'ping' });
        assert.equal((await client.next()).type, 'pong');
        assert.deepEqual(client.unread, []);
      }
    });
  });
}

/** From before the request: it is what is promised, and no measure of speed. */
function assertWithinASecond(milliseconds: number, context: TestContext): void {
  context.diagnostic(`closed after ${milliseconds.toFixed(0)} ms`);
  assert.ok(milliseconds < 1000);
}
