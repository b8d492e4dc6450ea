/** GraphQL over Server-Sent Events, on the whole server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, type RequestParams } from 'graphql-sse';
import { databaseKinds } from '../databases.ts';
import { PeopleBed } from '../people/people-bed.ts';
import { EventClient } from './event-client.ts';

const origin = 'https://app.example.com';
const complete = { event: 'complete', data: '' };
const watch = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
const eventStream = 'text/event-stream';
const json = 'application/json';
const unknown = '019ca945-0a00-797d-93b1-152d58271d79';

interface Watched {
  readonly folderChanges: { readonly kind: string; readonly folder: { readonly name: string } };
}

for (const kind of databaseKinds) {
  describe(`event streams on ${kind.name}`, () => {
    let bed: PeopleBed;
    before(async () => (bed = await PeopleBed.start(kind, { settings: { CORS_ORIGINS: origin } })));
    after(() => bed.stop());

    const open = (body: unknown, headers: Record<string, string> = {}) =>
      EventClient.open(bed.bed.url, body, { authorization: `Bearer ${bed.authToken}`, ...headers });
    const cursor = async () => (await bed.ask<{ cursor: string }>('{cursor}')).cursor;
    const watchFromNow = async (headers: Record<string, string> = {}) =>
      open({ query: watch, variables: { after: await cursor() } }, headers);
    const create = (name: string) => bed.run('createFolder', { name }, 'cursor');
    const created = (name: string) => ({
      event: 'next',
      data: { data: { folderChanges: { kind: 'CREATE', folder: { name } } } },
    });

    test('a subscription sends each change as it happens, with the headers of a stream', async () => {
      const client = await watchFromNow({ origin });
      const { status, headers } = client.response;
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('x-accel-buffering'), 'no');
      assert.equal(headers.get('access-control-allow-origin'), origin);
      for (const name of ['one', 'two', 'line\u2028separator']) {
        await create(name);
        assert.deepEqual(await client.next(), created(name));
      }
      client.leave();
    });

    test('a query or mutation of who takes nothing but events comes as one', async () => {
      const query = await open({ query: '{folder{name}}' });
      assert.equal(query.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const data = { folder: { name: 'Root' } };
      assert.deepEqual(await query.rest(), [{ event: 'next', data: { data } }, complete]);
      const mutation = await open({
        query: 'mutation{createFolder(input:{name:"by events"}){folder{name}}}',
      });
      const made = { createFolder: { folder: { name: 'by events' } } };
      assert.deepEqual(await mutation.rest(), [{ event: 'next', data: { data: made } }, complete]);
    });

    test('a query that cannot run is answered with its errors as an event, status 200', async () => {
      for (const [query, code] of [
        ['{', 'GRAPHQL_PARSE_FAILED'],
        ['{nothing}', 'GRAPHQL_VALIDATION_FAILED'],
        [`subscription{folderChanges(under:"${unknown}"){kind}}`, 'NOT_FOUND'],
        ['subscription{folderChanges(after:"x"){kind}}', 'BAD_INPUT'],
      ] as const) {
        const client = await open({ query });
        assert.equal(client.response.status, 200);
        const [next, end, ...more] = await client.rest();
        const { errors } = next!.data as { errors: { extensions: { code: string } }[] };
        assert.equal(errors[0]!.extensions.code, code, query);
        assert.deepEqual([end, ...more], [complete]);
      }
    });

    test('a request that is not even a query keeps its status', async () => {
      assert.equal((await open({})).response.status, 400);
      assert.equal((await open({ query: watch }, { 'content-type': 'text/plain' })).response.status, 415);
      const { response } = await open({ query: watch }, { authorization: 'Bearer x' });
      assert.equal(response.status, 401);
      assert.match(response.headers.get('www-authenticate')!, /^Bearer/);
    });

    test('who takes JSON and events gets JSON for queries and events for subscriptions', async () => {
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
        client.leave();
      }
    });

    test('a subscription of who takes no events is refused, and says what it needs', async () => {
      for (const accept of [json, '*/*', 'application/*', `${eventStream};q=0, ${json}`]) {
        const { response } = await open({ query: watch }, { accept });
        assert.match(response.headers.get('content-type')!, /json/, accept);
      }
      const { errors } = await bed.body(watch);
      assert.match(errors![0]!.message, /text\/event-stream/);
      for (const accept of ['text/html', 'text/*', `${eventStream};q=0`]) {
        assert.equal((await open({ query: '{folder{name}}' }, { accept })).response.status, 406, accept);
      }
    });

    test('a GET streams queries and subscriptions, and refuses mutations', async () => {
      const get = async (query: string, variables = {}) => {
        const abort = new AbortController();
        const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
        const headers = { accept: eventStream, authorization: `Bearer ${bed.authToken}` };
        const url = `${bed.bed.url}/graphql?${parameters.toString()}`;
        return new EventClient(await fetch(url, { headers, signal: abort.signal }), abort);
      };
      assert.equal((await (await get('{folder{name}}')).rest()).length, 2);
      const client = await get(watch, { after: await cursor() });
      await create('by GET');
      assert.deepEqual(await client.next(), created('by GET'));
      client.leave();
      const mutation = await get('mutation{createFolder(input:{name:"x"}){cursor}}');
      assert.equal(mutation.response.status, 405);
    });

    test('when the token expires the stream says so and is complete', async () => {
      const client = await watchFromNow();
      bed.bed.clock.advanceSeconds(600);
      bed.authToken = (await bed.bed.logIn()).authToken;
      const [next, ...more] = await client.rest();
      const { errors } = next!.data as { errors: { message: string; extensions: unknown }[] };
      assert.equal(errors.length, 1);
      assert.match(errors[0]!.message, /auth token/);
      assert.deepEqual(errors[0]!.extensions, { code: 'INVALID_AUTH_TOKEN' });
      assert.deepEqual(more, [complete]);
    });

    test('when the session is revoked the stream says so and is complete; another goes on', async () => {
      const person = await bed.createUser({ isAdministrator: true });
      const { authToken } = await bed.logIn(person);
      const client = await watchFromNow({ authorization: `Bearer ${authToken}` });
      const other = await watchFromNow();
      await bed.run('revokeSessions', { userId: person.id }, 'endedSessions');
      const events = await client.rest();
      assert.equal(events.at(-1)?.event, 'complete');
      assert.match(JSON.stringify(events.at(-2)?.data), /INVALID_AUTH_TOKEN/);
      await create('after the revocation');
      assert.deepEqual(await other.next(), created('after the revocation'));
      other.leave();
    });

    test('the published client follows a subscription, and runs a query', async () => {
      const client = createClient({
        url: `${bed.bed.url}/graphql`,
        headers: () => ({ authorization: `Bearer ${bed.authToken}` }),
        retryAttempts: 0,
      });
      const results = async function* <Data>(request: RequestParams) {
        for await (const { data } of client.iterate<Data>(request)) yield data!;
      };
      const names: string[] = [];
      const after = await cursor();
      for (const name of ['a', 'b', 'c']) await create(`seen by the client ${name}`);
      for await (const { folderChanges } of results<Watched>({ query: watch, variables: { after } })) {
        names.push(folderChanges.folder.name);
        if (names.length === 3) break;
      }
      assert.deepEqual(names, ['seen by the client a', 'seen by the client b', 'seen by the client c']);
      const answers: unknown[] = [];
      for await (const answer of results({ query: '{folder{name}}' })) answers.push(answer);
      assert.deepEqual(answers, [{ folder: { name: 'Root' } }]);
      client.dispose();
    });
  });
}
