/** The file of an embedded database: its permissions, its sync to disk, and its checks for damage. */

import assert from 'node:assert/strict';
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { StartError } from '../../config/start-error.ts';
import { openDatabase } from '../open-database.ts';

let folder: string;
let file: string;
let logged: string[];
const log = (severity: string, text: string) => void logged.push(`${severity}: ${text}`);
const open = (path = file) => openDatabase(`sqlite:${path}`, { now: () => 0 }, { log });
const openAndClose = async (path = file) => (await open(path)).close();
const mode = (path: string) => statSync(path).mode & 0o777;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  file = join(folder, 'espalier.db');
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a new file', () => {
  test('is readable by its owner only, whatever the umask of the process', async () => {
    const before = process.umask(0);
    try {
      file = join(folder, 'new', 'deep', 'espalier.db');
      const database = await open();
      for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(mode(path), 0o600, path);
      for (const path of ['new', 'new/deep']) assert.equal(mode(join(folder, path)), 0o700, path);
      await database.close();
    } finally {
      process.umask(before);
    }
    assert.deepEqual(logged, []);
  });

  test('is synced to the disk with every folder that was created for it', async () => {
    const synced: string[] = [];
    const { fsyncSync } = fs;
    mock.method(fs, 'fsyncSync', (descriptor: number) => {
      synced.push(readlinkSync(`/proc/self/fd/${descriptor}`));
      fsyncSync(descriptor);
    });
    syncBuiltinESMExports();
    try {
      await openAndClose(join(folder, 'new', 'deep', 'espalier.db'));
      assert.deepEqual(synced, [join(folder, 'new', 'deep'), join(folder, 'new'), folder]);
      synced.length = 0;
      await openAndClose(join(folder, 'new', 'other.db'));
      assert.deepEqual(synced, [join(folder, 'new')]);
      synced.length = 0;
      await openAndClose(join(folder, 'new', 'other.db'));
      assert.deepEqual(synced, []);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
  });
});

describe('an existing file', () => {
  test('causes a warning if other users can read it, and keeps its mode', async () => {
    await openAndClose();
    chmodSync(file, 0o644);
    const database = await open();
    assert.equal(logged.length, 1);
    const logFiles = `${file}-wal ${file}-shm`;
    assert.ok(logged[0]!.startsWith('warn: Other users of this machine can read the database'), logged[0]);
    assert.ok(logged[0]!.endsWith(`Run: chmod 600 ${file} ${logFiles}`), logged[0]);
    for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(mode(path), 0o644, path);
    await database.close();
  });

  test('has its log next to the real file if a symbolic link leads to it', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real', 'espalier.db'), file);
    const database = await open();
    assert.deepEqual(readdirSync(join(folder, 'real')).sort(), [
      'espalier.db',
      'espalier.db-shm',
      'espalier.db-wal',
    ]);
    assert.equal(mode(join(folder, 'real', 'espalier.db')), 0o600);
    await database.close();
    assert.deepEqual(readdirSync(folder).sort(), ['espalier.db', 'real']);
  });
});

