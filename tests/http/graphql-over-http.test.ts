/** The official audits of GraphQL over HTTP, and cases that they do not cover. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { serverAudits } from 'graphql-http';
import { databaseKinds } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';

interface GraphBody {
  data?: unknown;
  errors?: { message: string; extensions: { code: string } }[];
}

const graphqlMediaType = 'application/graphql-response+json';

for (const kind of databaseKinds) {
  describe(`GraphQL over HTTP on ${kind.name}`, () => {
    let testbed: Testbed;
    let authToken: string;
    before(async () => {
      testbed = await Testbed.start(kind);
      ({ authToken } = await testbed.logIn());
    });
    after(() => testbed.stop());

    const authorized = (headers: Record<string, string> = {}) => ({
      authorization: `Bearer ${authToken}`,
      ...headers,
    });
    const post = (value: unknown, headers: Record<string, string> = {}) =>
      testbed.postRaw(
        '/graphql',
        JSON.stringify(value),
        authorized({ 'content-type': 'application/json', ...headers }),
      );
    const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
      testbed.send('GET', `/graphql?${new URLSearchParams(parameters).toString()}`, {
        headers: authorized(headers),
      });
    const codeOf = (answer: { json<T>(): T }) => answer.json<GraphBody>().errors?.[0]?.extensions.code;

    test('passes all 61 official audits', async (context) => {
      const fetchFn = (url: string, init: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...authorized() } });
      const audits = serverAudits({ url: () => `${testbed.url}/graphql`, fetchFn });
      assert.equal(audits.length, 61);
      for (const audit of audits) {
        await context.test(audit.name, async () => {
          const result = await audit.fn();
          assert.equal(result.status, 'ok', 'reason' in result ? result.reason : undefined);
        });
      }
    });

    test('answers an invalid query with 200 for JSON and 400 for the GraphQL media type', async () => {
      const cases = [
        [{ query: '{' }, 'GRAPHQL_PARSE_FAILED'],
        [{ query: '' }, 'GRAPHQL_PARSE_FAILED'],
        [{ query: '{nothing}' }, 'GRAPHQL_VALIDATION_FAILED'],
        [{ query: '{folder}' }, 'GRAPHQL_VALIDATION_FAILED'],
        [{ query: 'query($id: ID!){node(id:$id){id}}' }, 'BAD_INPUT'],
        [
          { query: 'query($n: Int){folder{folders(first:$n){totalCount}}}', variables: { n: 'x' } },
          'BAD_INPUT',
        ],
        [{ query: 'query A{folder{name}} query B{folder{name}}' }, 'BAD_INPUT'],
        [{ query: 'query A{folder{name}}', operationName: 'B' }, 'BAD_INPUT'],
        [{ query: 'mutation{x}' }, 'GRAPHQL_VALIDATION_FAILED'],
        [{ query: 'subscription{x}' }, 'GRAPHQL_VALIDATION_FAILED'],
        [
          { query: '{...A} fragment A on Query{...B} fragment B on Query{...A}' },
          'GRAPHQL_VALIDATION_FAILED',
        ],
        [{ query: `${'{folder'.repeat(4_000)}${'}'.repeat(4_000)}` }, 'TOO_EXPENSIVE'],
        [{ query: `{${'a '.repeat(20_000)}}` }, 'TOO_EXPENSIVE'],
      ] as const;
      for (const [request, code] of cases) {
        const plain = await post(request);
        assert.equal(plain.status, 200, request.query.slice(0, 50));
        assert.equal(codeOf(plain), code, request.query.slice(0, 50));
        assert.equal(plain.json<GraphBody>().data, undefined);
        const strict = await post(request, { accept: graphqlMediaType });
        assert.equal(strict.status, 400, request.query.slice(0, 50));
        assert.match(strict.headers.get('content-type')!, /^application\/graphql-response\+json/);
      }
    });

    test('answers an invalid request with 400, 406, 413 or 415 and a code', async () => {
      const requests = [
        [400, '{"query"', { 'content-type': 'application/json' }],
        [400, '[{"query":"{folder{name}}"}]', { 'content-type': 'application/json' }],
        [400, '{"query":1}', { 'content-type': 'application/json' }],
        [400, '{}', { 'content-type': 'application/json' }],
        [400, '', { 'content-type': 'application/json' }],
        [400, '{"query":"{folder{name}}","variables":[]}', { 'content-type': 'application/json' }],
        [400, '{"query":"{folder{name}}","operationName":1}', { 'content-type': 'application/json' }],
        [400, '{"query":"{folder{name}}","extensions":"x"}', { 'content-type': 'application/json' }],
        [406, '{"query":"{folder{name}}"}', { 'content-type': 'application/json', accept: 'text/html' }],
        [413, ' '.repeat(33 * 1024 * 1024), { 'content-type': 'application/json' }],
        [415, '{folder{name}}', { 'content-type': 'application/graphql' }],
        [415, 'query={folder{name}}', { 'content-type': 'application/x-www-form-urlencoded' }],
        [415, '{"query":"{folder{name}}"}', { 'content-type': 'application/json; charset=utf-16' }],
        [415, '{"query":"{folder{name}}"}', {}],
      ] as const;
      for (const [status, body, headers] of requests) {
        const answer = await testbed.postRaw('/graphql', body, authorized(headers));
        assert.equal(answer.status, status, body.slice(0, 50));
        assert.equal(codeOf(answer), 'BAD_INPUT');
      }
    });

    test('answers GET like POST, with an operation name, and with variables that contain a question mark', async () => {
      const query = 'query A($path: String){folder(path:$path){name}} query B{folder{name}}';
      const byName = await get({ query, operationName: 'B' });
      assert.deepEqual(byName.json(), { data: { folder: { name: 'Root' } } });
      const variables = JSON.stringify({ path: '/no?such' });
      const raw = `/graphql?query=${encodeURIComponent(query)}&operationName=A&variables=${variables}`;
      const answer = await testbed.send('GET', raw, { headers: authorized() });
      assert.deepEqual(answer.json(), { data: { folder: null } });
    });

    test('refuses other methods with 405 and Allow', async () => {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const answer = await testbed.send(method, '/graphql', { headers: authorized() });
        assert.equal(answer.status, 405);
        assert.equal(answer.headers.get('allow'), 'GET, POST');
      }
    });

    test('allows introspection to authenticated callers only', async () => {
      const query = '{__schema{queryType{name}}}';
      assert.deepEqual((await post({ query })).json(), {
        data: { __schema: { queryType: { name: 'Query' } } },
      });
      assert.equal((await testbed.query(query)).status, 401);
    });

    test('supports aliases, fragments, directives and variables', async () => {
      const answer = await post({
        query: `query($deep: Boolean!){
          top: folder{...Named folders @include(if: $deep){totalCount}}
          again: folder @skip(if: $deep){name}
        }
        fragment Named on Folder{label: name __typename}`,
        variables: { deep: true },
      });
      assert.deepEqual(answer.json(), {
        data: { top: { label: 'Root', __typename: 'Folder', folders: { totalCount: 0 } } },
      });
    });
  });
}
