/**
 * Automatic persisted queries as Apollo Client and urql send them: first the hash of a query, then its text, because the
 * server answers that it stores no queries.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test, type TestContext } from 'node:test';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { createClient, MessageType } from 'graphql-ws';
import { urqlOptions } from '@espalier/client';
import { databaseKinds } from '../support/databases.ts';
import type { GraphBody } from '../support/graph-testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { withoutRequestId } from '../support/graph-testbed.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const rootName = '{ folder { name } }';
const persistedQuery = { version: 1, sha256Hash: sha256(rootName) };
const createFolderMutation = `mutation MakeFolder($name: String!) {
  createFolder(input: { name: $name }) { folder { name } }
}`;
const changes =
  'subscription Changes($after: String) { folderChanges(after: $after) { kind folder { name } } }';
const notSupported = {
  message: 'PersistedQueryNotSupported',
  extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
};

for (const kind of databaseKinds) {
  describe(`automatic persisted queries on ${kind.name}`, { timeout: 60_000 }, () => {
    let tree: TreeTestbed;
    before(async () => (tree = await TreeTestbed.start(kind)));
    after(() => tree.stop());

    /**
     * A `fetch` that sends the token and records each request: its method, and whether it had the text of the
     * query.
     */
    const createRecorder = () => {
      const requests: string[] = [];
      const send: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        request.headers.set('authorization', `Bearer ${tree.authToken}`);
        const hasText =
          request.method === 'GET'
            ? new URL(request.url).searchParams.has('query')
            : Boolean(((await request.clone().json()) as { query?: string }).query);
        requests.push(`${request.method} ${hasText ? 'text' : 'hash'}`);
        return fetch(request);
      };
      return { requests, send };
    };

    for (const useGETForHashedQueries of [false, true]) {
      const method = useGETForHashedQueries ? 'GET' : 'POST';
      test(`fall back after one hash sent by ${method} with Apollo's link`, async () => {
        const { requests, send } = createRecorder();
        const hashLink = new PersistedQueryLink({ sha256, useGETForHashedQueries });
        const httpLink = new HttpLink({ uri: `${tree.server.url}/graphql`, fetch: send });
        const apollo = new ApolloClient({ cache: new InMemoryCache(), link: hashLink.concat(httpLink) });

        const first = await apollo.query({ query: gql(rootName) });
        assert.deepEqual(first.data, { folder: { __typename: 'Folder', name: 'Root' } });
        assert.deepEqual(requests, [`${method} hash`, 'POST text']);

        const created = await apollo.mutate({
          mutation: gql(createFolderMutation),
          variables: { name: `A ${method}` },
        });
        assert.equal(created.error, undefined);
        await apollo.query({ query: gql('{ viewer { user { username } } }') });
        assert.deepEqual(requests.slice(2), ['POST text', 'POST text']);
      });

      test(`fall back after one hash sent by ${method} with urql's exchange`, async () => {
        const { requests, send } = createRecorder();
        const urql = new Client({
          url: `${tree.server.url}/graphql`,
          fetch: send,
          // The default would send the texts by GET as well.
          preferGetMethod: false,
          exchanges: [
            persistedExchange({
              preferGetForPersistedQueries: useGETForHashedQueries,
              enableForMutation: true,
            }),
            fetchExchange,
          ],
        });

        const first = await urql.query(rootName, {}).toPromise();
        assert.equal(first.error, undefined);
        assert.deepEqual(first.data, { folder: { name: 'Root' } });
        assert.equal(requests[0], `${method} hash`);
        assert.match(requests[1]!, / text$/);

        const created = await urql.mutation(createFolderMutation, { name: `U ${method}` }).toPromise();
        assert.equal(created.error, undefined);
        await urql.query('{ viewer { user { username } } }', {}).toPromise();
        assert.deepEqual(requests.slice(2), ['POST text', 'POST text']);
      });
    }

    test("fall back for a subscription over a WebSocket with urql's exchange", async (context) => {
      const { cursor } = await tree.query<{ cursor: string }>('{cursor}');
      const { received, result } = await subscribeWithUrql(tree, context, cursor);
      await tree.create('Orchard');
      const { data, error } = await result;
      assert.equal(error, undefined);
      assert.deepEqual(data, { folderChanges: { kind: 'CREATE', folder: { name: 'Orchard' } } });
      // The socket stays open: one operation fails, and the next one sends the text.
      assert.deepEqual(received, ['error', 'next']);
    });

    test('fail with an error of the query after a hash without a text, on every transport', async () => {
      const headers = { authorization: `Bearer ${tree.authToken}`, 'content-type': 'application/json' };
      const extensions = { persistedQuery };
      const parameters = new URLSearchParams({ extensions: JSON.stringify(extensions) });
      const get = (accept: string) =>
        tree.server.send('GET', `/graphql?${parameters.toString()}`, { headers: { ...headers, accept } });
      const post = (accept: string, body: unknown) =>
        tree.server.postRaw('/graphql', JSON.stringify(body), { ...headers, accept });

      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        for (const response of [
          await get(accept),
          await post(accept, { extensions }),
          await post(accept, { query: null, extensions }),
          await post(accept, { query: '', extensions }),
          await post(accept, { operationName: 'A', variables: {}, extensions }),
        ]) {
          assert.equal(response.status, status, accept);
          const { errors } = response.json<{ errors: { extensions: object }[] }>();
          assert.deepEqual(errors.map(withoutRequestId), [notSupported]);
          assert.equal(response.headers.get('cache-control'), 'no-store');
        }
      }
      const events = await post('text/event-stream', { extensions });
      const [, data] = /^event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/.exec(events.text)!;
      const { errors } = JSON.parse(data!) as { errors: { extensions: object }[] };
      assert.deepEqual(errors.map(withoutRequestId), [notSupported]);
    });

    test('run a text that is sent with a hash, and require a text or a hash', async () => {
      const post = async (body: unknown) => (await tree.server.post('/graphql', body, tree.authToken)).json();
      const wrongHash = { persistedQuery: { version: 1, sha256Hash: sha256('another text') } };
      for (const extensions of [{ persistedQuery }, wrongHash]) {
        const response = await post({ query: rootName, extensions });
        assert.deepEqual(response, { data: { folder: { name: 'Root' } } });
      }
      for (const body of [{}, { extensions: {} }, { extensions: { persistedQuery: null } }, { query: 1 }]) {
        const { errors } = (await post(body)) as GraphBody<unknown>;
        assert.equal(errors![0]!.extensions.code, 'BAD_INPUT');
      }
    });
  });
}

/** Returns the types of the operation messages that the socket received, and the first result of urql. */
async function subscribeWithUrql(tree: TreeTestbed, context: TestContext, after: string) {
  const received: string[] = [];
  const hashRejection = Promise.withResolvers<void>();
  const socket = createClient({
    url: `${tree.server.url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${tree.authToken}` },
    on: {
      message: ({ type }) => {
        if (type === MessageType.Next || type === MessageType.Error) received.push(type);
        if (type === MessageType.Error) hashRejection.resolve();
      },
    },
  });
  // The adapter uses nothing else of a client for subscriptions.
  const { forwardSubscription } = urqlOptions({ url: tree.server.url, socket } as never);
  const urql = new Client({
    url: `${tree.server.url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      persistedExchange({ enableForSubscriptions: true }),
      subscriptionExchange({ forwardSubscription }),
    ],
  });
  const first = Promise.withResolvers<{ data?: unknown; error?: unknown }>();
  const subscription = urql.subscription(changes, { after }).subscribe(first.resolve);
  context.after(async () => {
    subscription.unsubscribe();
    await socket.dispose();
  });
  await hashRejection.promise;
  return { received, result: first.promise };
}
