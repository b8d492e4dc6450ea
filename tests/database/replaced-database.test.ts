/**
 * A database that returns to an earlier state while a node uses it: the node still responds, can be stopped, and reports what
 * to do.
 */

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { LoginResponse, Problem } from '@espalier/contract';

import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { findFreePort } from '../support/free-port.ts';
import { GraphTestbed, mutation, type GraphBody } from '../support/graph-testbed.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { Scrape } from '../metrics/scrape.ts';
import { problemOf, Testbed } from '../support/testbed.ts';

const timeoutMs = 20_000;

describe('an older database file on SQLite', () => {
  let database: TestDatabase;
  let node: NodeProcess;
  let file: string;
  let metricsUrl: string;
  let admin: LoginResponse;
  beforeEach(async () => {
    database = await sqlite.create();
    file = database.url.slice('sqlite:'.length);
    const port = await findFreePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    node = await NodeProcess.start({ databaseUrl: database.url, settings: { METRICS_PORT: String(port) } });
    admin = (await send('/login', administrator)).json as LoginResponse;
  });
  afterEach(async () => {
    await node.kill();
    await database.remove();
  });

  async function send(path: string, body?: unknown, authToken?: string) {
    const answer = await fetch(node.url + path, {
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        ...(authToken !== undefined && { authorization: `Bearer ${authToken}` }),
      },
    });
    return { status: answer.status, json: await answer.json() };
  }

  const query = async (text: string, variables?: object) => {
    const { status, json } = await send('/graphql', { query: text, variables }, admin.authToken);
    return { status, ...(json as GraphBody<unknown>) };
  };

  /** Moves all commits from the WAL to the file. */
  function checkpoint(): void {
    const connection = new BetterSqlite(file);
    connection.pragma('wal_checkpoint(truncate)');
    connection.close();
  }

  /** Returns an older copy, after creating a newer state with a higher access number. */
  async function createOlderCopy(): Promise<string> {
    checkpoint();
    const olderCopy = `${file}.older`;
    copyFileSync(file, olderCopy);
    const input = { username: 'ann', password: 'correct horse battery staple' };
    const { errors } = await query(mutation('createUser', 'user{id}'), { input });
    assert.equal(errors, undefined, JSON.stringify(errors));
    // The server has read the newest state, but has cached no access for the new access number.
    const connection = new BetterSqlite(file);
    connection.exec('update journal_counter set access_number = access_number + 1');
    connection.close();
    checkpoint();
    return olderCopy;
  }

  const waitUntilNotReady = async () => {
    let problem: Problem | undefined;
    await eventually(async () => {
      const { status, json } = await send('/readyz?verbose');
      problem = json as Problem;
      return status === 503;
    }, 'it is not ready');
    return problem!;
  };

  test('makes the node not ready if it replaces the current file, until that file is back', async () => {
    const olderCopy = await createOlderCopy();
    renameSync(file, `${file}.away`);
    renameSync(olderCopy, file);
    const { status, errors } = await query('mutation{createFolder(input:{name:"New"}){folder{id}}}');
    assert.deepEqual([status, errors?.[0]?.extensions.code], [503, 'UNAVAILABLE']);
    const { detail, checks, reasons } = await waitUntilNotReady();
    assert.match(detail, /^The database file was moved, deleted or replaced\. Put it back/);
    assert.deepEqual([checks!['database'], checks!['writes']], ['failed', 'failed']);
    assert.equal(reasons!['database'], detail);
    assert.equal((await send('/livez')).status, 200);
    await node.waitForOutput('was moved, deleted or replaced while the server used it');
    renameSync(`${file}.away`, file);
    await eventually(async () => (await send('/readyz')).status === 200, 'it is ready again');
    const response = await query('mutation{createFolder(input:{name:"New"}){folder{id}}}');
    assert.equal(response.errors, undefined, JSON.stringify(response.errors));
    assert.ok(await node.stop());
  });

  test('makes the node not ready if it overwrites the current file', async () => {
    const olderCopy = await createOlderCopy();
    // This makes the write connection read the newest state and cache it.
    const head = (await Scrape.of(metricsUrl)).number('espalier_journal_head');
    assert.ok(head! > 0);
    writeFileSync(file, readFileSync(olderCopy), { flag: 'r+' });
    const { status } = await query('mutation{createFolder(input:{name:"New"}){folder{id}}}');
    assert.equal(status, 503);
    const { detail } = await waitUntilNotReady();
    assert.match(detail, /^The database is damaged\. Stop every server that uses it, restore a backup/);
    assert.equal((await send('/livez')).status, 200);
    await node.waitForOutput('is damaged: it was overwritten with an older copy while the server used it');
    assert.ok(await node.stop());
  });
});

describe('a node whose connections reach data of different age on PostgreSQL', () => {
  test('refuses mutations and is not ready until all connections reach the same data', async (t) => {
    const testbed = await Testbed.start(postgres);
    const { authToken } = await testbed.logIn();
    const graph = new GraphTestbed(testbed, authToken);
    const client = new pg.Client(testbed.database.url);
    await client.connect();
    t.after(async () => {
      await client.end();
      await testbed.stop();
    });
    const alterDatabase = (setting: string) =>
      client.query(`do $$ begin execute format('alter database %I ${setting}', current_database()); end $$`);
    /** Ends all connections except those for single statements. A connection that is not idle may be in a transaction. */
    const endTransactionConnections = () =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and (query ~* '(commit|rollback)$' or state <> 'idle')`);
    await graph.mutate('createFolder', { name: 'Old' });
    // New connections see an older counter than existing connections.
    await client.query('create schema older; create table older.journal_counter as table journal_counter');
    await alterDatabase('set search_path = older, public');
    await client.query('update journal_counter set access_number = access_number + 7, number = number + 1');
    await graph.query('{folder{name}}').catch(() => undefined);
    await client.query('update journal_counter set access_number = access_number + 7, number = number + 1');
    await endTransactionConnections();
    const create = () =>
      testbed.query(mutation('createFolder', 'folder{id}'), authToken, { input: { name: 'New' } });
    await eventually(async () => {
      const answer = await create();
      assert.equal(answer.status, 503, answer.text);
      return testbed.logLines.some((line) => line.includes('returned an older state than before'));
    }, 'the node detects the older state');
    // No check has run since then. This lock would delay a new check.
    await client.query('begin; lock table older.journal_counter in access exclusive mode');
    const answer = await testbed.send('GET', '/readyz');
    assert.equal(answer.status, 503, answer.text);
    assert.match(problemOf(answer).detail, /^Some database connections reach a server with older data\./);
    await client.query('rollback');
    await alterDatabase('reset all');
    await client.query('drop schema older cascade');
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    await eventually(async () => (await testbed.send('GET', '/readyz')).status === 200, 'it is ready again');
    await eventually(async () => (await create()).status === 200, 'changes succeed again');
  });
});
