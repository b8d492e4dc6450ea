/** API keys: creation, what a key may do, and how it is refused, revoked and recorded. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { storeApiKeyUses } from '../../server/src/accounts/api-keys.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { GraphBody, Variables } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';

interface Created {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}

for (const kind of databaseKinds) {
  describe(`an API key on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let ann: Person;
    let annToken: string;
    let top: string;
    let place: string;

    before(async () => {
      people = await PeopleTestbed.start(kind);
      ann = await people.createUser({ username: 'ann' });
      annToken = (await people.logIn(ann)).authToken;
      top = await createFolder('Top');
      place = await createFolder('Place', top);
      await createFolder('Room', place);
      await createFolder('Secret');
      await people.mutate('grantAccess', { folderId: top, userId: ann.id, level: 'MANAGE' });
    });
    after(() => people.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;

    const createKey = (input: Variables = {}, authToken = annToken) =>
      people.mutate<Created>(
        'createApiKey',
        { name: 'deploy', level: 'WRITE', ...input },
        'key apiKey{id}',
        authToken,
      );

    const createService = async (input: Variables = {}) =>
      (
        await people.mutate<{ user: { id: string } }>(
          'createUser',
          { kind: 'SERVICE', username: `robot ${Math.random()}`, ...input },
          'user{id}',
        )
      ).user.id;

    const refusal = async (key: string, headers: Record<string, string> = {}) => {
      const response = await people.server.postRaw('/graphql', JSON.stringify({ query: '{folder{name}}' }), {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        ...headers,
      });
      const { errors } = response.json<GraphBody<unknown>>();
      assert.equal(response.headers.get('token-expired'), null);
      return `${response.status} ${errors?.[0]?.message}`;
    };

    const names = async (key: string) => {
      const query = '{folder{descendants{items{name accessLevel}}}}';
      const { folder } = await people.query<{
        folder: { descendants: { items: { name: string; accessLevel: string }[] } };
      }>(query, {}, key);
      return folder.descendants.items.map(({ name, accessLevel }) => `${name} ${accessLevel}`);
    };

    test('has the smaller of the rights of its user and its own', async () => {
      const { key } = await createKey({ level: 'READ' });
      assert.deepEqual(await names(key), ['Top READ', 'Place READ', 'Room READ']);
      const error = await people.mutationError('updateFolder', { id: place, title: 'X' }, key);
      assert.match(error, /^FORBIDDEN: You need the access level WRITE on "Place"; you have READ\./);
      await people.mutate('updateFolder', { id: place, title: 'X' }, '__typename', (await createKey()).key);
    });

    test('for one folder sees only the names on the path to the folder', async () => {
      const { key } = await createKey({ folderId: place });
      assert.deepEqual(await names(key), ['Top NONE', 'Place WRITE', 'Room WRITE']);
      assert.match(
        await people.mutationError('createFolder', { name: 'X', parentId: top }, key),
        /^FORBIDDEN/,
      );
    });

    test('for a folder reads nothing while the folder is deleted', async () => {
      const folderId = await createFolder('Temporary', top);
      const { key } = await createKey({ folderId });
      assert.deepEqual(await names(key), ['Top NONE', 'Temporary WRITE']);
      await people.mutate('deleteFolder', { id: folderId });
      assert.deepEqual(await names(key), []);
      await people.mutate('restoreFolder', { id: folderId });
      assert.deepEqual(await names(key), ['Top NONE', 'Temporary WRITE']);
    });

    test('of an administrator has no administrator rights, unless it was created with them', async () => {
      const plain = (await createKey({ level: 'MANAGE' }, people.authToken)).key;
      assert.match(await people.queryError('{users{totalCount}}', {}, plain), /^FORBIDDEN/);
      assert.ok((await names(plain)).includes('Secret MANAGE'));
      const strong = (await createKey({ level: 'MANAGE', isAdministrator: true }, people.authToken)).key;
      await people.query('{users{totalCount} sessions{totalCount} apiKeys{totalCount}}', {}, strong);
      for (const input of [
        { level: 'WRITE', isAdministrator: true },
        { level: 'MANAGE', isAdministrator: true, folderId: top },
      ]) {
        const error = await people.mutationError('createApiKey', { name: 'x', ...input });
        assert.match(error, /^BAD_INPUT: A key that acts as administrator has the level MANAGE everywhere/);
      }
      const error = await people.mutationError(
        'createApiKey',
        { name: 'x', level: 'MANAGE', isAdministrator: true },
        annToken,
      );
      assert.match(error, /^BAD_INPUT: Only a key of an administrator/);
    });

    test('of an administrator restores and purges deleted folders, even where the administrator has a low grant', async () => {
      const { viewer } = await people.query<{ viewer: { user: { id: string } } }>('{viewer{user{id}}}');
      const { key } = await createKey({ level: 'MANAGE' }, people.authToken);
      for (const [name, end] of [
        ['Restored', 'restoreFolder'],
        ['Purged', 'purgeFolder'],
      ] as const) {
        const id = await createFolder(name);
        await people.mutate('grantAccess', { folderId: id, userId: viewer.user.id, level: 'READ' });
        await people.mutate('deleteFolder', { id }, '__typename', key);
        const { trash } = await people.query<{ trash: { items: unknown[] } }>(
          '{trash{items{folderId}}}',
          {},
          key,
        );
        assert.deepEqual(trash.items, [{ folderId: id }]);
        await people.mutate(end, { id }, '__typename', key);
      }
    });

    test('loses the administrator rights when its user does', async () => {
      const person = await people.createUser({ isAdministrator: true });
      const { authToken } = await people.logIn(person);
      const { key } = await createKey({ level: 'MANAGE', isAdministrator: true }, authToken);
      await people.query('{users{totalCount}}', {}, key);
      await people.mutate('updateUser', { id: person.id, isAdministrator: false });
      assert.match(await people.queryError('{users{totalCount}}', {}, key), /^FORBIDDEN/);
    });

    test('cannot create a stronger key', async () => {
      const { key } = await createKey({ level: 'MANAGE' });
      assert.match(
        await people.mutationError('createApiKey', { name: 'x', level: 'READ' }, key),
        /^FORBIDDEN: This API key cannot create API keys/,
      );
      const expiresAt = new Date(people.server.clock.now() + 60_000).toISOString();
      const networks = ['127.0.0.0/8', '::1'];
      const admin = { level: 'MANAGE', isAdministrator: true };
      const strong = (await createKey({ ...admin, expiresAt, networks }, people.authToken)).key;
      for (const input of [
        { ...admin, networks },
        { ...admin, expiresAt },
        { ...admin, expiresAt, networks: ['126.0.0.0/7'] },
      ]) {
        const error = await people.mutationError('createApiKey', { name: 'x', ...input }, strong);
        assert.match(error, /^FORBIDDEN: With an API key, you can create only keys that expire no later/);
      }
      await createKey({ ...admin, expiresAt, networks: ['127.0.0.1'] }, strong);
    });

    test('cannot change how its user logs in, and cannot list or end sessions', async () => {
      const { key } = await createKey({ level: 'MANAGE' });
      const change = { oldPassword: ann.password, newPassword: 'another walnut cabin' };
      assert.match(await people.mutationError('changePassword', change, key), /^FORBIDDEN/);
      assert.match(await people.mutationError('revokeSessions', {}, key), /^FORBIDDEN/);
      assert.match(
        await people.mutationError('setFavorite', { folderId: top, isFavorite: true }, key),
        /^FORBIDDEN/,
      );
      assert.match(await people.queryError('{viewer{sessions{totalCount}}}', {}, key), /^FORBIDDEN/);
      assert.match(await people.queryError('{viewer{user{apiKeys{totalCount}}}}', {}, key), /^FORBIDDEN/);
      const { viewer } = await people.query<{ viewer: unknown }>(
        '{viewer{user{username} session{id} tokenExpiresAt apiKey{name isCurrent}}}',
        {},
        key,
      );
      assert.deepEqual(viewer, {
        user: { username: 'ann' },
        session: null,
        tokenExpiresAt: null,
        apiKey: { name: 'deploy', isCurrent: true },
      });
    });

    test('is refused by the endpoints for tokens like a token of another service', async () => {
      const { key } = await createKey();
      const { server } = people;
      const tokens = await people.logIn(ann);
      assert.equal((await server.post('/login/verify', { authToken: key })).status, 400);
      assert.equal((await server.post('/logout', {}, key)).status, 401);
      assert.equal((await server.refresh({ authToken: key, refreshToken: tokens.refreshToken })).status, 401);
      assert.equal((await server.refresh(tokens)).status, 200);
    });

    test('is refused with a wrong checksum, a wrong secret, from another network, expired and revoked', async () => {
      const { key, apiKey } = await createKey();
      const other = (await createKey()).key;
      const mixed = key.slice(0, 20) + other.slice(20);
      assert.match(await refusal(mixed), /^401 This API key has a wrong form or checksum/);
      assert.match(await refusal('esp_short'), /^401 This API key has a wrong form or checksum/);
      const elsewhere = (await createKey({ networks: ['192.0.2.0/24', '2001:db8::/32'] })).key;
      assert.match(await refusal(elsewhere), /^401 This API key may not be used from the network/);
      const here = (await createKey({ networks: ['127.0.0.1', '::1'] })).key;
      assert.equal(await refusal(here), '200 undefined');
      const expiresAt = new Date(people.server.clock.now() + 1_000).toISOString();
      const short = (await createKey({ expiresAt })).key;
      assert.equal(await refusal(short), '200 undefined');
      people.server.clock.advanceSeconds(1);
      assert.match(await refusal(short), /^401 This API key has expired/);
      assert.equal(await refusal(key), '200 undefined');
      await people.mutate('revokeApiKey', { id: apiKey.id }, 'apiKey{state}', annToken);
      assert.match(await refusal(key), /^401 This API key was revoked/);
      assert.match(await refusal(other, { 'espalier-view-as': 'x' }), /^403 A view needs an auth token/);
    });

    test('stops working while its user is disabled, and for ever when the user is deleted', async () => {
      const userId = await createService();
      const { key } = await createKey({ userId }, people.authToken);
      assert.equal(await refusal(key), '200 undefined');
      await people.mutate('updateUser', { id: userId, isDisabled: true });
      assert.match(await refusal(key), /^401/);
      await people.mutate('updateUser', { id: userId, isDisabled: false });
      assert.equal(await refusal(key), '200 undefined');
      await people.mutate('deleteUser', { id: userId });
      assert.match(await refusal(key), /^401/);
    });

    test('can revoke itself, and learns that the change was made', async () => {
      const { key, apiKey } = await createKey();
      assert.equal(
        await people.mutationError('revokeApiKey', { id: apiKey.id }, key),
        'INVALID_AUTH_TOKEN: The change was made, but you cannot read its result. This API key was revoked.',
      );
      assert.match(await refusal(key), /^401 This API key was revoked/);
    });

    test('opens sockets and event streams, which close when it is revoked', async () => {
      const { key, apiKey } = await createKey();
      const client = await SocketClient.connect(people.server.url, key);
      client.start('1', '{viewer{apiKey{id}}}');
      assert.deepEqual((await client.next()).payload, { data: { viewer: { apiKey: { id: apiKey.id } } } });
      await people.mutate('revokeApiKey', { id: apiKey.id }, '__typename', annToken);
      await client.next();
      assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    });

    test('names itself in the journal, and its creation and revocation are entries', async () => {
      const { key, apiKey } = await createKey({ folderId: top });
      await people.mutate('createFolder', { name: 'By key', parentId: top }, '__typename', key);
      await people.mutate('revokeApiKey', { id: apiKey.id });
      const { journal } = await people.query<{ journal: { items: unknown[] } }>(
        '{journal(first: 3){items{kind by{username} byApiKey{id name} user{username} before after}}}',
      );
      const byKey = { id: apiKey.id, name: 'deploy' };
      assert.deepEqual(journal.items, [
        {
          kind: 'REVOKE_API_KEY',
          by: { username: 'admin' },
          byApiKey: null,
          user: { username: 'ann' },
          before: { apiKeyId: apiKey.id, name: 'deploy' },
          after: null,
        },
        {
          kind: 'CREATE_FOLDER',
          by: { username: 'ann' },
          byApiKey: byKey,
          user: null,
          before: null,
          after: { name: 'By key' },
        },
        {
          kind: 'CREATE_API_KEY',
          by: { username: 'ann' },
          byApiKey: null,
          user: { username: 'ann' },
          before: null,
          after: { apiKeyId: apiKey.id, name: 'deploy', level: 'WRITE', folderId: top },
        },
      ]);
    });

    test('records the time and the address of its last use', async () => {
      const { key, apiKey } = await createKey();
      await names(key);
      await people.server.purge();
      const query = `{apiKey(id: "${apiKey.id}"){lastUsedAt lastUsedAddress state start}}`;
      const read = async () => (await people.query<{ apiKey: Record<string, string> }>(query)).apiKey;
      const { lastUsedAt, lastUsedAddress, start } = await read();
      assert.equal(lastUsedAt, new Date(people.server.clock.now()).toISOString());
      assert.match(lastUsedAddress!, /127\.0\.0\.1$|^::1$/);
      assert.ok(key.startsWith(start!));
    });

    test('replaces a time of its last use that is in the future', async () => {
      const { key, apiKey } = await createKey();
      const { clock, database } = people.server;
      const readUse = async () => {
        const query = `{apiKey(id: "${apiKey.id}"){lastUsedAt}}`;
        return (await people.query<{ apiKey: { lastUsedAt: string } }>(query)).apiKey.lastUsedAt;
      };
      const ahead = clock.now() + 86_400_000;
      await withDatabase(database.url, (opened) =>
        storeApiKeyUses(opened, [{ id: apiKey.id, at: ahead, address: null }], ahead),
      );
      assert.equal(await readUse(), new Date(ahead).toISOString());
      await names(key);
      await people.server.purge();
      assert.equal(await readUse(), new Date(clock.now()).toISOString());
    });

    test('reads the address of its last use only if it acts as administrator', async () => {
      const strong = await createKey({ level: 'MANAGE', isAdministrator: true }, people.authToken);
      for (const [{ key }, mayRead] of [
        [await createKey(), false],
        [strong, true],
      ] as const) {
        await names(key);
        await people.server.purge();
        const { viewer } = await people.query<{ viewer: { apiKey: Record<string, string | null> } }>(
          '{viewer{apiKey{lastUsedAt lastUsedAddress}}}',
          {},
          key,
        );
        assert.notEqual(viewer.apiKey['lastUsedAt'], null);
        assert.equal(viewer.apiKey['lastUsedAddress'] !== null, mayRead);
      }
    });

    test('can be created by a person for the person, and by administrators for service accounts', async () => {
      const service = await createService();
      const error = (userId: string, authToken?: string) =>
        people.mutationError('createApiKey', { userId, name: 'x', level: 'READ' }, authToken);
      assert.match(await error(service, annToken), /^FORBIDDEN: Only administrators may create API keys/);
      assert.match(await error(ann.id), /^FORBIDDEN: You can create API keys only for yourself/);
      assert.match(await error('nobody'), /^NOT_FOUND/);
      assert.match(
        await people.mutationError('createApiKey', { name: 'x', level: 'NONE' }),
        /^BAD_INPUT: `level` must be READ, WRITE or MANAGE/,
      );
      const hidden = (await people.query<{ folder: { id: string } }>('{folder(path: "/Secret"){id}}')).folder
        .id;
      assert.match(
        await people.mutationError('createApiKey', { name: 'x', level: 'READ', folderId: hidden }, annToken),
        /^NOT_FOUND/,
      );
    });

    test('lists are visible to the user and to administrators only', async () => {
      await createKey();
      const own = await people.query<{ apiKeys: { items: { user: { id: string } }[] } }>(
        `{apiKeys(userId: "${ann.id}", first: 2){items{user{id}}}}`,
        {},
        annToken,
      );
      assert.ok(own.apiKeys.items.every(({ user }) => user.id === ann.id));
      assert.match(await people.queryError('{apiKeys{totalCount}}', {}, annToken), /^FORBIDDEN/);
      const bob = (await people.logIn(await people.createUser())).authToken;
      assert.match(
        await people.queryError(`{apiKeys(userId: "${ann.id}"){totalCount}}`, {}, bob),
        /^FORBIDDEN/,
      );
      const { apiKey } = await createKey();
      assert.deepEqual(await people.query(`{apiKey(id: "${apiKey.id}"){id}}`, {}, bob), { apiKey: null });
      assert.match(await people.mutationError('revokeApiKey', { id: apiKey.id }, bob), /^NOT_FOUND/);
    });
  });

  describe(`a service account on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => (people = await PeopleTestbed.start(kind)));
    after(() => people.stop());

    test('has no password and cannot log in', async () => {
      const error = await people.mutationError('createUser', {
        kind: 'SERVICE',
        username: 'robot',
        password: 'walnut cabin',
      });
      assert.match(error, /^BAD_INPUT: A service account has no password/);
      assert.match(await people.mutationError('createUser', { username: 'x' }), /^BAD_INPUT: A person needs/);
      const { user } = await people.mutate<{ user: { id: string } }>(
        'createUser',
        { kind: 'SERVICE', username: 'robot' },
        'user{id kind}',
      );
      for (const password of ['', 'x']) {
        assert.equal((await people.server.post('/login', { username: 'robot', password })).status, 401);
      }
      const reset = { userId: user.id, password: 'walnut cabin' };
      assert.match(
        await people.mutationError('resetPassword', reset),
        /^CONFLICT: robot is a service account/,
      );
    });

    test('can be made from a person, who keeps the grants and can no longer log in', async () => {
      const person = await people.createUser({ username: 'old robot' });
      const tokens = await people.logIn(person);
      const { user } = await people.mutate<{ user: unknown }>(
        'convertToServiceAccount',
        { userId: person.id },
        'user{id kind sessions{totalCount}}',
      );
      assert.deepEqual(user, { id: person.id, kind: 'SERVICE', sessions: { totalCount: 0 } });
      assert.deepEqual(await people.statuses(person, tokens), { graph: 401, refresh: 401, login: 401 });
      const error = await people.mutationError('convertToServiceAccount', { userId: person.id });
      assert.match(error, /^CONFLICT/);
    });
  });
}
