import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
// eslint-disable-next-line no-restricted-imports -- stands for another process on the same file
import BetterSqlite from 'better-sqlite3';
import { StartError } from '../start-error.ts';
import type { Database, Reader } from './database.ts';
import { migrations } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { openSqlite } from './sqlite.ts';
import { sql } from './statement.ts';

const insert = sql<{ id: string; shelf: string }>`
  insert into books (id, shelf) values (${'id'}, ${'shelf'})`;
const selectIds = sql<object, { id: string }>`select id from books order by id`;

let folder: string;
let file: string;
let database: Database;
const open = () => openDatabase(`sqlite:${file}`, { now: () => 0 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  file = join(folder, 'new', 'deep', 'espalier.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('an open database', () => {
  const told: string[] = [];
  beforeEach(async () => {
    told.length = 0;
    database = openSqlite(file, { onStatement: (text) => told.push(text) });
    await database.transaction((t) =>
      t.define('create table books (id text primary key, shelf text not null) strict'),
    );
  });
  afterEach(() => database.close());

  const add = (id: string, shelf = 'A') => database.transaction((t) => t.run(insert, { id, shelf }));
  const ids = async (reader: Reader = database) => (await reader.all(selectIds, {})).map(({ id }) => id);

  test('a statement that fails is a bug, not a refusal, and undoes its transaction', async () => {
    const twice = database.transaction(async (t) => {
      await t.run(insert, { id: 'a', shelf: 'A' });
      await t.run(insert, { id: 'a', shelf: 'A' });
    });
    await assert.rejects(twice, { name: 'SqliteError', code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
    assert.deepEqual(await ids(), []);
  });

  test('writers stand in one line, in the order of asking, even when they wait for something', async () => {
    const steps: string[] = [];
    const write = (name: string) =>
      database.transaction(async (t) => {
        steps.push(`${name} begins`);
        await t.run(insert, { id: name, shelf: 'A' });
        for (let turn = 0; turn < 3; turn++) await setImmediate();
        steps.push(`${name} ends`);
      });
    await Promise.all([write('a'), write('b'), write('c')]);
    const expected = ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    assert.deepEqual(steps, expected);
  });

  test('a writer waits for another process that holds the lock, and then succeeds', async () => {
    const other = new BetterSqlite(file);
    other.exec(`begin immediate; insert into books values ('theirs', 'A')`);
    let isDone = false;
    const waiting = add('ours').then(() => (isDone = true));
    await setImmediate();
    assert.equal(isDone, false);
    assert.deepEqual(await ids(), []);
    other.exec('commit');
    other.close();
    await waiting;
    assert.deepEqual(await ids(), ['ours', 'theirs']);
  });

  test('each statement is told as it is run, without its values', async () => {
    told.length = 0;
    await add('hunter2');
    assert.deepEqual(told, ['\n  insert into books (id, shelf) values (?, ?)']);
  });

  test('nobody else may read the files or enter the folders it made', () => {
    const mode = (path: string) => statSync(path).mode & 0o777;
    for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(mode(path), 0o600, path);
    assert.equal(mode(join(folder, 'new')), 0o700);
    assert.equal(mode(join(folder, 'new', 'deep')), 0o700);
  });
});

describe('opening', () => {
  const refusedWith = (message: RegExp) =>
    assert.rejects(open, (error) => error instanceof StartError && message.test(error.message));
  const foreign = (text: string) => new BetterSqlite(file).exec(text).close();

  beforeEach(() => (file = join(folder, 'espalier.db')));

  test('what was committed is there after closing and opening again', async () => {
    for (const expected of [0, 1]) {
      database = await open();
      const count = sql<object, { count: number }>`select count(*) as count from settings`;
      assert.equal((await database.get(count, {}))?.count, expected);
      await database.transaction((t) => t.define(`insert into settings values ('a${expected}', '')`));
      await database.close();
    }
  });

  test('two that open the same new file at once make one schema', async () => {
    const both = await Promise.all([open(), open()]);
    const taken = sql<object, { number: number }>`select number from espalier_migrations order by number`;
    for (const each of both) {
      assert.deepEqual(
        (await each.all(taken, {})).map(({ number }) => number),
        migrations.map((_, place) => place + 1),
      );
      await each.close();
    }
  });

  test('a file that is not a database stops the start and is left as it was', async () => {
    writeFileSync(file, 'Dear diary, '.repeat(500));
    const { size } = statSync(file);
    await refusedWith(/espalier\.db cannot be used: it is not a SQLite database\.$/);
    assert.equal(statSync(file).size, size);
  });

  test('a database of another program stops the start and keeps its tables', async () => {
    foreign('create table recipes (id integer primary key)');
    await refusedWith(/is of another program/);
    const other = new BetterSqlite(file);
    assert.deepEqual(other.prepare('select name from sqlite_schema').pluck().all(), ['recipes']);
    assert.equal(other.pragma('journal_mode', { simple: true }), 'delete');
    other.close();
  });

  test('a database that another process keeps locked stops the start with one line', async () => {
    await (await open()).close();
    const other = new BetterSqlite(file);
    other.exec('begin exclusive');
    await refusedWith(/cannot be prepared: database is locked/);
    other.close();
  });

  test('a database with a newer schema stops the start and tells both numbers', async () => {
    await (await open()).close();
    const next = migrations.length + 1;
    foreign(`insert into espalier_migrations values (${next}, 'from the future', 0)`);
    await refusedWith(
      new RegExp(`newer Espalier \\(schema ${next}; this program knows ${migrations.length}\\)`),
    );
  });

  test('a path where no file can be stops the start', async () => {
    file = folder;
    await refusedWith(/cannot be opened: EISDIR/);
    writeFileSync(join(folder, 'plain'), '');
    file = join(folder, 'plain', 'espalier.db');
    await refusedWith(/cannot be opened/);
  });

  test('a URL of an unknown kind stops the start', async () => {
    await assert.rejects(openDatabase('mysql://localhost/x', { now: () => 0 }), StartError);
  });
});