describe('openDatabase() after damage or a crash', () => {
  const pageSize = 4096;
  const write = (at: number, bytes: Uint8Array) => {
    const content = readFileSync(file);
    content.set(bytes, at);
    writeFileSync(file, content);
  };
  /** Runs SQL, and leaves the files as a crash does. */
  const runAndCrash = (path: string, text: string) => {
    const connection = new BetterSqlite(path);
    connection.pragma('wal_autocheckpoint = 0');
    connection.exec(text);
    for (const ending of ['', '-wal']) copyFileSync(path + ending, `${path}.kept${ending}`);
    connection.close();
    for (const ending of ['', '-wal']) fs.renameSync(`${path}.kept${ending}`, path + ending);
  };
  const createWithRows = async (path = file) => {
    await openAndClose(path);
    const connection = new BetterSqlite(path);
    const insert = connection.prepare('insert into settings values (?, ?)');
    for (let row = 0; row < 500; row++) insert.run(`name ${row}`, 'x'.repeat(200));
    connection.close();
  };

  const damages: Record<string, { damage: () => void | Promise<void>; message: RegExp }> = {
    'a file with overwritten pages': {
      damage: () => {
        const pages = statSync(file).size / pageSize;
        for (let page = 1; page < pages; page++) write(page * pageSize, Buffer.alloc(64, 0xa5));
      },
      message: /is damaged: /,
    },
    'a file with one overwritten page': {
      damage: () => write(statSync(file).size - 3 * pageSize, Buffer.alloc(pageSize, 0xa5)),
      message: /is damaged: /,
    },
    'a truncated file': {
      damage: () => truncateSync(file, 5 * pageSize),
      message: /is damaged: /,
    },
    'a file with a header of zeros': {
      damage: () => write(0, Buffer.alloc(pageSize)),
      message: /is damaged: file is not/,
    },
    'a file with an unreadable schema': {
      damage: () => {
        const connection = new BetterSqlite(file);
        connection.unsafeMode();
        connection.pragma('writable_schema = on');
        connection.exec(`update sqlite_schema set sql = 'create tabel users' where name = 'users'`);
        connection.close();
      },
      message: /is damaged: malformed database schema/,
    },
    'a file with the log of another database': {
      damage: async () => {
        const other = join(folder, 'other.db');
        await openAndClose(other);
        const groups = `with recursive n (i) as (select 1 union all select i + 1 from n where i < 500)
          insert into user_groups select 'group ' || i, 'name ' || i, 'key ' || i, 0 from n`;
        new BetterSqlite(other).exec(groups).close();
        runAndCrash(other, `update user_groups set created_at = 1`);
        copyFileSync(`${other}-wal`, `${file}-wal`);
      },
      message: /is damaged: /,
    },
    'an empty file with a log': {
      damage: () => {
        runAndCrash(file, `insert into settings values ('a', 'b')`);
        truncateSync(file, 0);
      },
      message: /is damaged: it is empty, but its write-ahead log is not/,
    },
  };

  for (const [name, { damage, message }] of Object.entries(damages)) {
    test(`refuses ${name}, and changes nothing`, async () => {
      await createWithRows();
      await damage();
      const content = () => [file, `${file}-wal`].map((each) => existsSync(each) && readFileSync(each));
      const before = content();
      await assert.rejects(open(), (error) => {
        assert.ok(error instanceof StartError, String(error));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        assert.match(
          error.message,
          /\(nothing was changed\)\. To restore it, stop every server that uses it, move /,
        );
        assert.match(error.message, /espalier\.db, espalier\.db-wal and espalier\.db-shm aside/);
        return true;
      });
      const [nowFile, nowLog] = content();
      assert.deepEqual(nowFile, before[0]);
      if (before[1]) assert.deepEqual(nowLog, before[1]);
    });
  }

  test('omits the incomplete transaction of a truncated log', async () => {
    await createWithRows();
    runAndCrash(file, `insert into settings values ('whole', ''); insert into settings values ('torn', '')`);
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100);
    await openAndClose();
    const connection = new BetterSqlite(file, { readonly: true });
    const found = connection
      .prepare(`select name from settings where value = '' order by name`)
      .pluck()
      .all();
    connection.close();
    assert.deepEqual(found, ['whole']);
  });

  test('opens a file whose first start was killed', async () => {
    const connection = new BetterSqlite(file);
    connection.pragma('application_id = 0x45535041');
    connection.exec('begin; create table half (x); insert into half values (zeroblob(100000))');
    for (const ending of ['', '-journal']) copyFileSync(file + ending, `${file}.kept${ending}`);
    connection.exec('rollback');
    connection.close();
    for (const ending of ['', '-journal']) fs.renameSync(`${file}.kept${ending}`, file + ending);
    await openAndClose();
  });
});
