/** The tokens of a socket: in `connection_init` or a header, with renewal, expiry and the end of the session. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../../support/databases.ts';
import { PeopleTestbed, type Person } from '../../people/people-testbed.ts';
import { readRefusedUpgrade, SocketClient, type SocketClientOptions } from '../socket-client.ts';

const expiredClose = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
const legacy: SocketClientOptions = { protocols: ['graphql-ws'] };
/**
 * Asserts that the server sent only the reason, as a frame of the older protocol, before it closed the
 * socket.
 */
const assertReason = ({ unread }: SocketClient, message: string) => {
  const { requestId } = unread[0]!.payload!['extensions'] as { requestId: string };
  assert.match(requestId, /./);
  const extensions = { code: 'INVALID_AUTH_TOKEN', requestId };
  assert.deepEqual(unread, [{ type: 'connection_error', payload: { message, extensions } }]);
};
const viewerQuery = '{viewer{user{username} session{id} tokenExpiresAt}}';

interface Viewer {
  readonly user: { readonly username: string };
  readonly session: { readonly id: string };
  readonly tokenExpiresAt: string;
}

const bearer = (authToken: string) => ({ authorization: `Bearer ${authToken}` });

for (const kind of databaseKinds) {
  describe(`a socket on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let ann: Person;
    let bob: Person;
    let folders = 0;
    before(async () => {
      people = await PeopleTestbed.start(kind);
      ann = await people.createUser({ isAdministrator: true });
      bob = await people.createUser();
    });
    after(() => people.stop());

    const advance = (seconds: number) => people.server.clock.advanceSeconds(seconds);
    const open = (options?: SocketClientOptions) => SocketClient.open(people.server.url, options);
    const connect = (authToken: string, options?: SocketClientOptions) =>
      SocketClient.connect(people.server.url, authToken, options);
    const refresh = async (tokens: LoginResponse) =>
      (await people.server.refresh(tokens)).json<LoginResponse>();
    const readViewer = async (client: SocketClient): Promise<Viewer> => {
      client.start('who', viewerQuery);
      const { payload } = await client.next();
      assert.equal((await client.next()).type, 'complete');
      return (payload as { data: { viewer: Viewer } }).data.viewer;
    };

    /** Subscribes from the current cursor, and checks that a change arrives. */
    const watch = async (client: SocketClient, authToken: string) => {
      const { cursor } = await people.query<{ cursor: string }>('{cursor}');
      const query = 'subscription($after:String){folderChanges(after:$after){kind}}';
      client.start('watch', query, { after: cursor });
      await assertWatches(client, authToken);
    };
    const assertWatches = async (client: SocketClient, authToken: string) => {
      await people.mutate('createFolder', { name: `folder ${++folders}` }, 'cursor', authToken);
      const { id, payload } = await client.next();
      assert.equal(id, 'watch');
      assert.deepEqual(payload, { data: { folderChanges: { kind: 'CREATE' } } });
    };

    test('accepts the token in `connection_init`, with its key in any case', async () => {
      const { authToken } = await people.logIn(ann);
      for (const options of [{}, legacy]) {
        for (const key of ['authorization', 'Authorization', 'AUTHORIZATION']) {
          const client = await open(options);
          client.init(authToken, key);
          assert.deepEqual(await client.next(), { type: 'connection_ack' });
          assert.equal((await readViewer(client)).user.username, ann.username);
          await client.close();
        }
      }
    });

    test('accepts the token in the upgrade request, and prefers the one in `connection_init`', async () => {
      const [{ authToken }, other] = [await people.logIn(ann), await people.logIn(bob)];
      const options = { headers: bearer(authToken) };
      for (const payload of [undefined, null, {}, { other: 1 }, { Authorization: null }]) {
        const client = await open(options);
        client.send({ type: 'connection_init', payload });
        assert.equal((await client.next()).type, 'connection_ack');
        assert.equal((await readViewer(client)).user.username, ann.username);
        await client.close();
      }
      const client = await connect(other.authToken, options);
      assert.equal((await readViewer(client)).user.username, bob.username);
      await client.close();
      const wrong = await open(options);
      wrong.init('x');
      assert.deepEqual(await wrong.closed(), expiredClose);
    });

    test('closes with 4403 without a valid token, and sends nothing else', async () => {
      const { authToken } = await people.logIn(ann);
      const old = await people.logIn(ann);
      const payloads = [
        undefined,
        null,
        {},
        { token: `Bearer ${authToken}` },
        { headers: bearer(authToken) },
        { authorization: null },
        { authorization: '' },
        { authorization: authToken },
        { authorization: `Basic ${authToken}` },
        { authorization: `Bearer  ${authToken}` },
        { authorization: ` Bearer ${authToken}` },
        { authorization: `Bearer ${authToken} ` },
        { authorization: `Bearer ${authToken}\n` },
        { authorization: `Bearer ${authToken}x` },
        { authorization: [`Bearer ${authToken}`] },
        { authorization: 7 },
        bearer(old.refreshToken),
      ];
      for (const payload of payloads) {
        const client = await open();
        client.send({ type: 'connection_init', payload });
        assert.deepEqual(await client.closed(), expiredClose, JSON.stringify(payload));
        assert.deepEqual(client.unread, []);
        const older = await open(legacy);
        older.send({ type: 'connection_init', payload });
        assert.equal((await older.next()).type, 'connection_error', JSON.stringify(payload));
        assert.deepEqual(await older.closed(), expiredClose);
      }
      advance(600);
      const client = await open();
      client.init(authToken);
      assert.deepEqual(await client.closed(), expiredClose);
      people.authToken = (await people.server.logIn()).authToken;
    });

    test('ignores a token in the URL', async () => {
      const { authToken } = await people.logIn(ann);
      for (const name of ['authorization', 'token', 'access_token', 'auth_token']) {
        const client = await open({ path: `/graphql?${name}=Bearer%20${authToken}` });
        client.send({ type: 'connection_init' });
        assert.deepEqual(await client.closed(), expiredClose);
      }
    });

    test('is refused with 401 if the token in the upgrade request is invalid', async () => {
      const { authToken } = await people.logIn(ann);
      for (const authorization of ['', 'x', 'Bearer', `Basic ${authToken}`, `Bearer ${authToken}x`]) {
        const { status, headers, body } = await readRefusedUpgrade(people.server.url, {
          headers: { authorization },
        });
        assert.equal(status, 401, authorization);
        assert.match(headers['www-authenticate']!, /^Bearer realm="espalier"/);
        assert.equal(headers['token-expired'], undefined);
        assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8');
        assert.equal((JSON.parse(body) as { code: string }).code, 'INVALID_AUTH_TOKEN');
      }
      advance(600);
      const { status, headers } = await readRefusedUpgrade(people.server.url, {
        headers: bearer(authToken),
      });
      assert.equal(status, 401);
      assert.equal(headers['token-expired'], 'true');
      people.authToken = (await people.server.logIn()).authToken;
    });

    test('warns once with a ping a minute before expiry, except in the older protocol', async () => {
      const tokens = await people.logIn(ann);
      const client = await connect(tokens.authToken);
      const older = await connect(tokens.authToken, legacy);
      const { tokenExpiresAt } = await readViewer(client);
      advance(539);
      client.send({ type: 'ping' });
      assert.deepEqual(await client.next(), { type: 'pong' }, 'no other frame arrived before it');
      advance(1);
      const warning = { reason: 'TOKEN_EXPIRES', expiresAt: new Date(tokenExpiresAt).toISOString() };
      assert.deepEqual(await client.next(), { type: 'ping', payload: warning });
      // The published client graphql-ws also copies the payload of the ping.
      client.send({ type: 'pong', payload: warning });
      advance(59);
      await readViewer(client);
      await readViewer(older);
      advance(1);
      assert.deepEqual(await client.closed(), expiredClose);
      assert.deepEqual(await older.closed(), expiredClose);
      assert.deepEqual(client.unread, []);
      assertReason(older, 'The auth token has expired.');
      people.authToken = (await people.server.logIn()).authToken;
    });

    test('warns at half of the remaining time if a token has less than two minutes left', async () => {
      const tokens = await people.logIn(ann);
      advance(500);
      const client = await connect(tokens.authToken);
      advance(49);
      client.send({ type: 'ping' });
      assert.deepEqual(await client.next(), { type: 'pong' });
      advance(1);
      assert.equal((await client.next()).type, 'ping');
      await client.close();
      people.authToken = (await people.server.logIn()).authToken;
    });

    for (const type of ['pong', 'ping']) {
      test(`renews the token with a ${type}, without affecting subscriptions`, async () => {
        let tokens = await people.logIn(ann);
        const client = await connect(tokens.authToken);
        await watch(client, tokens.authToken);
        for (let round = 0; round < 3; round++) {
          advance(540);
          assert.equal((await client.next()).type, 'ping', 'the warning arrives each time');
          tokens = await refresh(tokens);
          client.send({ type, payload: { Authorization: `Bearer ${tokens.authToken}` } });
          if (type === 'ping')
            assert.deepEqual(
              await client.next(),
              { type: 'pong' },
              'the response does not contain the token',
            );
          const { tokenExpiresAt } = await readViewer(client);
          assert.equal(Date.parse(tokenExpiresAt), people.server.clock.now() + 600_000);
          await assertWatches(client, tokens.authToken);
        }
        advance(600);
        assert.deepEqual(await client.closed(), expiredClose);
        assert.deepEqual(client.unread, [], 'no frame about the subscription');
        people.authToken = (await people.server.logIn()).authToken;
      });
    }

    test('accepts a new token from another login of the same user', async () => {
      const first = await people.logIn(ann);
      const client = await connect(first.authToken);
      const { session } = await readViewer(client);
      advance(300);
      const second = await people.logIn(ann);
      client.send({ type: 'pong', payload: bearer(second.authToken) });
      assert.notEqual((await readViewer(client)).session.id, session.id);
      await people.mutate('revokeSession', { id: session.id }, 'revokedSessionId', second.authToken);
      await readViewer(client);
      await client.close();
    });

    test('keeps the later expiry if an older valid token arrives', async () => {
      const older = await people.logIn(ann);
      advance(100);
      const newer = await people.logIn(ann);
      const client = await connect(newer.authToken);
      client.send({ type: 'pong', payload: bearer(older.authToken) });
      const { tokenExpiresAt } = await readViewer(client);
      assert.equal(Date.parse(tokenExpiresAt), people.server.clock.now() + 600_000);
      await client.close();
    });

    test('closes with 4403 after a ping or pong with an invalid token or the token of another user', async () => {
      const [{ authToken }, other] = [await people.logIn(ann), await people.logIn(bob)];
      for (const type of ['ping', 'pong']) {
        for (const authorization of [`Bearer ${other.authToken}`, 'Bearer x', authToken, '', 7]) {
          const client = await connect(authToken);
          client.start('watch', 'subscription{folderChanges{kind}}');
          client.send({ type, payload: { authorization } });
          assert.deepEqual(await client.closed(), expiredClose, `${type} ${authorization}`);
          assert.deepEqual(client.unread, []);
        }
      }
    });

    test('answers a ping before `connection_init`, but ignores its token', async () => {
      const { authToken } = await people.logIn(ann);
      const client = await open();
      client.send({ type: 'ping', payload: bearer(authToken) });
      assert.deepEqual(await client.next(), { type: 'pong' });
      client.start('1', viewerQuery);
      assert.equal((await client.closed()).code, 4401);
    });

    test('closes at expiry without an error for its operations, in both protocols', async () => {
      const { authToken } = await people.logIn(ann);
      const client = await connect(authToken);
      const older = await connect(authToken, legacy);
      await watch(client, authToken);
      await watch(older, authToken);
      assert.equal((await client.next()).id, 'watch', 'the change made by the older client');
      advance(600);
      assert.deepEqual(await client.closed(), expiredClose);
      assert.deepEqual(client.unread, []);
      assert.deepEqual(await older.closed(), expiredClose);
      assertReason(older, 'The auth token has expired.');
      people.authToken = (await people.server.logIn()).authToken;
    });

    test('does not run an operation after expiry', async () => {
      const { authToken } = await people.logIn(ann);
      const client = await connect(authToken);
      const older = await connect(authToken, legacy);
      advance(600);
      for (const each of [client, older]) {
        each.start('1', 'mutation{createFolder(input:{name:"too late"}){cursor}}');
        assert.deepEqual(await each.closed(), expiredClose);
      }
      assert.deepEqual(client.unread, []);
      assertReason(older, 'The auth token has expired.');
      people.authToken = (await people.server.logIn()).authToken;
      assert.deepEqual(await people.query('{folder(path:"/too late"){name}}'), { folder: null });
    });

    test('closes if its session is revoked, and other sockets stay open', async () => {
      const [revoked, other] = [await people.logIn(bob), await people.logIn(bob)];
      const clients = [await connect(revoked.authToken), await connect(revoked.authToken, legacy)];
      const otherClient = await connect(other.authToken);
      const { session } = await readViewer(clients[0]!);
      await people.mutate('revokeSession', { id: session.id }, 'revokedSessionId');
      for (const client of clients) assert.deepEqual(await client.closed(), expiredClose);
      assert.deepEqual(clients[0]!.unread, []);
      assertReason(clients[1]!, 'The session of this auth token has ended.');
      assert.equal((await readViewer(otherClient)).user.username, bob.username);
      await otherClient.close();
      const newClient = await open();
      newClient.init(revoked.authToken);
      assert.deepEqual(await newClient.closed(), expiredClose);
    });

    test('does not log the tokens that it receives', async () => {
      const { authToken } = await people.logIn(ann);
      const client = await connect(authToken);
      client.send({ type: 'ping', payload: bearer(authToken) });
      client.send({ type: 'unknown', payload: bearer(authToken) });
      await client.closed();
      await open({ headers: bearer(authToken) }).then((each) => each.close());
      await readRefusedUpgrade(people.server.url, { headers: bearer(`${authToken}x`) });
      assert.ok(!people.server.logLines.join('').includes(authToken));
    });
  });
}
