/** An administrator views the tree as another user: read-only, and with the rights of that user. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { EventClient } from '../live/event-client.ts';
import { readRefusedUpgrade, SocketClient, type SocketClientOptions } from '../live/socket-client.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation, type GraphBody } from '../support/graph-testbed.ts';
import type { TestResponse } from '../support/testbed.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';

const protocols = ['graphql-transport-ws', 'graphql-ws'];
const invalidCode = 'INVALID_VIEW_TOKEN';

for (const kind of databaseKinds) {
  describe(`a view as another user on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let root: Person;
    let ann: Person;
    let rootTokens: LoginResponse;
    let annToken: string;
    let placeId: string;

    before(async () => {
      people = await PeopleTestbed.start(kind);
      root = await people.createUser({ username: 'root', isAdministrator: true });
      ann = await people.createUser({ username: 'ann' });
      const top = await createFolder('Top');
      placeId = await createFolder('Place', top);
      await createFolder('Room', placeId);
      await createFolder('Secret', top);
      const closed = await createFolder('Closed', placeId);
      await people.mutate('deleteFolder', { id: await createFolder('Gone', placeId) });
      await grant(placeId, ann, 'MANAGE');
      await grant(closed, ann, 'NONE');
      rootTokens = await people.logIn(root);
      annToken = (await people.logIn(ann)).authToken;
      await people.mutate('setFavorite', { folderId: placeId, isFavorite: true }, undefined, annToken);
      await people.mutate('visitFolder', { folderId: placeId }, undefined, annToken);
    });
    after(() => people.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;

    const grant = (folderId: string, { id: userId }: Person, level: string) =>
      people.mutate('grantAccess', { folderId, userId, level });

    const startView = async (viewed = ann, { authToken } = rootTokens) => {
      const { viewToken } = await people.mutate<{ viewToken: string }>(
        'startViewAs',
        { userId: viewed.id },
        'viewToken',
        authToken,
      );
      return viewToken;
    };

    const headersOf = (viewToken: string, authToken = rootTokens.authToken) => ({
      'content-type': 'application/json',
      authorization: `Bearer ${authToken}`,
      'espalier-view-as': viewToken,
    });

    const send = (viewToken: string, query: string, authToken?: string): Promise<TestResponse> =>
      people.server.postRaw('/graphql', JSON.stringify({ query }), headersOf(viewToken, authToken));

    const runQuery = async (viewToken: string, query: string) =>
      (await send(viewToken, query)).json<GraphBody<Record<string, unknown>>>();

    /** Returns the status and the codes of a response without data. */
    const refusal = async (viewToken: string, authToken?: string) => {
      const response = await send(viewToken, '{viewer{user{username}}}', authToken);
      const { data, errors } = response.json<GraphBody<unknown>>();
      assert.equal(data ?? null, null);
      return `${response.status} ${errors?.map(({ extensions }) => extensions.code).join()}`;
    };

    const connect = async (viewToken: unknown, protocol = protocols[0]!) => {
      const client = await SocketClient.open(people.server.url, { protocols: [protocol] });
      const authorization = `Bearer ${rootTokens.authToken}`;
      client.send({ type: 'connection_init', payload: { authorization, viewAs: viewToken } });
      return client;
    };

    /** Creates a separate administrator, because tests demote this user or end its sessions. */
    const createAdministrator = async () => {
      const person = await people.createUser({ isAdministrator: true });
      return { ...person, tokens: await people.logIn(person) };
    };

    test('returns the same response to every query as the viewed user receives', async () => {
      const viewToken = await startView();
      const { cursor } = await people.query<{ cursor: string }>('{cursor}');
      const folder = 'id name title path accessLevel version updatedAt';
      for (const query of [
        `{folder{${folder} descendants{totalCount edges{depth node{${folder} access{items{level}}}}}}}`,
        `{folder{folders{totalCount items{${folder}}}}}`,
        '{exportFolders{path}}',
        '{search(text: "s"){totalCount items{name}}}',
        '{trash{items{name}}}',
        `{changes(after: "${cursor}"){items{kind folder{name}}}}`,
        '{viewer{user{id username isAdministrator groups{totalCount}} sharedFolders{items{name}}}}',
        `{folder(id: "${placeId}"){effectiveAccess{items{user{username isAdministrator} level}}}}`,
        `{explainAccess(userId: "${ann.id}", folderId: "${placeId}"){level reason}}`,
        '{users{totalCount}}',
        '{journal{items{kind}}}',
        '{server{version}}',
        `{user(username: "root"){id isAdministrator}}`,
      ]) {
        const expected = (await people.server.query(query, annToken)).json<GraphBody<unknown>>();
        assert.ok(expected.data !== undefined, query);
        assert.deepEqual(withoutIds(await runQuery(viewToken, query)), withoutIds(expected), query);
        const url = `/graphql?query=${encodeURIComponent(query)}`;
        const got = await people.server.send('GET', url, { headers: headersOf(viewToken) });
        assert.deepEqual(withoutIds(got.json()), withoutIds(expected), query);
      }
    });

    test('contains the name of the administrator, but no sessions, favorites and visits of the user', async () => {
      const viewToken = await startView();
      const query =
        '{viewer{user{username} viewedBy{username isAdministrator} session{isCurrent user{username}} favorites{totalCount items{id}} recentFolders{id}}}';
      const { data, errors } = await runQuery(viewToken, query);
      assert.deepEqual(data, {
        viewer: {
          user: { username: 'ann' },
          viewedBy: { username: 'root', isAdministrator: null },
          session: { isCurrent: true, user: { username: 'root' } },
          favorites: { totalCount: 0, items: [] },
          recentFolders: [],
        },
      });
      assert.deepEqual(
        errors!.map(({ path, extensions }) => [path, extensions.code]),
        [[['viewer', 'viewedBy', 'isAdministrator'], 'FORBIDDEN']],
      );
      const own = await people.query('{viewer{viewedBy{id}}}', {}, rootTokens.authToken);
      assert.deepEqual(own, { viewer: { viewedBy: null } });
      const administrator = await startView(await people.createUser({ isAdministrator: true }));
      for (const [token, sessions] of [
        [viewToken, '{viewer{sessions{totalCount}}}'],
        [viewToken, '{viewer{user{sessions{totalCount}}}}'],
        [administrator, '{sessions{totalCount}}'],
        [administrator, '{user(username: "ann"){sessions{totalCount}}}'],
      ] as const) {
        const { errors: refused } = await runQuery(token, sessions);
        assert.deepEqual(
          refused!.map(({ extensions }) => extensions.code),
          ['FORBIDDEN'],
          sessions,
        );
      }
      assert.equal((await runQuery(administrator, '{users{totalCount}}')).errors, undefined);
    });

    test('refuses every mutation with FORBIDDEN, over every transport', async () => {
      const administrator = await startView(await people.createUser({ isAdministrator: true }));
      const { cursor } = await people.query<{ cursor: string }>('{cursor}');
      for (const name of Object.keys(createSchema().getMutationType()!.getFields())) {
        const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
        const query = `mutation($input: ${type}!){${name}(input: $input){__typename}}`;
        assert.deepEqual(codesOf(await runQuery(administrator, query)), ['FORBIDDEN'], name);
      }
      const create = 'createFolder(input: {name: "Never"}){folder{id}}';
      const several = `query A {__typename} mutation B {${create}}`;
      const body = { query: several, operationName: 'B' };
      const headers = headersOf(administrator);
      const post = () => people.server.postRaw('/graphql', JSON.stringify(body), headers);
      assert.deepEqual(codesOf((await post()).json()), ['FORBIDDEN']);
      for (const operationName of ['', null, 'Other']) {
        const text = JSON.stringify({ query: `mutation{${create}}`, operationName });
        const { errors } = (await people.server.postRaw('/graphql', text, headers)).json<
          GraphBody<unknown>
        >();
        assert.equal(errors!.length, 1, JSON.stringify(operationName));
      }
      const stream = await EventClient.open(people.server.url, body, headers);
      assert.match(JSON.stringify(await stream.readRest()), /"code":"FORBIDDEN"/);
      for (const protocol of protocols) {
        const client = await connect(administrator, protocol);
        assert.equal((await client.next()).type, 'connection_ack');
        client.start('1', `mutation{${create}}`);
        const { type, payload } = await client.next();
        assert.equal(type, 'error');
        assert.match(JSON.stringify(payload), /"code":"FORBIDDEN"/);
        await client.close();
      }
      assert.deepEqual(await people.query('{cursor}'), { cursor });
    });

    test('can be started by administrators only, and the journal records the start', async () => {
      const error = (input: { userId: string }, authToken?: string) =>
        people.mutationError('startViewAs', input, authToken);
      assert.match(await error({ userId: root.id }, annToken), /^FORBIDDEN/);
      assert.match(await error({ userId: root.id }, rootTokens.authToken), /^CONFLICT/);
      assert.match(await error({ userId: 'nobody' }), /^NOT_FOUND/);
      const disabled = await people.createUser();
      await people.mutate('updateUser', { id: disabled.id, isDisabled: true });
      assert.match(await error({ userId: disabled.id }), /^CONFLICT/);
      await startView();
      const { journal } = await people.query<{ journal: { items: Record<string, unknown>[] } }>(
        '{journal(first: 1, filter: {kinds: [VIEW_AS], byId: "ROOT", userId: "ANN"}){items{kind by{username} user{username} before after}}}'
          .replace('ROOT', root.id)
          .replace('ANN', ann.id),
      );
      assert.deepEqual(journal.items, [
        { kind: 'VIEW_AS', by: { username: 'root' }, user: { username: 'ann' }, before: null, after: null },
      ]);
    });

    test('requires a view token of the same session, also if the administrator may read everything', async () => {
      const viewToken = await startView();
      const other = await createAdministrator();
      const secondSession = await people.logIn(root);
      assert.equal(await refusal(viewToken, other.tokens.authToken), `403 ${invalidCode}`);
      assert.equal(await refusal(viewToken, secondSession.authToken), `403 ${invalidCode}`);
      assert.equal(await refusal(viewToken, annToken), `403 ${invalidCode}`);
      const [header, payload, signature] = viewToken.split('.') as [string, string, string];
      const [, authPayload, authSignature] = rootTokens.authToken.split('.');
      for (const broken of [
        '',
        'x',
        rootTokens.authToken,
        annToken,
        rootTokens.refreshToken,
        `${header}.${payload}.`,
        `${header}.${payload}.${signature}=`,
        `${header}.${authPayload}.${authSignature}`,
        `${viewToken}, ${viewToken}`,
      ]) {
        assert.equal(await refusal(broken), `403 ${invalidCode}`, broken);
      }
      const { authToken, refreshToken } = rootTokens;
      rootTokens = (await people.server.refresh({ authToken, refreshToken })).json<LoginResponse>();
      assert.equal((await runQuery(viewToken, '{folder{name}}')).errors, undefined);
    });

    test('has a token that no endpoint accepts as an auth token', async () => {
      const viewToken = await startView();
      const { server } = people;
      assert.equal((await server.query('{__typename}', viewToken)).status, 401);
      assert.equal((await server.post('/login/verify', { authToken: viewToken })).status, 400);
      assert.equal((await server.post('/logout', {}, viewToken)).status, 401);
      const { refreshToken } = rootTokens;
      assert.equal((await server.refresh({ authToken: viewToken, refreshToken })).status, 401);
      const client = await SocketClient.open(server.url, { protocols });
      client.init(viewToken);
      assert.equal((await client.closed()).reason, 'INVALID_AUTH_TOKEN');
      assert.equal((await server.query('{__typename}', rootTokens.authToken)).status, 200);
    });

    test('does not affect the token endpoints, whatever the view header contains', async () => {
      const { server } = people;
      for (const header of [await startView(), '', 'broken']) {
        const tokens = await people.logIn(root);
        const post = (path: string, body: unknown, authToken?: string) =>
          server.postRaw(path, JSON.stringify(body), {
            'content-type': 'application/json',
            'espalier-view-as': header,
            ...(authToken && { authorization: `Bearer ${authToken}` }),
          });
        const { username, password } = root;
        assert.equal((await post('/login', { username, password })).status, 200);
        const { authToken, refreshToken } = tokens;
        assert.equal((await post('/login/verify', { authToken })).status, 204);
        const refreshed = await post('/login/refresh', { refreshToken }, authToken);
        assert.equal(refreshed.status, 200);
        const next = refreshed.json<LoginResponse>();
        const { viewer } = await people.query<{ viewer: { user: { id: string } } }>(
          '{viewer{user{id}}}',
          {},
          next.authToken,
        );
        assert.equal(viewer.user.id, root.id);
        assert.equal((await post('/logout', {}, next.authToken)).status, 204);
      }
    });

    describe('ends', () => {
      const openView = async (administrator: Person & { readonly tokens: LoginResponse }, viewed: Person) => {
        const viewToken = await startView(viewed, administrator.tokens);
        const { authToken } = administrator.tokens;
        const read = await send(viewToken, '{folder{name}}', authToken);
        assert.equal(read.status, 200);
        const socket = await SocketClient.open(people.server.url, { protocols });
        socket.send({
          type: 'connection_init',
          payload: { authorization: `Bearer ${authToken}`, viewAs: viewToken },
        });
        assert.equal((await socket.next()).type, 'connection_ack');
        socket.start('1', 'subscription{folderChanges{kind}}');
        const query = 'subscription{folderChanges{kind}}';
        const stream = await EventClient.open(people.server.url, { query }, headersOf(viewToken, authToken));
        return { viewToken, authToken, socket, stream };
      };
      type Started = Awaited<ReturnType<typeof openView>>;

      const assertEnded = async ({ viewToken, authToken, socket, stream }: Started, code: string) => {
        assert.match(await refusal(viewToken, authToken), new RegExp(`${code}$`));
        assert.deepEqual(await socket.closed(), { code: 4403, reason: code });
        const events = await stream.readRest();
        assert.match(JSON.stringify(events), new RegExp(`"code":"${code}"`));
        assert.equal(events.at(-1)!.event, 'complete');
      };

      test('when the administrator loses the role', async () => {
        const administrator = await createAdministrator();
        const started = await openView(administrator, ann);
        await people.mutate('updateUser', { id: administrator.id, isAdministrator: false });
        await assertEnded(started, invalidCode);
        assert.equal((await people.server.query('{folder{name}}', started.authToken)).status, 200);
        await people.mutate('updateUser', { id: administrator.id, isAdministrator: true });
        assert.equal(await refusal(started.viewToken, started.authToken), `403 ${invalidCode}`);
        await started.socket.closed();
      });

      test('when the viewed user is disabled or deleted', async () => {
        for (const end of ['updateUser', 'deleteUser']) {
          const administrator = await createAdministrator();
          const viewed = await people.createUser();
          const started = await openView(administrator, viewed);
          await people.mutate(end, { id: viewed.id, ...(end === 'updateUser' && { isDisabled: true }) });
          await assertEnded(started, invalidCode);
          const { authToken } = administrator.tokens;
          assert.equal((await people.server.query('{folder{name}}', authToken)).status, 200);
        }
      });

      test('with the session of the administrator', async () => {
        const administrator = await createAdministrator();
        const started = await openView(administrator, ann);
        await people.mutate('revokeSessions', { userId: administrator.id, keepCurrent: false });
        await assertEnded(started, 'INVALID_AUTH_TOKEN');
      });

      test('after 15 minutes, even if the auth token is renewed', async () => {
        const administrator = await createAdministrator();
        const started = await openView(administrator, ann);
        started.stream.disconnect();
        people.server.clock.advanceSeconds(590);
        const { authToken } = (await people.server.refresh(administrator.tokens)).json<LoginResponse>();
        const pong = { type: 'pong', payload: { authorization: `Bearer ${authToken}` } };
        started.socket.send(pong);
        started.socket.start('2', '{viewer{viewedBy{id}}}');
        let frame = await started.socket.next();
        while (frame.id !== '2') frame = await started.socket.next();
        assert.deepEqual(frame.payload, { data: { viewer: { viewedBy: { id: administrator.id } } } });
        people.server.clock.advanceSeconds(311);
        assert.deepEqual(await started.socket.closed(), { code: 4403, reason: invalidCode });
        assert.equal(await refusal(started.viewToken, authToken), `403 ${invalidCode}`);
        assert.equal((await people.server.query('{folder{name}}', authToken)).status, 200);
        ({ authToken: people.authToken } = await people.server.logIn());
        rootTokens = await people.logIn(root);
        annToken = (await people.logIn(ann)).authToken;
      });
    });

    test('is not extended if its start is repeated with the same idempotency key', async () => {
      const query = mutation('startViewAs', 'viewToken expiresAt');
      const body = JSON.stringify({ query, variables: { input: { userId: ann.id } } });
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${rootTokens.authToken}`,
        'idempotency-key': randomUUID(),
      };
      type Started = GraphBody<{ startViewAs: { viewToken: string; expiresAt: string } }>;
      const send = async () =>
        (await people.server.postRaw('/graphql', body, headers)).json<Started>().data!.startViewAs;
      const first = await send();
      people.server.clock.advanceSeconds(300);
      const second = await send();
      assert.equal(second.expiresAt, first.expiresAt);
      assert.equal((await runQuery(second.viewToken, '{folder{name}}')).errors, undefined);
    });

    test('delivers only the changes that the user sees, over sockets and event streams', async () => {
      const viewToken = await startView();
      const query = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
      const { cursor } = await people.query<{ cursor: string }>('{cursor}');
      const variables = { after: cursor };
      const client = await connect(viewToken);
      assert.equal((await client.next()).type, 'connection_ack');
      client.start('1', query, variables);
      const stream = await EventClient.open(people.server.url, { query, variables }, headersOf(viewToken));
      const own = await SocketClient.connect(people.server.url, annToken, { protocols });
      own.start('1', query, variables);
      await createFolder('Hidden');
      await createFolder('Seen', placeId);
      const expected = { data: { folderChanges: { kind: 'CREATE', folder: { name: 'Seen' } } } };
      assert.deepEqual((await client.next()).payload, expected);
      assert.deepEqual((await stream.next())!.data, expected);
      assert.deepEqual((await own.next()).payload, expected);
      stream.disconnect();
      await client.close();
      await own.close();
    });

    test('is refused on a socket if the view token is invalid or belongs to another view', async () => {
      for (const broken of [null, '', 'x', 5, rootTokens.authToken]) {
        const client = await connect(broken);
        assert.deepEqual(await client.closed(), { code: 4403, reason: invalidCode });
      }
      const authorization = `Bearer ${rootTokens.authToken}`;
      const upgrade = (headers: Record<string, string>): SocketClientOptions => ({ protocols, headers });
      const refused = await readRefusedUpgrade(
        people.server.url,
        upgrade({ authorization, 'espalier-view-as': 'broken' }),
      );
      assert.equal(refused.status, 403);
      const viewToken = await startView();
      // The view token in the header of the upgrade also applies to the auth token of the init message.
      const options = upgrade({ 'espalier-view-as': viewToken });
      const client = await SocketClient.connect(people.server.url, rootTokens.authToken, options);
      client.start('1', '{viewer{user{username}}}');
      assert.deepEqual((await client.next()).payload, { data: { viewer: { user: { username: 'ann' } } } });
      client.send({
        type: 'pong',
        payload: { authorization, viewAs: await startView(await people.createUser()) },
      });
      assert.deepEqual(await client.closed(), { code: 4403, reason: invalidCode });
      const plain = await SocketClient.connect(people.server.url, rootTokens.authToken, { protocols });
      plain.send({ type: 'pong', payload: { authorization, viewAs: viewToken } });
      assert.deepEqual(await plain.closed(), { code: 4403, reason: invalidCode });
    });
  });
}

function codesOf({ errors }: GraphBody<unknown>): unknown[] {
  return errors!.map(({ extensions }) => extensions.code);
}

/** Removes request ids, which differ in every response. */
function withoutIds(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body).replace(/"requestId":"[^"]*"/g, '"requestId":""')) as unknown;
}
