/** GraphQL over Server-Sent Events, tested on a complete server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, type RequestParams } from 'graphql-sse';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { EventClient } from './event-client.ts';
import { withoutRequestId } from '../support/graph-testbed.ts';

const origin = 'https://app.example.com';
const complete = { event: 'complete', data: '' };
const watchDocument = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
const eventStream = 'text/event-stream';
const json = 'application/json';
const unknownId = '019ca945-0a00-797d-93b1-152d58271d79';

interface WatchData {
  readonly folderChanges: { readonly kind: string; readonly folder: { readonly name: string } };
}

for (const kind of databaseKinds) {
  describe(`the event stream endpoint on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => (people = await PeopleTestbed.start(kind, { settings: { CORS_ORIGINS: origin } })));
    after(() => people.stop());

    const open = (body: unknown, headers: Record<string, string> = {}) =>
      EventClient.open(people.server.url, body, {
        authorization: `Bearer ${people.authToken}`,
        ...headers,
      });
    const readCursor = async () => (await people.query<{ cursor: string }>('{cursor}')).cursor;
    const watchFromNow = async (headers: Record<string, string> = {}) =>
      open({ query: watchDocument, variables: { after: await readCursor() } }, headers);
    const create = (name: string) => people.mutate('createFolder', { name }, 'cursor');
    const createEvent = (name: string) => ({
      event: 'next',
      data: { data: { folderChanges: { kind: 'CREATE', folder: { name } } } },
    });

    test('sends each change as it happens, with the headers of an event stream', async () => {
      const client = await watchFromNow({ origin });
      const { status, headers } = client.response;
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('x-accel-buffering'), 'no');
      assert.equal(headers.get('access-control-allow-origin'), origin);
      for (const name of ['one', 'two', 'line\u2028separator']) {
        await create(name);
        assert.deepEqual(await client.next(), createEvent(name));
      }
      client.disconnect();
    });

    test('sends the result of a query or mutation as an event if the client accepts only events', async () => {
      const query = await open({ query: '{folder{name}}' });
      assert.equal(query.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const data = { folder: { name: 'Root' } };
      assert.deepEqual(await query.readRest(), [{ event: 'next', data: { data } }, complete]);
      const mutation = await open({
        query: 'mutation{createFolder(input:{name:"by events"}){folder{name}}}',
      });
      const expected = { createFolder: { folder: { name: 'by events' } } };
      assert.deepEqual(await mutation.readRest(), [{ event: 'next', data: { data: expected } }, complete]);
    });

    test('sends the errors of an invalid operation as an event, with status 200', async () => {
      for (const [query, code] of [
        ['{', 'GRAPHQL_PARSE_FAILED'],
        ['{nothing}', 'GRAPHQL_VALIDATION_FAILED'],
        [`subscription{folderChanges(under:"${unknownId}"){kind}}`, 'NOT_FOUND'],
        ['subscription{folderChanges(after:"x"){kind}}', 'BAD_INPUT'],
      ] as const) {
        const client = await open({ query });
        assert.equal(client.response.status, 200);
        const [next, end, ...more] = await client.readRest();
        const { errors } = next!.data as { errors: { extensions: { code: string } }[] };
        assert.equal(errors[0]!.extensions.code, code, query);
        assert.deepEqual([end, ...more], [complete]);
      }
    });

    test('sends an HTTP error status for a malformed or unauthenticated request', async () => {
      assert.equal((await open({})).response.status, 400);
      assert.equal(
        (await open({ query: watchDocument }, { 'content-type': 'text/plain' })).response.status,
        415,
      );
      const { response } = await open({ query: watchDocument }, { authorization: 'Bearer x' });
      assert.equal(response.status, 401);
      assert.match(response.headers.get('www-authenticate')!, /^Bearer/);
    });

    test('answers queries with JSON and subscriptions with events if the client accepts both', async () => {
      const types = ['application/graphql-response+json', json, eventStream, 'multipart/mixed'];
      for (const accept of [types.join(', '), `${eventStream}, ${json};q=0.1`, `*/*, ${eventStream}`]) {
        const query = await open({ query: '{folder{name}}' }, { accept });
        assert.match(query.response.headers.get('content-type')!, /json/, accept);
        const invalid = await open({ query: '{' }, { accept });
        assert.match(invalid.response.headers.get('content-type')!, /json/, accept);
        const client = await watchFromNow({ accept });
        assert.match(client.response.headers.get('content-type')!, /event-stream/, accept);
        await create(`for ${accept.replaceAll('/', ' ')}`);
        assert.equal((await client.next())?.event, 'next');
        client.disconnect();
      }
    });

    test('rejects a subscription if the client does not accept events, and names the required type', async () => {
      for (const accept of [json, '*/*', 'application/*', `${eventStream};q=0, ${json}`]) {
        const { response } = await open({ query: watchDocument }, { accept });
        assert.match(response.headers.get('content-type')!, /json/, accept);
      }
      const { errors } = await people.execute(watchDocument);
      assert.match(errors![0]!.message, /text\/event-stream/);
      for (const accept of ['text/html', 'text/*', `${eventStream};q=0`]) {
        assert.equal((await open({ query: '{folder{name}}' }, { accept })).response.status, 406, accept);
      }
    });

    test('serves queries and subscriptions over GET, and rejects mutations', async () => {
      const get = async (query: string, variables = {}) => {
        const abort = new AbortController();
        const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
        const headers = { accept: eventStream, authorization: `Bearer ${people.authToken}` };
        const url = `${people.server.url}/graphql?${parameters.toString()}`;
        return new EventClient(await fetch(url, { headers, signal: abort.signal }), abort);
      };
      assert.equal((await (await get('{folder{name}}')).readRest()).length, 2);
      const client = await get(watchDocument, { after: await readCursor() });
      await create('by GET');
      assert.deepEqual(await client.next(), createEvent('by GET'));
      client.disconnect();
      const mutation = await get('mutation{createFolder(input:{name:"x"}){cursor}}');
      assert.equal(mutation.response.status, 405);
    });

    test('reports an expired token and completes the stream', async () => {
      const client = await watchFromNow();
      people.server.clock.advanceSeconds(600);
      people.authToken = (await people.server.logIn()).authToken;
      const [next, ...more] = await client.readRest();
      const { errors } = next!.data as { errors: { message: string; extensions: object }[] };
      assert.equal(errors.length, 1);
      assert.match(errors[0]!.message, /auth token/);
      assert.deepEqual(withoutRequestId(errors[0]!).extensions, { code: 'INVALID_AUTH_TOKEN' });
      assert.deepEqual(more, [complete]);
    });

    test('reports a revoked session and completes only its stream', async () => {
      const person = await people.createUser({ isAdministrator: true });
      const { authToken } = await people.logIn(person);
      const client = await watchFromNow({ authorization: `Bearer ${authToken}` });
      const other = await watchFromNow();
      await people.mutate('revokeSessions', { userId: person.id }, 'endedSessions');
      const events = await client.readRest();
      assert.equal(events.at(-1)?.event, 'complete');
      assert.match(JSON.stringify(events.at(-2)?.data), /INVALID_AUTH_TOKEN/);
      await create('after the revocation');
      assert.deepEqual(await other.next(), createEvent('after the revocation'));
      other.disconnect();
    });

    test('serves a subscription and a query to the published client graphql-sse', async () => {
      const client = createClient({
        url: `${people.server.url}/graphql`,
        headers: () => ({ authorization: `Bearer ${people.authToken}` }),
        retryAttempts: 0,
      });
      const results = async function* <Data>(request: RequestParams) {
        for await (const { data } of client.iterate<Data>(request)) yield data!;
      };
      const names: string[] = [];
      const after = await readCursor();
      for (const name of ['a', 'b', 'c']) await create(`seen by the client ${name}`);
      for await (const { folderChanges } of results<WatchData>({
        query: watchDocument,
        variables: { after },
      })) {
        names.push(folderChanges.folder.name);
        if (names.length === 3) break;
      }
      assert.deepEqual(names, ['seen by the client a', 'seen by the client b', 'seen by the client c']);
      const responses: unknown[] = [];
      for await (const response of results({ query: '{folder{name}}' })) responses.push(response);
      assert.deepEqual(responses, [{ folder: { name: 'Root' } }]);
      client.dispose();
    });
  });
}
