/**
 * A database that returns to an earlier state while a server uses it: no request hangs, and the server reports what to
 * do.
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
    const other = new BetterSqlite(file);
    other.pragma('wal_checkpoint(truncate)');
    other.close();
  }

  /** Returns an older copy, after creating a newer state with a higher access number. */
  async function prepare(): Promise<string> {
    checkpoint();
    const older = `${file}.older`;
    copyFileSync(file, older);
    const input = { username: 'ann', password: 'correct horse battery staple' };
    const { errors } = await query(mutation('createUser', 'user{id}'), { input });
    assert.equal(errors, undefined, JSON.stringify(errors));
    // The server has read the newest state, but has cached no access for the new access number.
    const other = new BetterSqlite(file);
    other.exec('update journal_counter set access_number = access_number + 1');
    other.close();
    checkpoint();
    return older;
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

  test('makes the node not ready if it replaces the original by a rename; the node does not use it, but responds and can be stopped', async () => {
    const older = await prepare();
    renameSync(file, `${file}.away`);
    renameSync(older, file);
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
    const again = await query('mutation{createFolder(input:{name:"New"}){folder{id}}}');
    assert.equal(again.errors, undefined, JSON.stringify(again.errors));
    assert.ok(await node.stop());
  });

  test('makes the node not ready if it overwrites the original; the node still responds and can be stopped', async () => {
    const older = await prepare();
    // This makes the write connection read the newest state and cache it.
    const head = (await Scrape.of(metricsUrl)).number('espalier_journal_head');
    assert.ok(head! > 0);
    writeFileSync(file, readFileSync(older), { flag: 'r+' });
    const { status } = await query('mutation{createFolder(input:{name:"New"}){folder{id}}}');
    assert.equal(status, 503);
    const { detail } = await waitUntilNotReady();
    assert.match(detail, /^The database is damaged\. Stop every server on it, restore a backup/);
    assert.equal((await send('/livez')).status, 200);
    await node.waitForOutput('is damaged: it was overwritten with an older copy while it was used');
    assert.ok(await node.stop());
  });
});

describe('connections to copies of different age on PostgreSQL', () => {
  test('refuse mutations and make the node not ready until they agree again', async (t) => {
    const testbed = await Testbed.start(postgres);
    const { authToken } = await testbed.logIn();
    const graph = new GraphTestbed(testbed, authToken);
    const other = new pg.Client(testbed.database.url);
    await other.connect();
    t.after(async () => {
      await other.end();
      await testbed.stop();
    });
    const alterDatabase = (setting: string) =>
      other.query(`do $$ begin execute format('alter database %I ${setting}', current_database()); end $$`);
    /** Ends all connections except those for single statements. */
    const endTransactionConnections = () =>
      other.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query ~* '(commit|rollback)$'`);
    await graph.mutate('createFolder', { name: 'Old' });
    // New connections see an older counter than existing connections.
    await other.query('create schema older; create table older.journal_counter as table journal_counter');
    await alterDatabase('set search_path = older, public');
    await other.query('update journal_counter set access_number = access_number + 7, number = number + 1');
    await graph.query('{folder{name}}').catch(() => undefined);
    await other.query('update journal_counter set access_number = access_number + 7, number = number + 1');
    await endTransactionConnections();
    const create = () =>
      testbed.query(mutation('createFolder', 'folder{id}'), authToken, { input: { name: 'New' } });
    await eventually(async () => {
      const answer = await create();
      assert.equal(answer.status, 503, answer.text);
      return testbed.logLines.some((line) => line.includes('returned an older state than before'));
    }, 'the node detects it');
    // No check has run since, and a new check would wait for this lock.
    await other.query('begin; lock table older.journal_counter in access exclusive mode');
    const answer = await testbed.send('GET', '/readyz');
    assert.equal(answer.status, 503, answer.text);
    assert.match(problemOf(answer).detail, /^Connections to the database lead to copies of different age\./);
    await other.query('rollback');
    await alterDatabase('reset all');
    await other.query('drop schema older cascade');
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    await eventually(async () => (await testbed.send('GET', '/readyz')).status === 200, 'it is ready again');
    await eventually(async () => (await create()).status === 200, 'changes succeed again');
  });
});
