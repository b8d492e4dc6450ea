/** What is acknowledged is synced, whatever the server is set to; where that cannot be, the operator is told. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import type { Database, DatabaseOptions } from '../../server/src/database/database.ts';
import { openAsItIs } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { postgres, type TestDatabase } from '../support/databases.ts';

const setting = sql<object, { value: string }>`select current_setting('synchronous_commit') as value`;

describe(`durability on ${postgres.name}`, () => {
  let stored: TestDatabase;
  let database: Database | undefined;
  beforeEach(async () => void (stored = await postgres.create()));
  afterEach(async () => {
    await database?.close();
    database = undefined;
    await stored.remove();
  });

  const ask = async <Row extends pg.QueryResultRow>(question: string): Promise<Row[]> => {
    const client = new pg.Client(stored.url);
    await client.connect();
    try {
      return (await client.query<Row>(question)).rows;
    } finally {
      await client.end();
    }
  };
  const byDefault = (name: string, value: string) =>
    ask(`do $$ begin execute format('alter database %I set ${name} = ${value}', current_database()); end $$`);
  const open = async (options: DatabaseOptions = {}) => (database = await openAsItIs(stored.url, options));

  for (const poolMode of ['session', 'transaction'] as const) {
    for (const [given, kept] of Object.entries({
      off: 'on',
      on: 'on',
      local: 'local',
      remote_apply: 'remote_apply',
    })) {
      test(`commits with synchronous_commit = ${given} are made with ${kept}, in pool mode ${poolMode}`, async () => {
        await byDefault('synchronous_commit', given);
        const opened = await open({ poolMode });
        const commits = [
          opened.transaction((t) => t.get(setting, {})),
          opened.change((t) => t.get(setting, {})),
          opened.alone((t) => t.get(setting, {})),
        ];
        for (const found of await Promise.all(commits)) assert.equal(found!.value, kept);
      });
    }
  }

  test('who starts on a server that does not sync is told so, once', async () => {
    const told: string[] = [];
    await open({ tell: (severity, text) => void told.push(`${severity}: ${text}`) });
    const [row] = await ask<{ fsync: string; pages: string }>(
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages`,
    );
    const off = [row!.fsync === 'off' && 'fsync', row!.pages === 'off' && 'full_page_writes'].filter(Boolean);
    const expected = `warn: PostgreSQL runs with ${off.join(' and ')} off: a crash of its machine may lose or damage everything. Turn it on in postgresql.conf.`;
    assert.deepEqual(told, off.length > 0 ? [expected] : []);
  });

  for (const [code, says] of Object.entries({
    '53100': 'The disk of the database is full.',
    '25006': 'The database is read-only right now. Try again later.',
    '53300': 'The database takes no more connections right now. Try again later.',
    '42501': 'The server does not have permission to write to the database.',
    '53200': 'The database has run out of memory or of another resource.',
    '55P03': 'The database cannot be written right now. Try again later.',
    '58030': 'The disk of the database reports input/output errors.',
    XX001: 'The database is damaged, and must be restored from a backup.',
    XX002: 'The database is damaged, and must be restored from a backup.',
  })) {
    test(`what fails with ${code} is unavailable: ${says}`, async () => {
      const opened = await open();
      const failing = opened.transaction((t) =>
        t.define(`do $$ begin raise exception 'a secret of the server' using errcode = '${code}'; end $$`),
      );
      await assert.rejects(failing, (error) => {
        assert.ok(error instanceof Refusal, String(error));
        assert.deepEqual([error.code, error.message], ['UNAVAILABLE', says]);
        return true;
      });
    });
  }

  test('a database that is read-only for a while can be read meanwhile, and is written again afterwards', async () => {
    const opened = await open();
    await opened.transaction((t) => t.define('create table books (id text)'));
    const insert = sql`insert into books (id) values ('a')`;
    const count = sql<object, { count: number }>`select count(*) as count from books`;
    const cutOff = () =>
      ask(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    await byDefault('default_transaction_read_only', 'on');
    await cutOff();
    await assert.rejects(
      untilAnswered(() => opened.transaction((t) => t.run(insert, {}))),
      /read-only right now/,
    );
    assert.equal((await untilAnswered(() => opened.get(count, {})))!.count, 0);
    await ask(
      `set transaction read write; do $$ begin execute format('alter database %I reset all', current_database()); end $$`,
    );
    await cutOff();
    assert.equal(await untilAnswered(() => opened.transaction((t) => t.run(insert, {}))), 1);
  });
});

/** Connections that were cut off are noticed when they are used. */
async function untilAnswered<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!/cannot be used right now|may or may not/.test((error as Error).message)) throw error;
    }
  }
}
