import assert from 'node:assert/strict';
import type { TestResponse } from '../support/testbed.ts';
import { graphQuery, rootNameQuery } from './graph-queries.ts';
import type { Scenario } from './scenario.ts';

interface GraphBody {
  data?: { folder: { name: string; folders: { edges: { node: { name: string } }[] } } };
  errors?: { message: string; extensions: { code: string } }[];
}

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ query: '{folder{name}}' });

function isUnauthorized(answer: TestResponse): void {
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get('www-authenticate')!, /^Bearer realm="espalier"/);
  assert.equal(answer.json<GraphBody>().errors![0]!.extensions.code, 'INVALID_AUTH_TOKEN');
  assert.equal(answer.json<GraphBody>().data, undefined);
}

export const graphScenarios: Scenario[] = [
  {
    title: 'a query of the root folder has the shape data.folder.name and holds nothing else',
    proves: ['4 POST /graphql', '2 GraphRequest.query', '2 Folder.name', '2 root', '4.3', '4 JSON'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const answer = await bed.query(rootNameQuery, authToken);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type')!, /^application\/json/);
      assert.deepEqual(answer.json(), { data: { folder: { name: 'Root' } } });
    },
  },
  {
    title: 'a query of the sub-folders returns data.folder.folders.edges, each with node.name',
    proves: ['4.3', '2 Folder.folders'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const answer = await bed.query(graphQuery(2), authToken);
      const edges = answer.json<GraphBody>().data!.folder.folders.edges;
      assert.deepEqual(
        edges.map(({ node }) => node.name),
        ['Archive', 'Departments', 'Places', 'Projects', 'Templates'],
      );
    },
  },
  {
    title: 'sub-folders have sub-folders, to any depth',
    proves: ['2 Folder.folders'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const answer = await bed.query(graphQuery(5), authToken);
      assert.match(answer.text, /"Harbour Campus".*"Building A".*"Floor 1"/s);
    },
  },
  {
    title: 'doubled slashes anywhere in the path are folded',
    proves: ['4.4'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      for (const path of ['//graphql', '///graphql', '//graphql?x=//']) {
        assert.equal((await bed.post(path, { query: '{folder{name}}' }, authToken)).status, 200);
      }
      assert.equal((await bed.post('/login//verify', { authToken })).status, 204);
    },
  },
  {
    title: 'without an Authorization header the graph answers 401 and only names the scheme',
    proves: ['5.3', '7 authorized 401', '4 POST /graphql'],
    async run(bed) {
      const answer = await bed.query('{folder{name}}');
      isUnauthorized(answer);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="espalier"');
      assert.equal(answer.headers.get('token-expired'), null);
    },
  },
  {
    title: 'a wrong scheme or a header of another form answers 401 without token-expired',
    proves: ['5.1', '5.3', '7 authorized 401'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const wrong = [
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
      for (const authorization of wrong) {
        const answer = await bed.postRaw('/graphql', body, { ...json, authorization });
        isUnauthorized(answer);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.ok(!answer.text.includes(authToken));
      }
    },
  },
  {
    title: 'the word Bearer, one whitespace and the AT are accepted, the word in any case',
    proves: ['5.1'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { ...json, authorization: `${scheme} ${authToken}` };
        assert.equal((await bed.postRaw('/graphql', body, headers)).status, 200);
      }
    },
  },
  {
    title: 'an invalid AT answers 401 without token-expired',
    proves: ['5.3', '7 authorized 401'],
    async run(bed) {
      const { authToken, refreshToken } = await bed.logIn();
      for (const token of ['rubbish', refreshToken, authToken.slice(1), authToken.slice(0, -1)]) {
        const answer = await bed.query('{folder{name}}', token);
        isUnauthorized(answer);
        assert.equal(answer.headers.get('token-expired'), null);
      }
    },
  },
  {
    title: 'an AT works for 600 seconds and not one more; then 401 says token-expired: true',
    proves: ['3 AT expires', '5.3', '5.4', '5.5', '7 authorized 401', '8 AT lifetime'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      bed.clock.advanceSeconds(599);
      assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
      bed.clock.advanceSeconds(1);
      const answer = await bed.query('{folder{name}}', authToken);
      isUnauthorized(answer);
      assert.equal(answer.headers.get('token-expired'), 'true');
      bed.clock.advanceSeconds(365 * 86_400);
      assert.equal((await bed.query('{folder{name}}', authToken)).headers.get('token-expired'), 'true');
    },
  },
  {
    title: 'the 401 comes before the body is judged',
    proves: ['7 authorized 401'],
    async run(bed) {
      isUnauthorized(await bed.postRaw('/graphql', 'rubbish', { 'content-type': 'text/plain' }));
      isUnauthorized(await bed.send('GET', '/graphql'));
    },
  },
];
