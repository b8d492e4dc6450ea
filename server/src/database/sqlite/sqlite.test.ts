import assert from 'node:assert/strict';
import {
  closeSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { withWriteLimit } from '../../../../tests/support/write-limit.ts';
import { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import type { Database, Reader } from '../database.ts';
import { migrations } from '../migrations.ts';
import { openDatabase } from '../open-database.ts';
import { openSqlite } from './sqlite.ts';
import { sql, type Statement } from '../statement.ts';

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
  const statements: string[] = [];
  const logged: string[] = [];
  beforeEach(async () => {
    statements.length = 0;
    logged.length = 0;
    database = openSqlite(file, {
      onStatement: (text) => statements.push(text),
      log: (severity, text) => logged.push(`${severity}: ${text}`),
    });
    await database.transaction((t) =>
      t.define('create table books (id text primary key, shelf text not null) strict'),
    );
  });
  afterEach(() => database.close());

  const add = (id: string, shelf = 'A') => database.transaction((t) => t.run(insert, { id, shelf }));
  const ids = async (reader: Reader = database) => (await reader.all(selectIds, {})).map(({ id }) => id);

  test('passes on the error of a failed statement, and rolls back the transaction', async () => {
    const duplicateInsert = database.transaction(async (t) => {
      await t.run(insert, { id: 'a', shelf: 'A' });
      await t.run(insert, { id: 'a', shelf: 'A' });
    });
    await assert.rejects(duplicateInsert, { name: 'SqliteError', code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
    assert.deepEqual(await ids(), []);
  });

  test('runs transactions in the order of their requests, even if one waits', async () => {
    const steps: string[] = [];
    const write = (name: string) =>
      database.transaction(async (t) => {
        steps.push(`${name} begins`);
        await t.run(insert, { id: name, shelf: 'A' });
        for (let round = 0; round < 3; round++) await setImmediate();
        steps.push(`${name} ends`);
      });
    await Promise.all([write('a'), write('b'), write('c')]);
    const expected = ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    assert.deepEqual(steps, expected);
  });

  test('waits for another process that holds the lock, and then writes', async () => {
    const other = new BetterSqlite(file);
    other.exec(`begin immediate; insert into books values ('theirs', 'A')`);
    let isDone = false;
    const pendingWrite = add('ours').then(() => (isDone = true));
    await setImmediate();
    assert.equal(isDone, false);
    assert.deepEqual(await ids(), []);
    other.exec('commit');
    other.close();
    await pendingWrite;
    assert.deepEqual(await ids(), ['ours', 'theirs']);
  });

  test('passes the text of each statement to `onStatement()`, without its values', async () => {
    statements.length = 0;
    await add('hunter2');
    assert.deepEqual(statements, ['\n  insert into books (id, shelf) values (?, ?)']);
  });

  test('syncs the log with each commit before it returns', async () => {
    const setting = (name: string) => ({ parts: [`pragma ${name}`] }) as Statement<object, object>;
    await database.transaction(async (t) => {
      assert.deepEqual(await t.get(setting('journal_mode'), {}), { journal_mode: 'wal' });
      assert.deepEqual(await t.get(setting('synchronous'), {}), { synchronous: 2 });
    });
  });

  const large = 'x'.repeat(100_000);
  const isUnavailable = (message: string) => (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, 'UNAVAILABLE');
    assert.equal(error.message, message);
    return true;
  };

  test('rolls back a transaction that fills the disk, reports the reason, and recovers', async () => {
    await add('before');
    await database.transaction((t) => t.define('pragma max_page_count = 10'));
    const largeWrite = database.transaction(async (t) => {
      await t.run(insert, { id: 'small', shelf: 'A' });
      await t.run(insert, { id: 'large', shelf: large });
    });
    await assert.rejects(largeWrite, isUnavailable('The disk of the database is full.'));
    assert.deepEqual(await ids(), ['before']);
    await database.transaction((t) => t.define('pragma max_page_count = 1000000'));
    await add('large', large);
    assert.deepEqual(await ids(), ['before', 'large']);
  });

  test('reports a disk that becomes read-only, and recovers', async () => {
    const readOnlyWrite = database.transaction(async (t) => {
      await t.run(insert, { id: 'before', shelf: 'A' });
      await t.define('pragma query_only = on');
      try {
        await t.run(insert, { id: 'during', shelf: 'A' });
      } finally {
        await t.define('pragma query_only = off');
      }
    });
    await assert.rejects(
      readOnlyWrite,
      isUnavailable('The database is read-only right now. Try again later.'),
    );
    assert.deepEqual(await ids(), []);
    await add('a');
    assert.deepEqual(await ids(), ['a']);
  });

  test('keeps a commit even if there is no room to move it out of the log', async () => {
    await database.transaction((t) => t.define('pragma wal_autocheckpoint = 1'));
    await add('a', large);
    const { size } = statSync(file);
    assert.ok(size > large.length);
    const log = `${file}-wal`;
    await withWriteLimit(size, async () => {
      // Each row needs little space in the log, but would make the file grow.
      for (let index = 0; index < 5; index++) await add(`b${index}`, 'y'.repeat(8_000));
    });
    assert.equal(statSync(file).size, size);
    assert.ok(statSync(log).size > 5 * 8_000);
    assert.equal((await ids()).length, 6);
    await add('c');
    assert.ok(statSync(file).size > size);
    assert.equal((await ids()).length, 7);
  });

  test('logs damage once, refuses writes, and still reads undamaged data', async () => {
    for (let index = 100; index < 400; index++) await add(`book ${index}`, 'x'.repeat(1_000));
    const other = new BetterSqlite(file);
    other.pragma('wal_checkpoint(truncate)');
    other.close();
    const descriptor = openSync(file, 'r+');
    const middle = Math.floor(statSync(file).size / 4096 / 2);
    writeSync(descriptor, Buffer.alloc(4096 * 4, 0xa5), 0, 4096 * 4, middle * 4096);
    closeSync(descriptor);

    const damaged = 'The database is damaged. Nothing is written until a backup is restored.';
    const everything = sql<object, { shelf: string }>`select shelf from books`;
    assert.throws(() => database.all(everything, {}), isUnavailable(damaged));
    assert.throws(() => database.all(everything, {}), isUnavailable(damaged));
    await assert.rejects(add('new'), isUnavailable(damaged));
    await assert.rejects(
      database.change(() => undefined),
      isUnavailable(damaged),
    );
    const first = sql<object, { id: string }>`select id from books where id = 'book 100'`;
    assert.deepEqual(await database.get(first, {}), { id: 'book 100' });
    assert.equal(logged.length, 1);
    assert.match(
      logged[0]!,
      /^error: The database file \S+ is damaged: database disk image is malformed\. To/,
    );
  });

  for (const ending of ['', '-wal']) {
    test(`writes nothing after espalier.db${ending} was moved`, async () => {
      await add('a');
      renameSync(file + ending, `${file}.away`);
      const moved = 'The database cannot be written right now. Try again later.';
      const fault = `The file ${file}${ending} was moved, deleted or replaced while the server used it. Nothing is written until the file is back. Put it back, and the server continues. Do not stop or restart the server before that: a start without the file creates an empty database, and only this process still has the content of a deleted file. Run 'espalier docs durability' for the steps.`;
      await assert.rejects(add('b'), isUnavailable(moved));
      writeFileSync(file + ending, '');
      await assert.rejects(add('c'), isUnavailable(moved));
      assert.deepEqual(await ids(), ['a']);
      assert.equal(database.findFault()?.detail, fault);
      assert.deepEqual(logged, [`error: ${fault}`]);
      renameSync(`${file}.away`, file + ending);
      await add('d');
      assert.equal(database.findFault(), undefined);
      assert.deepEqual(logged, [
        `error: ${fault}`,
        `info: The file ${file}${ending} is back in its place. Changes are written again.`,
      ]);
      assert.deepEqual(await ids(), ['a', 'd']);
    });
  }
});

describe('openDatabase()', () => {
  const assertRefused = (message: RegExp) =>
    assert.rejects(open, (error) => error instanceof StartError && message.test(error.message));
  const runOutside = (text: string) => new BetterSqlite(file).exec(text).close();

  beforeEach(() => (file = join(folder, 'espalier.db')));

  test('reads the data that was committed before a close', async () => {
    for (const expected of [0, 1]) {
      database = await open();
      const count = sql<object, { count: number }>`select count(*) as count from settings`;
      assert.equal((await database.get(count, {}))?.count, expected);
      await database.transaction((t) => t.define(`insert into settings values ('a${expected}', '')`));
      await database.close();
    }
  });

  test('runs each migration once if a new file is opened twice at the same time', async () => {
    const both = await Promise.all([open(), open()]);
    const recorded = sql<object, { number: number }>`select number from espalier_migrations order by number`;
    for (const each of both) {
      assert.deepEqual(
        (await each.all(recorded, {})).map(({ number }) => number),
        migrations.map((_, index) => index + 1),
      );
      await each.close();
    }
  });

  test('refuses a file that is not a database, and leaves it unchanged', async () => {
    writeFileSync(file, 'Dear diary, '.repeat(500));
    const { size } = statSync(file);
    await assertRefused(/espalier\.db cannot be used: it is not a SQLite database\.$/);
    assert.equal(statSync(file).size, size);
  });

  test('refuses a database of another program, and keeps its tables', async () => {
    runOutside('create table recipes (id integer primary key)');
    await assertRefused(/belongs to another program/);
    const other = new BetterSqlite(file);
    assert.deepEqual(other.prepare('select name from sqlite_schema').pluck().all(), ['recipes']);
    assert.equal(other.pragma('journal_mode', { simple: true }), 'delete');
    other.close();
  });

  test('refuses a database that another process has locked', async () => {
    await (await open()).close();
    const other = new BetterSqlite(file);
    other.exec('begin exclusive');
    await assertRefused(/cannot be prepared: database is locked/);
    other.close();
  });

  test('refuses a newer schema with both version numbers in the error', async () => {
    await (await open()).close();
    const next = migrations.length + 1;
    runOutside(`insert into espalier_migrations values (${next}, 'from the future', 0)`);
    await assertRefused(
      new RegExp(`newer Espalier \\(schema ${next}; this program has ${migrations.length}\\)`),
    );
  });

  test('refuses a path where no file can be created', async () => {
    file = folder;
    await assertRefused(/^Cannot open the database file .*: it is a folder\.$/);
    writeFileSync(join(folder, 'plain'), '');
    file = join(folder, 'plain', 'espalier.db');
    await assertRefused(/^Cannot open the database file/);
  });

  test('refuses a URL with an unknown scheme', async () => {
    await assert.rejects(openDatabase('mysql://localhost/x', { now: () => 0 }), StartError);
  });
});
