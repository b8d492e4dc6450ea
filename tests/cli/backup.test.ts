/** `espalier backup` and `espalier restore`, beside a server that is written to. */

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
import { withStored } from '../copy/stored-tables.ts';
import { hasPseudoTerminal, runOnTerminal } from './pseudo-terminal.ts';

const isSkipped = hasPseudoTerminal ? false : 'there is no `script` of util-linux, which makes a terminal';

const namesQuery = '{folder{folders{items{name}}}}';
type Names = { folder: { folders: { items: { name: string }[] } } };

describe('espalier backup and restore', () => {
  let folder: string;
  let database: TestDatabase;
  let bed: Testbed | undefined;
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
    bed = await Testbed.start(sqlite, { database });
    graph = new GraphTestbed(bed, (await bed.logIn()).authToken);
  };
  const stop = async () => {
    await bed?.stop();
    bed = undefined;
  };
  const inFolder = (name: string) => join(folder, name);
  const run = (args: readonly string[], options: CommandOptions = {}) =>
    runEspalier(args, { environment: { ESPALIER_DATABASE_URL: database.url }, ...options });
  const done = async (args: readonly string[]) => {
    const ended = await run([...args, '--json']);
    assert.equal(ended.code, 0, ended.errors);
    assert.equal(ended.errors, '');
    return JSON.parse(ended.output) as Record<string, unknown>;
  };
  const refused = async (args: readonly string[], expected: RegExp, options: CommandOptions = {}) => {
    const ended = await run(args, options);
    assert.match(ended.errors, expected);
    assert.match(ended.errors, /^espalier: [^\n]+\n$/);
    assert.equal(ended.output, '');
    assert.equal(ended.code, 1);
  };
  const names = async () =>
    (await graph.query<Names>(namesQuery)).folder.folders.items.map(({ name }) => name).sort();

  test('a backup of a server that is written to is of one moment, and the restored one is that', async () => {
    await insertFolders(
      database.url,
      Array.from({ length: 4_000 }, (_, place) => `Old ${place}`),
    );
    const written: string[] = [];
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const name = `New ${String(written.length).padStart(5, '0')}`;
        await graph.mutate('createFolder', { name });
        written.push(name);
      }
    })();
    while (written.length === 0) await new Promise(setImmediate);
    const acknowledged = written.length;
    const made = await done(['backup', inFolder('one.db')]);
    isOver = true;
    await writing;
    assert.deepEqual(readdirSync(folder).sort(), ['data', 'one.db']);
    assert.equal(statSync(inFolder('one.db')).mode & 0o777, 0o600);
    assert.equal(made['bytes'], statSync(inFolder('one.db')).size);
    await refused(['restore', inFolder('one.db'), '--replace'], /is in use\. Stop every server/);
    assert.equal((await names()).length, 4_000 + written.length);

    await stop();
    const restored = await done(['restore', inFolder('one.db'), '--replace']);
    assert.equal(restored['folders'], made['folders']);
    assert.equal(restored['journalNumber'], made['journalNumber']);
    assert.equal(restored['mayBeInUse'], false);
    await start();
    const found = (await names()).filter((name) => name.startsWith('New'));
    assert.ok(found.length >= acknowledged, 'What was acknowledged before it began is in it.');
    assert.deepEqual(found, written.slice(0, found.length));
    assert.equal(made['folders'], 1 + 4_000 + found.length);
    const kept = readdirSync(inFolder('data')).filter((name) => name.includes('.before-restore-'));
    assert.equal(join(folder, 'data', kept[0]!), restored['before']);
    assert.equal(readdirSync(inFolder('data')).filter((name) => /held|unfinished/.test(name)).length, 0);
  });

  test('both show on a terminal how far they are', { skip: isSkipped }, async () => {
    const shown = async (args: string[], url: string) => {
      const { code, text } = await runOnTerminal(args, { ESPALIER_DATABASE_URL: url });
      assert.equal(code, 0, text);
      assert.match(text, /Copying \[#+\] 100 % {2}[\d,]+ of [\d,]+/);
      assert.match(text, /Checking …/);
      return text;
    };
    assert.match(
      await shown(['backup', inFolder('one.db')], database.url),
      /one\.db holds 1 folder, 1 user, .*: \d+ kB in/,
    );
    const elsewhere = `sqlite:${inFolder('elsewhere.db')}`;
    assert.match(await shown(['restore', inFolder('one.db')], elsewhere), /elsewhere\.db is restored/);
  });

  test('after a restore the sessions of then are good, later ones are not, and cursors of what is lost get RESYNC', async () => {
    const early = await bed!.logIn();
    await graph.mutate('createFolder', { name: 'before' });
    const { cursor: known } = await graph.query<{ cursor: string }>('{cursor}');
    await done(['backup', inFolder('one.db')]);
    await bed!.post('/logout', {}, early.authToken);
    const late = await bed!.logIn();
    await graph.mutate('createFolder', { name: 'lost' });
    const { cursor: lost } = await graph.query<{ cursor: string }>('{cursor}');
    await stop();
    await done(['restore', inFolder('one.db'), '--replace']);
    await start();
    assert.equal((await bed!.refresh(early)).status, 200);
    assert.equal((await bed!.refresh(late)).status, 401);
    // As many as were lost, and more: its number is in use again.
    for (const name of ['a', 'b', 'c']) await graph.mutate('createFolder', { name });
    const changes = 'query($after: String){changes(after: $after){items{kind folder{name}}}}';
    const since = async (after: string) => (await bed!.query(changes, graph.authToken, { after })).text;
    assert.match(await since(known), /"a".*"b".*"c"/);
    assert.doesNotMatch(await since(known), /RESYNC/);
    assert.match(await since(lost), /RESYNC/);
  });

  test('tells whether the keys in it are sealed', async () => {
    const plain = await run(['backup', inFolder('plain.db')]);
    assert.match(plain.output, /\nKeep it as you keep passwords: the keys that sign tokens are in it\.\n$/);
    await stop();
    const url = `sqlite:${inFolder('sealed.db')}`;
    const settings = { MASTER_KEY: randomBytes(32).toString('base64') };
    const other = { url, remove: () => Promise.resolve() };
    bed = await Testbed.start(sqlite, { database: other, settings });
    const sealed = await run(['backup', inFolder('two.db'), '--database-url', url]);
    assert.match(sealed.output, /are in it, sealed with the master key, which is not\.\n$/);
  });

  test('is refused where a file is, and replaces it if asked; the database itself is never overwritten', async () => {
    writeFileSync(inFolder('taken'), 'mine');
    await refused(['backup', inFolder('taken')], /There is a file .*taken already\. Give --force/);
    assert.equal(readFileSync(inFolder('taken'), 'utf8'), 'mine');
    await done(['backup', inFolder('taken'), '--force']);
    const file = join(folder, 'data', 'espalier.db');
    await refused(['backup', file, '--force'], /is a database in use/);
    await refused(['backup', folder, '--force'], /is not a file/);
    await refused(['backup', '/dev/null', '--force'], /is not a file/);
    await refused(['backup', inFolder('none/one.db')], /There is no folder .*none/);
    await refused(['backup', '/proc/one.db'], /No file can be made in \/proc/);
    assert.deepEqual(readdirSync(folder).sort(), ['data', 'taken']);
  });

  test('a full disk, a signal and a damaged database leave nothing behind', async () => {
    await insertFolders(
      database.url,
      Array.from({ length: 3_000 }, (_, place) => `Folder ${place}`),
    );
    await refused(['backup', inFolder('one.db')], /cannot be written to .*(full|disk I\/O error)\.\n/, {
      maxFileBytes: 300_000,
    });
    const stopping = new AbortController();
    const from = join(folder, 'data', 'espalier.db');
    const signal = stopping.signal;
    const onPages = () => stopping.abort();
    await assert.rejects(makeBackup({ from, to: inFolder('one.db'), isReplacing: false, signal, onPages }), {
      name: 'AbortError',
    });
    await stop();
    const descriptor = openSync(from, 'r+');
    // In the middle of pages: small files are looked through before, this one is made to look like a large one.
    for (let page = 20; page < 200; page++) writeSync(descriptor, Buffer.alloc(64, 0xaa), 0, 64, page * 4096);
    closeSync(descriptor);
    await refused(['backup', inFolder('one.db')], /is damaged: /);
    assert.deepEqual(readdirSync(folder), ['data']);
  });

  test('only a whole backup of this program, or an older one, is restored', async () => {
    await done(['backup', inFolder('one.db')]);
    await stop();
    const before = readFileSync(join(folder, 'data', 'espalier.db'));
    const changed = async (name: string, text: string) => {
      copyFileSync(inFolder('one.db'), inFolder(name));
      await withStored(`sqlite:${inFolder(name)}`, (opened) =>
        opened.transaction((transaction) => transaction.define(text)),
      );
      return inFolder(name);
    };
    const insert = `insert into espalier_migrations (number, name, applied_at) values`;
    const newer = await changed('newer.db', `${insert} (${migrations.length + 1}, 'later', 0)`);
    const unfinished = await changed(
      'unfinished.db',
      `insert into settings (name, value) values ('copying', 'x')`,
    );
    writeFileSync(inFolder('cut.db'), readFileSync(inFolder('one.db')).subarray(0, 100_000));
    writeFileSync(inFolder('text.db'), 'Dear diary,\n'.repeat(1_000));
    writeFileSync(inFolder('empty.db'), '');
    copyFileSync(inFolder('one.db'), inFolder('live.db'));
    writeFileSync(inFolder('live.db-wal'), 'something');
    for (const [file, expected] of [
      [newer, /of a newer Espalier/],
      [unfinished, /an unfinished copy/],
      [inFolder('cut.db'), /It is damaged: .* Nothing was changed/],
      [inFolder('text.db'), /It is not a database\. Nothing was changed/],
      [inFolder('empty.db'), /It is empty/],
      [inFolder('live.db'), /espalier backup <file> --database-url sqlite:/],
      [inFolder('none.db'), /There is no file/],
      [inFolder('data'), /data is not a file\. Name the backup itself/],
      [join(folder, 'data', 'espalier.db'), /is the database itself/],
    ] as const) {
      await refused(['restore', file, '--replace'], expected);
    }
    await refused(['restore', inFolder('one.db')], /There is a file .* Give --replace/);
    await refused(['restore', inFolder('one.db'), '--replace'], /cannot be copied/, {
      maxFileBytes: 100_000,
    });
    assert.deepEqual(readFileSync(join(folder, 'data', 'espalier.db')), before);
    assert.deepEqual(readdirSync(inFolder('data')), ['espalier.db']);
  });

  test('a damaged database, a log that is left, and no database at all: the backup takes their place', async () => {
    await graph.mutate('createFolder', { name: 'kept' });
    await done(['backup', inFolder('one.db')]);
    await stop();
    const file = join(folder, 'data', 'espalier.db');
    writeFileSync(file, Buffer.alloc(100_000));
    writeFileSync(`${file}-wal`, 'of before');
    const restored = await done(['restore', inFolder('one.db'), '--replace']);
    assert.equal(restored['mayBeInUse'], true);
    assert.equal(existsSync(`${file}-wal`), false);
    assert.equal(readFileSync(`${restored['before'] as string}-wal`, 'utf8'), 'of before');
    await start();
    assert.deepEqual(await names(), ['kept']);
    await stop();

    database = { ...database, url: `sqlite:${join(folder, 'new', 'deep', 'espalier.db')}` };
    const { output, code } = await run(['restore', inFolder('one.db')]);
    assert.equal(code, 0);
    assert.match(output, /is restored, with 2 folders and 1 user; the last change is of \S+Z\.\n\nNow start/);
    assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, 'new', 'deep', 'espalier.db')).mode & 0o777, 0o600);
    await start();
    assert.deepEqual(await names(), ['kept']);
  });
});

describe('backups of a PostgreSQL', () => {
  let database: TestDatabase;
  before(async () => (database = await postgres.create()));
  after(() => database.remove());

  test('are left to its own tools', async () => {
    for (const [args, tool] of [
      [['backup', '/tmp/espalier-unused.db'], 'pg_dump'],
      [['restore', '/tmp/espalier-unused.db'], 'pg_restore'],
    ] as const) {
      const ended = await runEspalier(args, { environment: { ESPALIER_DATABASE_URL: database.url } });
      assert.equal(ended.code, 1);
      assert.match(
        ended.errors,
        new RegExp(`^espalier: .* use ${tool}, as docs/deployment.md#backup shows\\.\\n$`),
      );
    }
  });
});
