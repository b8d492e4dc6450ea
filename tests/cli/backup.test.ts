/** `espalier backup` and `espalier restore` while a server writes to the database. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  closeSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { makeBackup } from '../../server/src/maintenance/backup/backup.ts';
import { migrations } from '../../server/src/database/migrations.ts';
import { postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { runEspalier, type CommandOptions } from '../support/espalier-command.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { withExistingDatabase } from '../copy/stored-tables.ts';
import { hasPseudoTerminal, runOnTerminal } from './pseudo-terminal.ts';

const isSkipped = hasPseudoTerminal
  ? false
  : 'the `script` command of util-linux, which creates a terminal, is missing';

const namesQuery = '{folder{folders{items{name}}}}';
type Names = { folder: { folders: { items: { name: string }[] } } };

describe('espalier backup and restore', () => {
  let folder: string;
  let database: TestDatabase;
  let testbed: Testbed | undefined;
  let graph: GraphTestbed;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-backup-'));
    database = { url: `sqlite:${join(folder, 'data', 'espalier.db')}`, remove: () => Promise.resolve() };
    await start();
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  const start = async () => {
    testbed = await Testbed.start(sqlite, { database });
    graph = new GraphTestbed(testbed, (await testbed.logIn()).authToken);
  };
  const stop = async () => {
    await testbed?.stop();
    testbed = undefined;
  };
  const inFolder = (name: string) => join(folder, name);
  const run = (args: readonly string[], options: CommandOptions = {}) =>
    runEspalier(args, { environment: { ESPALIER_DATABASE_URL: database.url }, ...options });
  const runAsJson = async (args: readonly string[]) => {
    const result = await run([...args, '--json']);
    assert.equal(result.code, 0, result.errors);
    assert.equal(result.errors, '');
    return JSON.parse(result.output) as Record<string, unknown>;
  };
  const assertRefused = async (args: readonly string[], expected: RegExp, options: CommandOptions = {}) => {
    const result = await run(args, options);
    assert.match(result.errors, expected);
    assert.match(result.errors, /^espalier: [^\n]+\n$/);
    assert.equal(result.output, '');
    assert.equal(result.code, 1);
  };
  const readNames = async () =>
    (await graph.query<Names>(namesQuery)).folder.folders.items.map(({ name }) => name).sort();

  test('back up one consistent state of a busy server and restore exactly that', async () => {
    await insertFolders(
      database.url,
      Array.from({ length: 4_000 }, (_, index) => `Old ${index}`),
    );
    const names: string[] = [];
    let isOver = false;
    const writes = (async () => {
      while (!isOver) {
        const name = `New ${String(names.length).padStart(5, '0')}`;
        await graph.mutate('createFolder', { name });
        names.push(name);
      }
    })();
    while (names.length === 0) await new Promise(setImmediate);
    const acknowledgedCount = names.length;
    const backup = await runAsJson(['backup', inFolder('one.db')]);
    isOver = true;
    await writes;
    assert.deepEqual(readdirSync(folder).sort(), ['data', 'one.db']);
    assert.equal(statSync(inFolder('one.db')).mode & 0o777, 0o600);
    assert.equal(backup['bytes'], statSync(inFolder('one.db')).size);
    await assertRefused(
      ['restore', inFolder('one.db'), '--replace'],
      /A server or another program uses .*\. Stop every server that uses this file/,
    );
    assert.equal((await readNames()).length, 4_000 + names.length);

    await stop();
    const restored = await runAsJson(['restore', inFolder('one.db'), '--replace']);
    assert.deepEqual(Object.keys(restored), [
      ...['file', 'before', 'givenTo', 'mayBeInUse', 'isOfOlderProgram', 'schema', 'folders', 'users'],
      ...['areKeysSealed', 'journalNumber', 'lastChangeAt'],
    ]);
    assert.equal(restored['folders'], backup['folders']);
    assert.equal(restored['journalNumber'], backup['journalNumber']);
    assert.equal(restored['mayBeInUse'], false);
    await start();
    const restoredNames = (await readNames()).filter((name) => name.startsWith('New'));
    assert.ok(
      restoredNames.length >= acknowledgedCount,
      'The backup contains every change acknowledged before it began.',
    );
    assert.deepEqual(restoredNames, names.slice(0, restoredNames.length));
    assert.equal(backup['folders'], 1 + 4_000 + restoredNames.length);
    const earlierFiles = readdirSync(inFolder('data')).filter((name) => name.includes('.before-restore-'));
    assert.equal(join(folder, 'data', earlierFiles[0]!), restored['before']);
    assert.equal(readdirSync(inFolder('data')).filter((name) => /held|unfinished/.test(name)).length, 0);
  });

  test('show their progress on a terminal', { skip: isSkipped }, async () => {
    const runWithProgress = async (args: string[], url: string) => {
      const { code, text } = await runOnTerminal(args, { ESPALIER_DATABASE_URL: url });
      assert.equal(code, 0, text);
      assert.match(text, /Copying \d+ % {2}[\d,]+ of [\d,]+/);
      assert.match(text, /Checking …/);
      return text;
    };
    assert.match(
      await runWithProgress(['backup', inFolder('one.db')], database.url),
      /one\.db contains 1 folder, 1 user, .*: \d+ kB in/,
    );
    const otherUrl = `sqlite:${inFolder('elsewhere.db')}`;
    assert.match(
      await runWithProgress(['restore', inFolder('one.db')], otherUrl),
      /elsewhere\.db is restored/,
    );
  });

  test('restore the sessions at the time of the backup, reject later ones, and send RESYNC for cursors of lost changes', async () => {
    const earlyTokens = await testbed!.logIn();
    await graph.mutate('createFolder', { name: 'before' });
    const { cursor: validCursor } = await graph.query<{ cursor: string }>('{cursor}');
    await runAsJson(['backup', inFolder('one.db')]);
    await testbed!.post('/logout', {}, earlyTokens.authToken);
    const lateTokens = await testbed!.logIn();
    await graph.mutate('createFolder', { name: 'lost' });
    const { cursor: lostCursor } = await graph.query<{ cursor: string }>('{cursor}');
    await stop();
    await runAsJson(['restore', inFolder('one.db'), '--replace']);
    await start();
    assert.equal((await testbed!.refresh(earlyTokens)).status, 200);
    assert.equal((await testbed!.refresh(lateTokens)).status, 401);
    // Make more changes than were lost, so that a new change has the journal number of the lost change.
    for (const name of ['a', 'b', 'c']) await graph.mutate('createFolder', { name });
    const changes = 'query($after: String){changes(after: $after){items{kind folder{name}}}}';
    const readChangesSince = async (after: string) =>
      (await testbed!.query(changes, graph.authToken, { after })).text;
    assert.match(await readChangesSince(validCursor), /"a".*"b".*"c"/);
    assert.doesNotMatch(await readChangesSince(validCursor), /RESYNC/);
    assert.match(await readChangesSince(lostCursor), /RESYNC/);
  });

  test('report whether the keys in the backup are sealed', async () => {
    const plainBackup = await run(['backup', inFolder('plain.db')]);
    assert.match(
      plainBackup.output,
      /\nProtect the file like a password: it contains the keys that sign tokens\.\n$/,
    );
    await stop();
    const url = `sqlite:${inFolder('sealed.db')}`;
    const settings = { MASTER_KEY: randomBytes(32).toString('base64') };
    const sealedDatabase = { url, remove: () => Promise.resolve() };
    testbed = await Testbed.start(sqlite, { database: sealedDatabase, settings });
    const sealedBackup = await run(['backup', inFolder('two.db'), '--database-url', url]);
    assert.match(
      sealedBackup.output,
      /the keys that sign tokens, sealed with the master key, which it does not contain\.\n$/,
    );
  });

  test('refuse an existing file unless forced, and never overwrite the database', async () => {
    writeFileSync(inFolder('taken'), 'mine');
    await assertRefused(['backup', inFolder('taken')], /taken already exists\. To replace it, use --force/);
    assert.equal(readFileSync(inFolder('taken'), 'utf8'), 'mine');
    await runAsJson(['backup', inFolder('taken'), '--force']);
    const file = join(folder, 'data', 'espalier.db');
    await assertRefused(['backup', file, '--force'], /is a database in use/);
    await assertRefused(['backup', folder, '--force'], /is not a file/);
    await assertRefused(['backup', '/dev/null', '--force'], /is not a file/);
    await assertRefused(['backup', inFolder('none/one.db')], /There is no folder .*none/);
    await assertRefused(['backup', '/proc/one.db'], /Cannot create a file in \/proc/);
    assert.deepEqual(readdirSync(folder).sort(), ['data', 'taken']);
  });

  test('leave no partial files after a full disk, a signal or a damaged database', async () => {
    await insertFolders(
      database.url,
      Array.from({ length: 3_000 }, (_, index) => `Folder ${index}`),
    );
    await assertRefused(
      ['backup', inFolder('one.db')],
      /Cannot write the backup to .*(full|disk I\/O error)\.\n/,
      {
        maxFileBytes: 300_000,
      },
    );
    const stopping = new AbortController();
    const from = join(folder, 'data', 'espalier.db');
    const signal = stopping.signal;
    const onPages = () => stopping.abort();
    await assert.rejects(makeBackup({ from, to: inFolder('one.db'), isReplacing: false, signal, onPages }), {
      name: 'AbortError',
    });
    await stop();
    const descriptor = openSync(from, 'r+');
    // The damage is within pages. Small files are checked before the copy, so the file must look large.
    for (let page = 20; page < 200; page++) writeSync(descriptor, Buffer.alloc(64, 0xaa), 0, 64, page * 4096);
    closeSync(descriptor);
    await assertRefused(['backup', inFolder('one.db')], /is damaged: /);
    assert.deepEqual(readdirSync(folder), ['data']);
  });

  test('restore only a complete backup of this or an older version', async () => {
    await runAsJson(['backup', inFolder('one.db')]);
    await stop();
    const before = readFileSync(join(folder, 'data', 'espalier.db'));
    const createChangedBackup = async (name: string, text: string) => {
      copyFileSync(inFolder('one.db'), inFolder(name));
      await withExistingDatabase(`sqlite:${inFolder(name)}`, (opened) =>
        opened.transaction((transaction) => transaction.define(text)),
      );
      return inFolder(name);
    };
    const insert = `insert into espalier_migrations (number, name, applied_at) values`;
    const newerBackup = await createChangedBackup(
      'newer.db',
      `${insert} (${migrations.length + 1}, 'later', 0)`,
    );
    const unfinishedBackup = await createChangedBackup(
      'unfinished.db',
      `insert into settings (name, value) values ('copying', 'x')`,
    );
    writeFileSync(inFolder('cut.db'), readFileSync(inFolder('one.db')).subarray(0, 100_000));
    writeFileSync(inFolder('text.db'), 'Dear diary,\n'.repeat(1_000));
    writeFileSync(inFolder('empty.db'), '');
    copyFileSync(inFolder('one.db'), inFolder('live.db'));
    writeFileSync(inFolder('live.db-wal'), 'something');
    for (const [file, expected] of [
      [newerBackup, /schema of a newer Espalier/],
      [unfinishedBackup, /an unfinished copy/],
      [inFolder('cut.db'), /It is damaged: .* Nothing was changed/],
      [inFolder('text.db'), /It is not a database\. Nothing was changed/],
      [inFolder('empty.db'), /It is empty/],
      [inFolder('live.db'), /espalier backup <file> --database-url sqlite:/],
      [inFolder('none.db'), /There is no file/],
      [inFolder('data'), /data is not a file\. Give the name of the backup file/],
      [join(folder, 'data', 'espalier.db'), /is the database itself/],
    ] as const) {
      await assertRefused(['restore', file, '--replace'], expected);
    }
    await assertRefused(['restore', inFolder('one.db')], / already exists\. To replace it, use --replace/);
    await assertRefused(['restore', inFolder('one.db'), '--replace'], /Cannot copy /, {
      maxFileBytes: 100_000,
    });
    assert.deepEqual(readFileSync(join(folder, 'data', 'espalier.db')), before);
    assert.deepEqual(readdirSync(inFolder('data')), ['espalier.db']);
  });

  test('replace a damaged database with its old WAL file, and create a missing database', async () => {
    await graph.mutate('createFolder', { name: 'kept' });
    await runAsJson(['backup', inFolder('one.db')]);
    await stop();
    const file = join(folder, 'data', 'espalier.db');
    writeFileSync(file, Buffer.alloc(100_000));
    writeFileSync(`${file}-wal`, 'of before');
    const restored = await runAsJson(['restore', inFolder('one.db'), '--replace']);
    assert.equal(restored['mayBeInUse'], true);
    assert.equal(existsSync(`${file}-wal`), false);
    assert.equal(readFileSync(`${restored['before'] as string}-wal`, 'utf8'), 'of before');
    await start();
    assert.deepEqual(await readNames(), ['kept']);
    await stop();

    database = { ...database, url: `sqlite:${join(folder, 'new', 'deep', 'espalier.db')}` };
    const { output, code } = await run(['restore', inFolder('one.db')]);
    assert.equal(code, 0);
    assert.match(
      output,
      /is restored, with 2 folders and 1 user; the last change was at [\d-]+ [\d:]+ UTC\.\n\nNow start/,
    );
    assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, 'new', 'deep', 'espalier.db')).mode & 0o777, 0o600);
    await start();
    assert.deepEqual(await readNames(), ['kept']);
  });
});

describe('backups of PostgreSQL', () => {
  let database: TestDatabase;
  before(async () => (database = await postgres.create()));
  after(() => database.remove());

  test('are refused with a reference to the tools of PostgreSQL', async () => {
    for (const [args, tool] of [
      [['backup', '/tmp/espalier-unused.db'], 'pg_dump'],
      [['restore', '/tmp/espalier-unused.db'], 'pg_restore'],
    ] as const) {
      const ended = await runEspalier(args, { environment: { ESPALIER_DATABASE_URL: database.url } });
      assert.equal(ended.code, 1);
      assert.match(
        ended.errors,
        new RegExp(`^espalier: .* Use ${tool}; run 'espalier docs postgresql' for details\\.\\n$`),
      );
    }
  });
});
