/** Who may talk over a socket, and for how long: init, header, warning, prolonging, expiry and the end of a session. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../databases.ts';
import { PeopleBed, type Person } from '../people/people-bed.ts';
import { refusedUpgrade, SocketClient, type SocketClientOptions } from './socket-client.ts';

const expired = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
const legacy: SocketClientOptions = { protocols: ['graphql-ws'] };
/** The last frame of the older protocol before the close. */
const connectionError = (message: string) => ({
  type: 'connection_error',
  payload: { message, extensions: { code: 'INVALID_AUTH_TOKEN' } },
});
const whoAmI = '{viewer{user{username} session{id} tokenExpiresAt}}';

interface Viewer {
  readonly user: { readonly username: string };
  readonly session: { readonly id: string };
  readonly tokenExpiresAt: string;
}

const bearer = (authToken: string) => ({ authorization: `Bearer ${authToken}` });

for (const kind of databaseKinds) {
  describe(`tokens of sockets on ${kind.name}`, () => {
    let bed: PeopleBed;
    let ann: Person;
    let bob: Person;
    let folders = 0;
    before(async () => {
      bed = await PeopleBed.start(kind);
      ann = await bed.createUser({ isAdministrator: true });
      bob = await bed.createUser();
    });
    after(() => bed.stop());

    const advance = (seconds: number) => bed.bed.clock.advanceSeconds(seconds);
    const open = (options?: SocketClientOptions) => SocketClient.open(bed.bed.url, options);
    const connect = (authToken: string, options?: SocketClientOptions) =>
      SocketClient.connect(bed.bed.url, authToken, options);
    const refreshed = async (pair: LoginResponse) => (await bed.bed.refresh(pair)).json<LoginResponse>();
    const viewerOf = async (client: SocketClient): Promise<Viewer> => {
      client.start('who', whoAmI);
      const { payload } = await client.next();
      assert.equal((await client.next()).type, 'complete');
      return (payload as { data: { viewer: Viewer } }).data.viewer;
    };

    /** Subscribes from this moment on, and shows that it works. */
    const watch = async (client: SocketClient, authToken: string) => {
      const { cursor } = await bed.ask<{ cursor: string }>('{cursor}');
      const query = 'subscription($after:String){folderChanges(after:$after){kind}}';
      client.start('watch', query, { after: cursor });
      await assertWatches(client, authToken);
    };
    const assertWatches = async (client: SocketClient, authToken: string) => {
      await bed.run('createFolder', { name: `folder ${++folders}` }, 'cursor', authToken);
      const { id, payload } = await client.next();
      assert.equal(id, 'watch');
      assert.deepEqual(payload, { data: { folderChanges: { kind: 'CREATE' } } });
    };

    test('the token is in the payload of init, its key in any case', async () => {
      const { authToken } = await bed.logIn(ann);
      for (const options of [{}, legacy]) {
        for (const key of ['authorization', 'Authorization', 'AUTHORIZATION']) {
          const client = await open(options);
          client.init(authToken, key);
          assert.deepEqual(await client.next(), { type: 'connection_ack' });
          assert.equal((await viewerOf(client)).user.username, ann.username);
          await client.close();
        }
      }
    });

    test('or in the header of the upgrade; the one of init wins', async () => {
      const [{ authToken }, other] = [await bed.logIn(ann), await bed.logIn(bob)];
      const options = { headers: bearer(authToken) };
      for (const payload of [undefined, null, {}, { other: 1 }, { Authorization: null }]) {
        const client = await open(options);
        client.send({ type: 'connection_init', payload });
        assert.equal((await client.next()).type, 'connection_ack');
        assert.equal((await viewerOf(client)).user.username, ann.username);
        await client.close();
      }
      const client = await connect(other.authToken, options);
      assert.equal((await viewerOf(client)).user.username, bob.username);
      await client.close();
      const wrong = await open(options);
      wrong.init('x');
      assert.deepEqual(await wrong.closed(), expired);
    });

    test('no token, or none that is good, closes with 4403 and says nothing else', async () => {
      const { authToken } = await bed.logIn(ann);
      const old = await bed.logIn(ann);
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
        assert.deepEqual(await client.closed(), expired, JSON.stringify(payload));
        assert.deepEqual(client.unread, []);
        const older = await open(legacy);
        older.send({ type: 'connection_init', payload });
        assert.equal((await older.next()).type, 'connection_error', JSON.stringify(payload));
        assert.deepEqual(await older.closed(), expired);
      }
      advance(600);
      const client = await open();
      client.init(authToken);
      assert.deepEqual(await client.closed(), expired);
      bed.authToken = (await bed.bed.logIn()).authToken;
    });

    test('a token in the URL is not looked at', async () => {
      const { authToken } = await bed.logIn(ann);
      for (const name of ['authorization', 'token', 'access_token', 'auth_token']) {
        const client = await open({ path: `/graphql?${name}=Bearer%20${authToken}` });
        client.send({ type: 'connection_init' });
        assert.deepEqual(await client.closed(), expired);
      }
    });

    test('a header with no good token is refused at once, with 401', async () => {
      const { authToken } = await bed.logIn(ann);
      for (const authorization of ['', 'x', 'Bearer', `Basic ${authToken}`, `Bearer ${authToken}x`]) {
        const { status, headers, body } = await refusedUpgrade(bed.bed.url, { headers: { authorization } });
        assert.equal(status, 401, authorization);
        assert.match(headers['www-authenticate']!, /^Bearer realm="espalier"/);
        assert.equal(headers['token-expired'], undefined);
        assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8');
        assert.equal((JSON.parse(body) as { code: string }).code, 'INVALID_AUTH_TOKEN');
      }
      advance(600);
      const { status, headers } = await refusedUpgrade(bed.bed.url, { headers: bearer(authToken) });
      assert.equal(status, 401);
      assert.equal(headers['token-expired'], 'true');
      bed.authToken = (await bed.bed.logIn()).authToken;
    });

    test('a minute before the token ends a ping says so, once; the older protocol has no such thing', async () => {
      const pair = await bed.logIn(ann);
      const client = await connect(pair.authToken);
      const older = await connect(pair.authToken, legacy);
      const { tokenExpiresAt } = await viewerOf(client);
      advance(539);
      client.send({ type: 'ping' });
      assert.deepEqual(await client.next(), { type: 'pong' }, 'nothing came before it');
      advance(1);
      const warning = { reason: 'TOKEN_EXPIRES', expiresAt: new Date(tokenExpiresAt).toISOString() };
      assert.deepEqual(await client.next(), { type: 'ping', payload: warning });
      // As the published client does by itself.
      client.send({ type: 'pong', payload: warning });
      advance(59);
      await viewerOf(client);
      await viewerOf(older);
      advance(1);
      assert.deepEqual(await client.closed(), expired);
      assert.deepEqual(await older.closed(), expired);
      assert.deepEqual(client.unread, []);
      assert.deepEqual(older.unread, [connectionError('The auth token has expired.')]);
      bed.authToken = (await bed.bed.logIn()).authToken;
    });

    test('a token that has less than two minutes left is warned of at half of them', async () => {
      const pair = await bed.logIn(ann);
      advance(500);
      const client = await connect(pair.authToken);
      advance(49);
      client.send({ type: 'ping' });
      assert.deepEqual(await client.next(), { type: 'pong' });
      advance(1);
      assert.equal((await client.next()).type, 'ping');
      await client.close();
      bed.authToken = (await bed.bed.logIn()).authToken;
    });

    for (const type of ['pong', 'ping']) {
      test(`a ${type} with a fresh token prolongs, and no subscription notices`, async () => {
        let pair = await bed.logIn(ann);
        const client = await connect(pair.authToken);
        await watch(client, pair.authToken);
        for (let round = 0; round < 3; round++) {
          advance(540);
          assert.equal((await client.next()).type, 'ping', 'the warning comes each time');
          pair = await refreshed(pair);
          client.send({ type, payload: { Authorization: `Bearer ${pair.authToken}` } });
          if (type === 'ping') assert.deepEqual(await client.next(), { type: 'pong' }, 'without the token');
          const { tokenExpiresAt } = await viewerOf(client);
          assert.equal(Date.parse(tokenExpiresAt), bed.bed.clock.now() + 600_000);
          await assertWatches(client, pair.authToken);
        }
        advance(600);
        assert.deepEqual(await client.closed(), expired);
        assert.deepEqual(client.unread, [], 'nothing about the subscription');
        bed.authToken = (await bed.bed.logIn()).authToken;
      });
    }

    test('a token of another login of the same user prolongs, too', async () => {
      const first = await bed.logIn(ann);
      const client = await connect(first.authToken);
      const { session } = await viewerOf(client);
      advance(300);
      const second = await bed.logIn(ann);
      client.send({ type: 'pong', payload: bearer(second.authToken) });
      assert.notEqual((await viewerOf(client)).session.id, session.id);
      await bed.run('revokeSession', { id: session.id }, 'revokedSessionId', second.authToken);
      await viewerOf(client);
      await client.close();
    });

    test('an older token that is still good does not shorten the connection', async () => {
      const older = await bed.logIn(ann);
      advance(100);
      const newer = await bed.logIn(ann);
      const client = await connect(newer.authToken);
      client.send({ type: 'pong', payload: bearer(older.authToken) });
      const { tokenExpiresAt } = await viewerOf(client);
      assert.equal(Date.parse(tokenExpiresAt), bed.bed.clock.now() + 600_000);
      await client.close();
    });

    test('a ping or pong with a token that is not good, or of another user, closes with 4403', async () => {
      const [{ authToken }, other] = [await bed.logIn(ann), await bed.logIn(bob)];
      for (const type of ['ping', 'pong']) {
        for (const authorization of [`Bearer ${other.authToken}`, 'Bearer x', authToken, '', 7]) {
          const client = await connect(authToken);
          client.start('watch', 'subscription{folderChanges{kind}}');
          client.send({ type, payload: { authorization } });
          assert.deepEqual(await client.closed(), expired, `${type} ${authorization}`);
          assert.deepEqual(client.unread, []);
        }
      }
    });

    test('a ping before init is answered, and a token in it admits nobody', async () => {
      const { authToken } = await bed.logIn(ann);
      const client = await open();
      client.send({ type: 'ping', payload: bearer(authToken) });
      assert.deepEqual(await client.next(), { type: 'pong' });
      client.start('1', whoAmI);
      assert.equal((await client.closed()).code, 4401);
    });

    test('at expiry the socket closes without an error for its operations, in both protocols', async () => {
      const { authToken } = await bed.logIn(ann);
      const client = await connect(authToken);
      const older = await connect(authToken, legacy);
      await watch(client, authToken);
      await watch(older, authToken);
      assert.equal((await client.next()).id, 'watch', 'of what the older one did');
      advance(600);
      assert.deepEqual(await client.closed(), expired);
      assert.deepEqual(client.unread, []);
      assert.deepEqual(await older.closed(), expired);
      assert.deepEqual(older.unread, [connectionError('The auth token has expired.')]);
      bed.authToken = (await bed.bed.logIn()).authToken;
    });

    test('an operation after expiry is not run', async () => {
      const { authToken } = await bed.logIn(ann);
      const client = await connect(authToken);
      const older = await connect(authToken, legacy);
      advance(600);
      for (const each of [client, older]) {
        each.start('1', 'mutation{createFolder(input:{name:"too late"}){cursor}}');
        assert.deepEqual(await each.closed(), expired);
      }
      assert.deepEqual(client.unread, []);
      assert.deepEqual(older.unread, [connectionError('The auth token has expired.')]);
      bed.authToken = (await bed.bed.logIn()).authToken;
      assert.deepEqual(await bed.ask('{folder(path:"/too late"){name}}'), { folder: null });
    });

    test('a session that is revoked closes its sockets, and no others', async () => {
      const [revoked, other] = [await bed.logIn(bob), await bed.logIn(bob)];
      const clients = [await connect(revoked.authToken), await connect(revoked.authToken, legacy)];
      const stays = await connect(other.authToken);
      const { session } = await viewerOf(clients[0]!);
      await bed.run('revokeSession', { id: session.id }, 'revokedSessionId');
      for (const client of clients) assert.deepEqual(await client.closed(), expired);
      assert.deepEqual(clients[0]!.unread, []);
      assert.deepEqual(clients[1]!.unread, [
        connectionError('The session of this auth token has been ended.'),
      ]);
      assert.equal((await viewerOf(stays)).user.username, bob.username);
      await stays.close();
      const again = await open();
      again.init(revoked.authToken);
      assert.deepEqual(await again.closed(), expired);
    });

    test('no log line holds a token that came over a socket', async () => {
      const { authToken } = await bed.logIn(ann);
      const client = await connect(authToken);
      client.send({ type: 'ping', payload: bearer(authToken) });
      client.send({ type: 'unknown', payload: bearer(authToken) });
      await client.closed();
      await open({ headers: bearer(authToken) }).then((each) => each.close());
      await refusedUpgrade(bed.bed.url, { headers: bearer(`${authToken}x`) });
      assert.ok(!bed.bed.logLines.join('').includes(authToken));
    });
  });
}
