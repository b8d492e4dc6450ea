/** Copies that are impossible are refused with one line before anything changes. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { copy as copyCommand } from '../../server/src/cli/copy.ts';
import { migrations } from '../../server/src/database/migrations.ts';
import { StartError } from '../../server/src/config/start-error.ts';
import {
  databaseKinds,
  postgres,
  sqlite,
  type DatabaseKind,
  type TestDatabase,
} from '../support/databases.ts';
import { insertFolders, withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { parseCommand } from '../cli/parse-command.ts';
import { copyInto, runCopy } from './copy-command.ts';
import { readEverything, withExistingDatabase } from './stored-tables.ts';

async function copy(args: readonly string[]): Promise<void> {
  await copyCommand.run(parseCommand('copy', copyCommand, args) as never);
}

async function assertRefused(from: string, to: string): Promise<string> {
  let message = '';
  await assert.rejects(copy([from, to]), (error) => {
    assert.ok(error instanceof StartError, String(error));
    ({ message } = error);
    return true;
  });
  assert.doesNotMatch(message, /\n/);
  for (const url of [from, to]) {
    const password = URL.canParse(url) && new URL(url).password;
    assert.ok(!password || !message.includes(password), message);
  }
  return message;
}

async function startOnce(kind: DatabaseKind, database: TestDatabase): Promise<void> {
  await (await Testbed.start(kind, { database })).stop();
}

const doNothing = () => Promise.resolve();
const execute = (url: string, text: string) =>
  withExistingDatabase(url, (database) => database.transaction((transaction) => transaction.define(text)));

for (const kind of databaseKinds) {
  describe(`espalier copy with a database on ${kind.name}`, () => {
    let installation: TestDatabase;
    let other: TestDatabase;
    before(async () => {
      installation = await sqlite.create();
      await startOnce(sqlite, installation);
    });
    beforeEach(async () => (other = await kind.create()));
    afterEach(() => other.remove());
    after(() => installation.remove());

    const nextStep = migrations.length + 1;
    const insertNewerStep = `insert into espalier_migrations (number, name, applied_at) values (${nextStep}, 'later', 0)`;
    const insertCopyMark = `insert into settings (name, value) values ('copying', 'some run')`;
    const refuseAsSource = async () => {
      const newDatabase = await sqlite.create();
      const message = await assertRefused(other.url, newDatabase.url);
      assert.equal(existsSync(newDatabase.url.slice('sqlite:'.length)), false);
      await newDatabase.remove();
      return message;
    };
    const refuseAsDestination = () => assertRefused(installation.url, other.url);

    test('refuses a source on which no server was ever started', async () => {
      await withDatabase(other.url, doNothing);
      assert.match(await refuseAsSource(), /^The source contains no installation/);
    });

    test('refuses a source of another program', async () => {
      await withExistingDatabase(other.url, doNothing);
      await execute(other.url, 'create table recipes (id integer primary key)');
      assert.match(await refuseAsSource(), /^Cannot use the source\. .* another program/);
    });

    test('refuses a source with an older schema and leaves it unchanged', async () => {
      await startOnce(kind, other);
      await execute(other.url, `delete from espalier_migrations where number = ${migrations.length}`);
      const rowsBefore = await readEverything(other.url);
      assert.match(await refuseAsSource(), /^The source has an older schema .* Run 'espalier migrate'/);
      assert.deepEqual(await readEverything(other.url), rowsBefore);
    });

    test('refuses a source with a newer schema', async () => {
      await startOnce(kind, other);
      await execute(other.url, insertNewerStep);
      assert.match(await refuseAsSource(), /^Cannot use the source\. .* schema of a newer Espalier/);
    });

    test('refuses a source that is an unfinished copy itself', async () => {
      await startOnce(kind, other);
      await execute(other.url, insertCopyMark);
      assert.match(await refuseAsSource(), /^The source is an unfinished copy/);
    });

    test('refuses a destination with an installation and leaves it unchanged', async () => {
      await startOnce(kind, other);
      const rowsBefore = await readEverything(other.url);
      assert.match(
        await refuseAsDestination(),
        /^The destination already contains an installation\. .* Use a new database\.$/,
      );
      assert.deepEqual(await readEverything(other.url), rowsBefore);
    });

    test('refuses a destination with an unfinished copy of another installation', async () => {
      await startOnce(kind, other);
      await execute(other.url, insertCopyMark);
      const rowsBefore = await readEverything(other.url);
      assert.match(
        await refuseAsDestination(),
        /^The destination contains an unfinished copy of another installation/,
      );
      assert.deepEqual(await readEverything(other.url), rowsBefore);
    });

    test('refuses a destination of another program', async () => {
      await withExistingDatabase(other.url, doNothing);
      await execute(other.url, 'create table recipes (id integer primary key)');
      assert.match(await refuseAsDestination(), /^Cannot use the destination\. .* another program/);
    });

    test('refuses a destination with a newer schema', async () => {
      await withDatabase(other.url, doNothing);
      await execute(other.url, insertNewerStep);
      assert.match(
        await refuseAsDestination(),
        /^Cannot use the destination\. .* schema of a newer Espalier/,
      );
    });

    test('accepts a destination that has a schema but no installation yet', async () => {
      await withDatabase(other.url, doNothing);
      const compared = await withExistingDatabase(installation.url, (database) =>
        copyInto(other.url, database),
      );
      assert.ok(compared.every(({ isSame }) => isSame));
    });
  });
}

describe('espalier copy', () => {
  let folder: string;
  let source: string;
  let to: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-copy-'));
    source = urlOf('source.db');
    await startOnce(sqlite, { url: source, remove: doNothing });
    await insertFolders(
      source,
      Array.from({ length: 3_000 }, (_, index) => `Folder ${index}`),
    );
  });
  beforeEach(() => (to = urlOf('new.db')));
  afterEach(() => rmSync(join(folder, 'new.db'), { force: true }));
  after(() => rmSync(folder, { recursive: true }));

  const urlOf = (name: string) => `sqlite:${join(folder, name)}`;
  const isCreated = () => existsSync(join(folder, 'new.db'));

  test('creates no files if the source does not exist', async () => {
    writeFileSync(join(folder, 'empty.db'), '');
    for (const name of ['none.db', 'empty.db', 'source.db/none.db']) {
      const message = await assertRefused(urlOf(name), to);
      assert.equal(message, `There is no database file ${join(folder, name)}.`);
    }
    assert.equal(existsSync(join(folder, 'none.db')), false);
    assert.equal(isCreated(), false);
  });

  test('refuses to copy a database onto itself, even with a different URL', async () => {
    assert.match(await assertRefused(source, source), /^The source and the destination are the same URL/);
    assert.match(
      await assertRefused(source, `sqlite:${folder}/./source.db`),
      /^The destination already contains this installation\. Nothing was copied\./,
    );
  });

  test('explains why PostgreSQL cannot be reached', async () => {
    const database = await postgres.create();
    const other = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;
    for (const [wrongUrl, expectedMessage] of [
      [other({ password: 'wrong-password' }), /password authentication failed/],
      [other({ hostname: 'nowhere.invalid' }), /nowhere\.invalid/],
      [other({ port: '1' }), /ECONNREFUSED/],
      [other({ pathname: 'espalier_none' }), /"espalier_none" does not exist/],
    ] as const) {
      assert.match(await assertRefused(source, wrongUrl), expectedMessage);
      assert.match(await assertRefused(wrongUrl, to), expectedMessage);
    }
    assert.equal(isCreated(), false);
    await database.remove();
  });

  test('stops with one line and exit code 1 on a full disk, and continues once there is space', async () => {
    const { code, output, errors } = await runCopy([source, to], { maxFileBytes: 1_000_000 });
    assert.equal(code, 1);
    assert.equal(output, '');
    assert.match(
      errors,
      /^espalier: The database file .*new\.db cannot be \w+: .*(full|disk I\/O error)\.( The database has reached the file size limit of its process\.)?\n$/,
    );
    const secondRun = await runCopy([source, to]);
    assert.equal(secondRun.code, 0, secondRun.errors);
  });

  test('reads a URL from a file, so that no password is in the process list', async () => {
    const database = await postgres.create();
    writeFileSync(join(folder, 'to.txt'), `${database.url}\n`);
    const { code, output, errors } = await runCopy([source, '--to-file', join(folder, 'to.txt')]);
    assert.equal(code, 0, errors);
    assert.ok(!output.includes(new URL(database.url).password));
    assert.ok(
      output.includes(`\nNow set ESPALIER_DATABASE_URL_FILE to ${join(folder, 'to.txt')} and start`),
      output,
    );
    await database.remove();
    await assert.rejects(
      copy(['--from-file', join(folder, 'none.txt'), to]),
      /Cannot read .*none\.txt \(--from-file\): the file does not exist\./,
    );
  });

  test('exits with 2 and refers to the help if the arguments are wrong', async () => {
    const { code, output, errors } = await runCopy([source]);
    assert.equal(code, 2);
    assert.equal(output, '');
    assert.match(errors, /^espalier: Specify two URLs: [^\n]+ Run 'espalier copy --help' for details\.\n$/);
  });
});
