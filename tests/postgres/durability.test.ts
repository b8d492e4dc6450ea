/**
 * Acknowledged changes are synced, whatever the settings of PostgreSQL are. If that is impossible, the node
 * logs a warning.
 */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import type { Database, DatabaseOptions } from '../../server/src/database/database.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { postgres, type TestDatabase } from '../support/databases.ts';

const selectSynchronousCommit = sql<
  object,
  { value: string }
>`select current_setting('synchronous_commit') as value`;

describe(`the database layer on ${postgres.name}`, () => {
  let testDatabase: TestDatabase;
  let openedDatabase: Database | undefined;
  beforeEach(async () => void (testDatabase = await postgres.create()));
  afterEach(async () => {
    await openedDatabase?.close();
    openedDatabase = undefined;
    await testDatabase.remove();
  });

  const query = async <Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> => {
    const client = new pg.Client(testDatabase.url);
    await client.connect();
    try {
      return (await client.query<Row>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const alterDatabase = (name: string, value: string) =>
    query(
      `do $$ begin execute format('alter database %I set ${name} = ${value}', current_database()); end $$`,
    );
  const open = async (options: DatabaseOptions = {}) =>
    (openedDatabase = await openWithoutMigrating(testDatabase.url, options));

  for (const poolMode of ['session', 'transaction'] as const) {
    for (const [configured, effective] of Object.entries({
      off: 'on',
      on: 'on',
      local: 'local',
      remote_apply: 'remote_apply',
    })) {
      test(`commits with synchronous_commit = ${effective} if PostgreSQL has ${configured}, in pool mode ${poolMode}`, async () => {
        await alterDatabase('synchronous_commit', configured);
        const database = await open({ poolMode });
        const commits = [
          database.transaction((t) => t.get(selectSynchronousCommit, {})),
          database.change((t) => t.get(selectSynchronousCommit, {})),
          database.exclusive((t) => t.get(selectSynchronousCommit, {})),
        ];
        for (const row of await Promise.all(commits)) assert.equal(row!.value, effective);
      });
    }
  }

  test('logs one warning if PostgreSQL does not sync commits to the disk', async () => {
    const warnings: string[] = [];
    await open({ log: (severity, text) => void warnings.push(`${severity}: ${text}`) });
    const [row] = await query<{ fsync: string; pages: string }>(
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages`,
    );
    const off = [row!.fsync === 'off' && 'fsync', row!.pages === 'off' && 'full_page_writes'].filter(Boolean);
    const expected = `warn: PostgreSQL runs with ${off.join(' and ')} off: a crash of its machine may lose or damage everything. Turn on ${off.join(' and ')} in postgresql.conf.`;
    assert.deepEqual(warnings, off.length > 0 ? [expected] : []);
  });

  for (const [code, message] of Object.entries({
    '53100': 'The disk of the database is full.',
    '25006': 'The database is read-only right now. Try again later.',
    '53300': 'The database accepts no more connections right now. Try again later.',
    '42501': 'Espalier does not have permission to write to the database.',
    '53200': 'The database has run out of memory or of another resource.',
    '55P03': 'The database cannot be written right now. Try again later.',
    '58030': 'The disk of the database reports input/output errors.',
    XX001: 'The database is damaged, and must be restored from a backup.',
    XX002: 'The database is damaged, and must be restored from a backup.',
  })) {
    test(`reports PostgreSQL error ${code} as UNAVAILABLE: ${message}`, async () => {
      const database = await open();
      const failing = database.transaction((t) =>
        t.define(`do $$ begin raise exception 'a secret of the server' using errcode = '${code}'; end $$`),
      );
      await assert.rejects(failing, (error) => {
        assert.ok(error instanceof Refusal, String(error));
        assert.deepEqual([error.code, error.message], ['UNAVAILABLE', message]);
        return true;
      });
    });
  }

  test('reads while the database is read-only, and writes again afterwards', async () => {
    const database = await open();
    await database.transaction((t) => t.define('create table books (id text)'));
    const insert = sql`insert into books (id) values ('a')`;
    const count = sql<object, { count: number }>`select count(*) as count from books`;
    const endConnections = () =>
      query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    await alterDatabase('default_transaction_read_only', 'on');
    await endConnections();
    await assert.rejects(
      retryUntilAnswered(() => database.transaction((t) => t.run(insert, {}))),
      /read-only right now/,
    );
    assert.equal((await retryUntilAnswered(() => database.get(count, {})))!.count, 0);
    await query(
      `set transaction read write; do $$ begin execute format('alter database %I reset all', current_database()); end $$`,
    );
    await endConnections();
    assert.equal(await retryUntilAnswered(() => database.transaction((t) => t.run(insert, {}))), 1);
  });
});

/** Retries, because the pool detects a terminated connection only when it uses it. */
async function retryUntilAnswered<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!/cannot be used right now|may or may not/.test((error as Error).message)) throw error;
    }
  }
}
