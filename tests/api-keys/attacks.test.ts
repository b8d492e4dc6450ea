/** Attempts to use false, stolen and revoked API keys, and to use a key where it is not accepted. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { insertApiKey } from '../../server/src/accounts/api-keys.ts';
import { createApiKeyText } from '../../server/src/sessions/api-key-text.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { GraphBody, Variables } from '../support/graph-testbed.ts';
import { selectLength } from '../support/run-length.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

const floodSize = selectLength({ short: 300, long: 3_000 });
const unknownKey = '401 This API key is not valid.';

interface Created {
  readonly key: string | null;
  readonly apiKey: { readonly id: string };
}

for (const kind of databaseKinds) {
  describe(`API keys on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let otherNode: Testbed;
    let ann: Person;
    let annToken: string;
    const statements: string[] = [];

    before(async () => {
      people = await PeopleTestbed.start(kind, {
        settings: { TRUST_PROXY: '127.0.0.1' },
        onStatement: (text) => void statements.push(text),
      });
      const { database, clock } = people.server;
      otherNode = await Testbed.start(kind, { database, clock });
      ann = await people.createUser({ username: 'ann' });
      annToken = (await people.logIn(ann)).authToken;
    });
    after(async () => {
      await otherNode.stop();
      await people.stop();
    });

    const createKey = async (input: Variables = {}, authToken = annToken) => {
      const created = await people.mutate<Created>(
        'createApiKey',
        { name: 'deploy', level: 'WRITE', ...input },
        'key apiKey{id}',
        authToken,
      );
      return { key: created.key!, id: created.apiKey.id };
    };

    /** Sends a query. Returns the status and the message of the error. */
    const send = async (
      authorization: string | undefined,
      headers: Record<string, string> = {},
      { server = people.server, path = '/graphql' } = {},
    ) => {
      const response = await server.postRaw(path, JSON.stringify({ query: '{folder{name}}' }), {
        'content-type': 'application/json',
        ...(authorization !== undefined && { authorization }),
        ...headers,
      });
      const { errors } = response.json<GraphBody<unknown>>();
      return `${response.status} ${errors?.[0]?.message ?? ''}`.trim();
    };
    const sendKey = (key: string, headers?: Record<string, string>) => send(`Bearer ${key}`, headers);

    test('with a wrong form or checksum are refused without a read of the database', async () => {
      const { key } = await createKey();
      const last = key.at(-1) === '0' ? '1' : '0';
      statements.length = 0;
      for (const text of [
        key.slice(0, -1),
        `${key}0`,
        key.slice(0, -1) + last,
        key.replace('esp_', 'esp_esp_'),
        key.slice(0, 20) + key.slice(20, 52).toLowerCase() + key.slice(52),
        key.replace(/.{6}$/, '______'),
        'esp_',
        `esp_${'0'.repeat(54)}`,
        `esp_${'-'.repeat(54)}`,
      ]) {
        assert.match(
          await sendKey(text),
          /^401 This API key has a wrong form or checksum/,
          text.length.toString(),
        );
      }
      assert.match(await send(`Bearer ESP_${key.slice(4)}`), /^401/);
      assert.match(
        await send(`Bearer ${key} `.repeat(2)),
        /^401 The header Authorization must have the form/,
      );
      assert.match(await send(`Basic ${btoa(`ann:${key}`)}`), /^401/);
      assert.match(await send(`Bearer ${key}é`), /^40[01]/);
      assert.deepEqual(
        statements.filter((text) => text.includes('api_keys')),
        [],
      );
      assert.equal(await sendKey(key), '200');
    });

    test('with a wrong secret are refused like unknown keys', async () => {
      const { key } = await createKey();
      assert.equal(await sendKey(key), '200');
      assert.equal(await sendKey(withIdentifierOf(key)), unknownKey);
      assert.equal(await sendKey(createApiKeyText().text), unknownKey);
      assert.equal(await sendKey(key), '200');
    });

    test('of a person who becomes a service account keep working, and stop with the account', async () => {
      const person = await people.createUser();
      const { key } = await createKey({}, (await people.logIn(person)).authToken);
      assert.equal(await sendKey(key), '200');
      await people.mutate('convertToServiceAccount', { userId: person.id });
      assert.equal(await sendKey(key), '200');
      await people.mutate('updateUser', { id: person.id, isDisabled: true });
      assert.match(await sendKey(key), /^401/);
      await people.mutate('deleteUser', { id: person.id });
      assert.equal(await sendKey(key), unknownKey);
    });

    test('of an administrator do not demote, disable, delete or convert the last administrator who can log in', async () => {
      const { user: robot } = await people.mutate<{ user: { id: string } }>(
        'createUser',
        { kind: 'SERVICE', username: 'robot', isAdministrator: true },
        'user{id}',
      );
      const limits = { userId: robot.id, level: 'MANAGE', isAdministrator: true };
      const { key } = await createKey(limits, people.authToken);
      const { viewer } = await people.query<{ viewer: { user: { id: string } } }>('{viewer{user{id}}}');
      const { id } = viewer.user;
      const changes = [
        ['updateUser', { id, isAdministrator: false }],
        ['updateUser', { id, isDisabled: true }],
        ['deleteUser', { id }],
        ['convertToServiceAccount', { userId: id }],
      ] as const;
      for (const [mutation, input] of changes) {
        assert.match(
          await people.mutationError(mutation, input, key),
          /^CONFLICT: admin is the only person who is an administrator/,
          mutation,
        );
      }
      const other = await people.createUser({ isAdministrator: true });
      await people.mutate('updateUser', { id: other.id, isAdministrator: false }, '__typename', key);
      await people.mutate('updateUser', { id: other.id, isAdministrator: true });
      await people.mutate('convertToServiceAccount', { userId: other.id }, '__typename', key);
    });

    test('of an administrator give no user the login of an administrator', async () => {
      const { key } = await createKey({ level: 'MANAGE', isAdministrator: true }, people.authToken);
      const administrator = await people.createUser({ isAdministrator: true });
      const disabled = await people.createUser({ isAdministrator: true });
      await people.mutate('updateUser', { id: disabled.id, isDisabled: true });
      const person = await people.createUser();
      const password = 'another walnut cabin';
      const refused = [
        ['createUser', { username: 'mallory', password, isAdministrator: true }],
        ['createUser', { kind: 'SERVICE', username: 'mallory', isAdministrator: true }],
        ['updateUser', { id: person.id, isAdministrator: true }],
        ['updateUser', { id: disabled.id, isDisabled: false }],
        ['resetPassword', { userId: administrator.id, password }],
        ['resetSecondFactor', { userId: administrator.id }],
      ] as const;
      for (const [mutation, input] of refused) {
        const error = await people.mutationError(mutation, input, key);
        assert.match(error, /^FORBIDDEN: An API key cannot make a user an administrator/, mutation);
      }
      const made = [
        ['createUser', { username: 'new person', password }],
        ['updateUser', { id: administrator.id, username: 'renamed', isAdministrator: true }],
        ['resetPassword', { userId: person.id, password }],
        ['updateUser', { id: person.id, isDisabled: true }],
        ['updateUser', { id: person.id, isDisabled: false }],
      ] as const;
      for (const [mutation, input] of made) await people.mutate(mutation, input, '__typename', key);
    });

    test('for a network work from its addresses only, also behind a trusted proxy', async () => {
      const { key } = await createKey({ networks: ['192.0.2.0/24', '2001:db8::/32'] });
      const from = (address: string) => sendKey(key, { 'x-forwarded-for': address });
      for (const address of [
        '192.0.2.7',
        '::ffff:192.0.2.7',
        '2001:db8::1',
        '2001:DB8:0:0::1',
        '8.8.8.8, 192.0.2.7',
      ]) {
        assert.equal(await from(address), '200', address);
      }
      for (const address of [
        '192.0.3.7',
        '::ffff:192.0.3.7',
        '2001:db9::1',
        '192.0.2.7, 8.8.8.8',
        '192.0.2.7%eth0',
        'fe80::1%eth0',
        '::192.0.2.7',
        'unknown',
        '',
        '192.0.2.7.',
      ]) {
        assert.match(await from(address), /^401 This API key may not be used from the network/, address);
      }
      assert.match(await sendKey(key), /^401 This API key may not be used/);
    });

    test('for a network ignore the header of a client that is not a trusted proxy', async () => {
      const { key } = await createKey({ networks: ['192.0.2.0/24'] });
      const headers = {
        'x-forwarded-for': '192.0.2.7',
        forwarded: 'for=192.0.2.7',
        'x-real-ip': '192.0.2.7',
      };
      assert.match(
        await send(`Bearer ${key}`, headers, { server: otherNode }),
        /^401 This API key may not be used/,
      );
    });

    test('are not accepted in the URL or in another header, and never logged', async () => {
      const { key } = await createKey();
      for (const name of ['api_key', 'apiKey', 'access_token', 'authorization', 'token', 'key']) {
        const value = name === 'authorization' ? `Bearer ${key}` : key;
        const path = `/graphql?${name}=${encodeURIComponent(value)}`;
        assert.match(await send(undefined, {}, { path }), /^401/, name);
        assert.equal((await people.server.send('GET', `${path}&query={__typename}`)).status, 401);
      }
      for (const name of ['x-api-key', 'api-key', 'proxy-authorization', 'cookie']) {
        assert.match(await send(undefined, { [name]: key }), /^401/, name);
      }
      await people.server.post('/login', { username: key, password: key });
      await people.server.send('GET', `/${key}`);
      const logged = people.server.logLines.join('\n');
      for (const part of [key, key.slice(20, 52), key.slice(20)]) assert.ok(!logged.includes(part));
    });

    test(`that are false, in a flood of ${floodSize}, do not delay requests with tokens and other keys`, async () => {
      const { key } = await createKey();
      await sendKey(key);
      const flood = Array.from({ length: floodSize }, () => sendKey(createApiKeyText().text));
      assert.equal(await send(`Bearer ${annToken}`), '200');
      assert.equal(await sendKey(key), '200');
      const answers = new Set((await Promise.all(flood)).map((text) => text.replace(/\. Try again.*/, '')));
      answers.delete(unknownKey);
      assert.ok(
        answers.size === 0 || [...answers].every((text) => text === '503 Too many API keys wait for a check'),
      );
      assert.equal(await sendKey((await createKey()).key), '200');
    });

    test('can be created 1,000 times a day for each user, also if they have ended', async () => {
      const person = await people.createUser();
      const { clock, database } = people.server;
      const now = clock.now();
      const logIn = async () => (await people.logIn(person)).authToken;
      const tryCreate = async (authToken: string) =>
        people.mutationError('createApiKey', { name: 'next', level: 'READ' }, authToken);
      await createKey({}, await logIn());
      const limits = { level: 1, isAdministrator: false, folderId: null, networks: [] } as const;
      await withDatabase(database.url, (opened) =>
        opened.transaction(async (transaction) => {
          const insert = () => {
            const { identifier, secretDigest } = createApiKeyText();
            const key = {
              id: randomUUID(),
              userId: person.id,
              name: 'old',
              identifier,
              secretDigest,
              ...limits,
            };
            const times = { createdAt: now, expiresAt: now, revokedAt: null, lastUsedAt: null };
            return insertApiKey(transaction, { ...key, ...times, createdBy: null, lastUsedAddress: null });
          };
          await Promise.all(Array.from({ length: 999 }, insert));
        }),
      );
      assert.match(
        await tryCreate(await logIn()),
        /^CONFLICT: 1000 API keys were created for this user in the last 24 hours/,
      );
      clock.advanceSeconds(24 * 3600);
      await createKey({}, await logIn());
      annToken = (await people.logIn(ann)).authToken;
      people.authToken = (await people.server.logIn()).authToken;
    });

    test('are created once for one idempotency key, on two nodes at once', async () => {
      const headers = {
        authorization: `Bearer ${annToken}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      };
      const query = 'mutation{createApiKey(input: {name: "once", level: READ}){key apiKey{id}}}';
      const responses = await Promise.all(
        [people.server, otherNode, people.server, otherNode].map((server) =>
          server.postRaw('/graphql', JSON.stringify({ query }), headers),
        ),
      );
      const created = responses.flatMap((response) => {
        const { data } = response.json<GraphBody<{ createApiKey: Created }>>();
        return data?.createApiKey ?? [];
      });
      assert.ok(created.length >= 1);
      assert.equal(new Set(created.map(({ apiKey }) => apiKey.id)).size, 1);
      assert.equal(created.filter(({ key }) => key !== null).length, 1);
    });

    test('that are revoked on one node are refused by the next request on the other', async () => {
      for (let round = 0; round < 5; round++) {
        const { key, id } = await createKey();
        const isUsedBefore = round % 2 === 0;
        if (isUsedBefore) assert.equal(await send(`Bearer ${key}`, {}, { server: otherNode }), '200');
        await people.mutate('revokeApiKey', { id }, '__typename', annToken);
        assert.match(await send(`Bearer ${key}`, {}, { server: otherNode }), /^401 This API key was revoked/);
      }
    });

    test('open a socket with `connection_init`, and renew only a socket of the same key', async () => {
      const [{ key }, other] = [await createKey(), await createKey()];
      const closed = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
      const strangers = { session: annToken, 'other key': other.key, 'wrong secret': withIdentifierOf(key) };
      for (const [name, credential] of Object.entries(strangers)) {
        const client = await SocketClient.connect(people.server.url, key);
        client.send({ type: 'pong', payload: { authorization: `Bearer ${credential}` } });
        assert.deepEqual(await client.closed(), closed, name);
        assert.deepEqual(client.unread, []);
      }
      const ofSession = await SocketClient.connect(people.server.url, annToken);
      ofSession.send({ type: 'pong', payload: { authorization: `Bearer ${key}` } });
      assert.deepEqual(await ofSession.closed(), closed);
      const same = await SocketClient.connect(people.server.url, key);
      same.send({ type: 'ping', payload: { authorization: `Bearer ${key}` } });
      assert.deepEqual(await same.next(), { type: 'pong' });
      same.start('1', '{__typename}');
      assert.deepEqual((await same.next()).payload, { data: { __typename: 'Query' } });
      await same.close();
    });

    test('do not start or use a view as another user', async () => {
      const admin = await createKey({ level: 'MANAGE', isAdministrator: true }, people.authToken);
      const error = await people.mutationError('startViewAs', { userId: ann.id }, admin.key);
      assert.match(error, /^FORBIDDEN: You cannot do this with an API key/);
      const { viewToken } = await people.mutate<{ viewToken: string }>(
        'startViewAs',
        { userId: ann.id },
        'viewToken',
      );
      assert.match(
        await sendKey(admin.key, { 'espalier-view-as': viewToken }),
        /^403 A view needs an auth token/,
      );
      const client = await SocketClient.open(people.server.url, {
        headers: { 'espalier-view-as': viewToken },
      });
      client.init(admin.key);
      assert.equal((await client.closed()).code, 4403);
    });
  });
}

/** A well-formed key with another secret. */
function withIdentifierOf(key: string): string {
  return createApiKeyText(key.slice(4, 20)).text;
}
