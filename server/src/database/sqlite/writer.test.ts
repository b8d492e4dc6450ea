import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import type { Database } from '../database.ts';
import { openSqlite } from './sqlite.ts';
import { sql } from '../statement.ts';

const insert = sql<{ id: string; shelf: string }>`
  insert into books (id, shelf) values (${'id'}, ${'shelf'})`;
const selectIds = sql<object, { id: string }>`select id from books order by id`;

describe('transactions that wait at the same time', () => {
  let folder: string;
  let database: Database;
  let other: BetterSqlite.Database;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    const file = join(folder, 'espalier.db');
    database = openSqlite(file, {});
    await database.exclusive((t) =>
      t.define('create table books (id text primary key, shelf text not null) strict'),
    );
    other = new BetterSqlite(file);
  });
  afterEach(async () => {
    other.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const add = (id: string, shelf = 'A') => database.transaction((t) => t.run(insert, { id, shelf }));
  const seenByOthers = () => other.prepare('select id from books order by id').pluck().all();

  test('share a commit, and settle only after it', async () => {
    const settled: string[] = [];
    let seen: unknown;
    const first = add('a').then(() => settled.push('a'));
    const second = add('b').then(() => settled.push('b'));
    await database.transaction(async (t) => {
      await t.run(insert, { id: 'c', shelf: 'A' });
      for (let round = 0; round < 3; round++) await setImmediate();
      seen = [seenByOthers(), await database.all(selectIds, {}), [...settled]];
    });
    await Promise.all([first, second]);
    assert.deepEqual(seen, [[], [], []]);
    assert.deepEqual(settled, ['a', 'b']);
    assert.deepEqual(seenByOthers(), ['a', 'b', 'c']);
  });

  test('fail without rolling back the writes of the others', async () => {
    const failing = (id: string) =>
      database.transaction(async (t) => {
        await t.run(insert, { id, shelf: 'A' });
        throw new Error(`not ${id}`);
      });
    const results = await Promise.allSettled([failing('a'), add('b'), failing('c'), add('d'), failing('e')]);
    const outcomes = results.map((each) => (each.status === 'rejected' ? String(each.reason) : each.value));
    assert.deepEqual(outcomes, ['Error: not a', 1, 'Error: not c', 1, 'Error: not e']);
    assert.deepEqual(seenByOthers(), ['b', 'd']);
  });

  test('see the writes of the transactions before them', async () => {
    const results = await Promise.allSettled([add('z'), add('a'), add('a')]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(seenByOthers(), ['a', 'z']);
  });

  test('succeed, except the one that fills the disk', async () => {
    await database.transaction((t) => t.define('pragma max_page_count = 10'));
    const results = await Promise.allSettled([add('a'), add('b', 'x'.repeat(100_000)), add('c')]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(seenByOthers(), ['a', 'c']);
  });

  test('do not wait for a long change', async () => {
    const first = add('a');
    let isFirstSettled = false;
    void first.then(() => (isFirstSettled = true));
    let seen: unknown;
    const long = database.change(
      async (t) => {
        await t.run(insert, { id: 'b', shelf: 'A' });
        await setImmediate();
        seen = [isFirstSettled, seenByOthers()];
      },
      { takesLong: true },
    );
    await Promise.all([first, long, add('c')]);
    assert.deepEqual(seen, [true, ['a']]);
    assert.deepEqual(seenByOthers(), ['a', 'b', 'c']);
  });
});
