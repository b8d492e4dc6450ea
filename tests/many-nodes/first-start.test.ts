/** Nodes that start on an empty database at the same instant create one installation and all serve it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import pg from 'pg';
import { migrations } from '../../server/src/database/migrations.ts';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { withoutSyncWarning } from '../postgres/sync-warning.ts';
import { selectLength } from '../support/run-length.ts';
import { administrator, startNodes, stopNodes, type NodeProcess } from './node-process.ts';

const count = selectLength({ short: 5, long: 10 });

describe(`${count} nodes that start concurrently for the first time on ${postgres.name}`, () => {
  let database: TestDatabase;
  let nodes: NodeProcess[] = [];
  let rows: <Row extends pg.QueryResultRow>(statement: string) => Promise<Row[]>;
  let client: pg.Client;
  before(async () => {
    database = await postgres.create();
    // With more connections, all nodes together would exceed the limit of PostgreSQL.
    const settings = { DATABASE_CONNECTIONS: '6' };
    nodes = await startNodes(count, { databaseUrl: database.url, settings });
    client = new pg.Client(database.url);
    await client.connect();
    rows = async <Row extends pg.QueryResultRow>(statement: string) =>
      (await client.query<Row>(statement)).rows;
  });
  after(async () => {
    await client?.end();
    await stopNodes(nodes);
    await database.remove();
  });

  test('become ready without warnings, and one node reports that it created the installation', async () => {
    const creators = nodes.filter(({ log }) => log.includes('"msg":"created a new, empty installation"'));
    assert.equal(creators.length, 1);
    for (const { url, log } of nodes) {
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
      const lines = withoutSyncWarning(log).split('\n');
      assert.deepEqual(
        lines.filter(
          (line) =>
            !/^\{"level":(20|30),.*"msg":"(created a new, empty installation|started|request)"/.test(line),
        ),
        [''],
      );
    }
  });

  test('apply each schema migration once', async () => {
    assert.deepEqual(
      await rows('select number::int, name from espalier_migrations order by number'),
      migrations.map(({ name }, index) => ({ number: index + 1, name })),
    );
  });

  test('create exactly one administrator, key, issuer, root and journal counter', async () => {
    assert.equal(nodes.filter(({ output }) => output.includes('First start')).length, 1);
    const [counts] = await rows(`
      select (select count(*)::int from users) as users,
        (select count(*)::int from users where is_administrator = 1) as administrators,
        (select count(*)::int from signing_keys) as keys,
        (select count(*)::int from settings where name = 'issuer') as issuers,
        (select count(*)::int from folders) as folders,
        (select count(*)::int from folders where parent_id is null and detached_at is null) as roots,
        (select count(*)::int from journal_counter) as counters,
        (select array_agg(kind::text) from journal) as entries`);
    assert.deepEqual(counts, {
      users: 1,
      administrators: 1,
      keys: 1,
      issuers: 1,
      folders: 1,
      roots: 1,
      counters: 1,
      entries: ['CREATE_USER'],
    });
  });

  test('issue tokens that every node accepts, and serve the same tree', async () => {
    const post = (url: string, path: string, body: object, authToken?: string) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authToken && { authorization: `Bearer ${authToken}` }),
        },
        body: JSON.stringify(body),
      });
    const roots = new Set<string>();
    const issuers = new Set<unknown>();
    for (const { url } of nodes) {
      const login = await post(url, '/login', administrator);
      assert.equal(login.status, 200);
      const { authToken } = (await login.json()) as LoginResponse;
      issuers.add(claimsOf(authToken)['iss']);
      for (const other of nodes) {
        assert.equal((await post(other.url, '/login/verify', { authToken })).status, 204);
        const answer = await post(other.url, '/graphql', { query: '{folder{id name}}' }, authToken);
        assert.equal(answer.status, 200);
        roots.add(await answer.text());
      }
    }
    assert.equal(roots.size, 1, [...roots].join());
    assert.equal(issuers.size, 1, [...issuers].join());
  });
});

function claimsOf(authToken: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
}
