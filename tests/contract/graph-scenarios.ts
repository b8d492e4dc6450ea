import assert from 'node:assert/strict';
import type { TestResponse } from '../support/testbed.ts';
import { nestedNamesQuery, rootNameQuery } from './graph-queries.ts';
import type { Scenario } from './scenario.ts';

interface GraphBody {
  data?: { folder: { name: string; folders: { edges: { node: { name: string } }[] } } };
  errors?: { message: string; extensions: { code: string } }[];
}

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ query: '{folder{name}}' });

function assertUnauthorized(answer: TestResponse): void {
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get('www-authenticate')!, /^Bearer realm="espalier"/);
  assert.equal(answer.json<GraphBody>().errors![0]!.extensions.code, 'INVALID_AUTH_TOKEN');
  assert.equal(answer.json<GraphBody>().data, undefined);
}

export const graphScenarios: Scenario[] = [
  {
    title: 'returns exactly `data.folder.name` for a query of the root folder',
    proves: ['4 POST /graphql', '2 GraphRequest.query', '2 Folder.name', '2 root', '4.3', '4 JSON'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const answer = await testbed.query(rootNameQuery, authToken);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type')!, /^application\/json/);
      assert.deepEqual(answer.json(), { data: { folder: { name: 'Root' } } });
    },
  },
  {
    title: 'returns `data.folder.folders.edges`, each with `node.name`, for a query of the subfolders',
    proves: ['4.3', '2 Folder.folders'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const answer = await testbed.query(nestedNamesQuery(2), authToken);
      const edges = answer.json<GraphBody>().data!.folder.folders.edges;
      assert.deepEqual(
        edges.map(({ node }) => node.name),
        ['Archive', 'Departments', 'Places', 'Projects', 'Templates'],
      );
    },
  },
  {
    title: 'returns subfolders of subfolders to any depth',
    proves: ['2 Folder.folders'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const answer = await testbed.query(nestedNamesQuery(5), authToken);
      assert.match(answer.text, /"Harbour Campus".*"Building A".*"Floor 1"/s);
    },
  },
  {
    title: 'accepts doubled slashes anywhere in the path',
    proves: ['4.4'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      for (const path of ['//graphql', '///graphql', '//graphql?x=//']) {
        assert.equal((await testbed.post(path, { query: '{folder{name}}' }, authToken)).status, 200);
      }
      assert.equal((await testbed.post('/login//verify', { authToken })).status, 204);
    },
  },
  {
    title: 'answers 401 with only the scheme in `WWW-Authenticate` if there is no `Authorization` header',
    proves: ['5.3', '7 authorized 401', '4 POST /graphql'],
    async run(testbed) {
      const answer = await testbed.query('{folder{name}}');
      assertUnauthorized(answer);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="espalier"');
      assert.equal(answer.headers.get('token-expired'), null);
    },
  },
  {
    title: 'answers 401 without `token-expired` to a wrong scheme or a malformed `Authorization` header',
    proves: ['5.1', '5.3', '7 authorized 401'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const wrongHeaders = [
        '',
        'Bearer',
        authToken,
        `Basic ${authToken}`,
        `Token ${authToken}`,
        `Bearer:${authToken}`,
        `Bearer\t${authToken}`,
        `Bearer  ${authToken}`,
        `Bearer${authToken}`,
        `Bearer "${authToken}"`,
        `Bearer ${authToken} ${authToken}`,
        `Bearer ${authToken},`,
        `Bearer token=${authToken}`,
      ];
      for (const authorization of wrongHeaders) {
        const answer = await testbed.postRaw('/graphql', body, { ...json, authorization });
        assertUnauthorized(answer);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.ok(!answer.text.includes(authToken));
      }
    },
  },
  {
    title: 'accepts the word `Bearer` in any letter case, one space and the AT',
    proves: ['5.1'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { ...json, authorization: `${scheme} ${authToken}` };
        assert.equal((await testbed.postRaw('/graphql', body, headers)).status, 200);
      }
    },
  },
  {
    title: 'answers 401 without `token-expired` to an invalid AT',
    proves: ['5.3', '7 authorized 401'],
    async run(testbed) {
      const { authToken, refreshToken } = await testbed.logIn();
      for (const token of ['rubbish', refreshToken, authToken.slice(1), authToken.slice(0, -1)]) {
        const answer = await testbed.query('{folder{name}}', token);
        assertUnauthorized(answer);
        assert.equal(answer.headers.get('token-expired'), null);
      }
    },
  },
  {
    title: 'accepts an AT for exactly 600 seconds, and then answers 401 with `token-expired: true`',
    proves: ['3 AT expires', '5.3', '5.4', '5.5', '7 authorized 401', '8 AT lifetime'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      testbed.clock.advanceSeconds(599);
      assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
      testbed.clock.advanceSeconds(1);
      const answer = await testbed.query('{folder{name}}', authToken);
      assertUnauthorized(answer);
      assert.equal(answer.headers.get('token-expired'), 'true');
      testbed.clock.advanceSeconds(365 * 86_400);
      assert.equal((await testbed.query('{folder{name}}', authToken)).headers.get('token-expired'), 'true');
    },
  },
  {
    title: 'answers 401 before it checks the body',
    proves: ['7 authorized 401'],
    async run(testbed) {
      assertUnauthorized(await testbed.postRaw('/graphql', 'rubbish', { 'content-type': 'text/plain' }));
      assertUnauthorized(await testbed.send('GET', '/graphql'));
    },
  },
];
