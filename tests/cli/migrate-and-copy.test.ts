/** Output of `espalier migrate` and `espalier copy` for new, unfinished and finished databases. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { migrations } from '../../server/src/database/migrations.ts';
import { withExistingDatabase } from '../copy/stored-tables.ts';
import { databaseKinds, sqlite, type TestDatabase } from '../support/databases.ts';
import { runEspalier, type CommandOptions } from '../support/espalier-command.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

interface MigrationReport {
  readonly database: string;
  readonly isDryRun?: boolean;
  readonly steps: readonly { readonly number: number; readonly statements?: readonly string[] }[];
}

for (const kind of databaseKinds) {
  describe(`espalier migrate on ${kind.name}`, () => {
    let database: TestDatabase;
    beforeEach(async () => (database = await kind.create()));
    afterEach(() => database.remove());

    const run = (...args: string[]) =>
      runEspalier(['migrate', ...args], { environment: { ESPALIER_DATABASE_URL: database.url } });
    const runAsJson = async (...args: string[]) =>
      JSON.parse((await run('--json', ...args)).output) as MigrationReport;

    test('previews the steps for a new database, applies them, and then has nothing to do', async () => {
      const dryRun = await run('--dry-run');
      assert.equal(dryRun.code, 0, dryRun.errors);
      assert.match(dryRun.output, /create table settings/);
      if (kind === sqlite) {
        assert.match(
          dryRun.output,
          /^-- The database file \S+ does not exist yet\. A new database needs these steps:\n\n-- Step 1/,
        );
        assert.equal(existsSync(database.url.slice('sqlite:'.length)), false);
      }
      const plan = await runAsJson('--dry-run');
      assert.equal(plan.isDryRun, true);
      assert.equal(plan.steps.length, migrations.length);
      assert.ok(plan.steps[0]!.statements!.length > 0);
      const { steps, database: displayedUrl } = await runAsJson();
      assert.deepEqual(
        steps.map(({ number }) => number),
        migrations.map((_, index) => index + 1),
      );
      assert.ok(!URL.canParse(displayedUrl) || !new URL(displayedUrl).password);
      assert.match((await run()).output, /is already up to date\.\n$/);
      assert.equal((await run('--dry-run')).output, '-- Nothing to do: the database is up to date.\n');
      assert.deepEqual((await runAsJson()).steps, []);
    });

    test('reports an unfinished copy', async () => {
      await (await Testbed.start(kind, { database })).stop();
      await withExistingDatabase(database.url, (opened) =>
        opened.transaction((transaction) =>
          transaction.define(`insert into settings (name, value) values ('copying', 'x')`),
        ),
      );
      for (const args of [[], ['--dry-run']]) {
        const { code, output, errors } = await run(...args);
        assert.deepEqual({ code, output }, { code: 1, output: '' });
        assert.match(
          errors,
          /^espalier: The database contains an unfinished copy .* run the same 'espalier copy' command again/,
        );
      }
    });
  });
}

describe('espalier copy', () => {
  let folder: string;
  let from: string;
  let to: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-copy-'));
    from = `sqlite:${join(folder, 'from.db')}`;
    to = `sqlite:${join(folder, 'to.db')}`;
    const database = { url: from, remove: () => Promise.resolve() };
    await (await Testbed.start(sqlite, { database })).stop();
    await insertFolders(
      from,
      Array.from({ length: 4_000 }, (_, index) => `Folder ${index}`),
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  const run = (args: readonly string[], options?: CommandOptions) =>
    runEspalier(['copy', from, to, ...args], options);

  test('refuses a source that a server uses, and creates no destination', async () => {
    const database = await sqlite.create();
    const testbed = await Testbed.start(sqlite, { database });
    const destination = join(folder, 'refused.db');
    const { code, output, errors } = await runEspalier(['copy', database.url, `sqlite:${destination}`]);
    await testbed.stop();
    await database.remove();
    assert.deepEqual({ code, output }, { code: 1, output: '' });
    assert.match(
      errors,
      /^espalier: A server or another program uses \S+\. Stop every server that uses this file, and run the same command again\.\n$/,
    );
    assert.equal(existsSync(destination), false);
  });

  test('reports where an interrupted copy continues, and refuses a finished copy', async () => {
    assert.equal((await run([], { maxFileBytes: 1_500_000 })).code, 1);
    const { code, output, errors } = await run(['--json']);
    assert.equal(code, 0, errors);
    const { isSame, resumedFromRows, tables } = JSON.parse(output) as {
      isSame: boolean;
      resumedFromRows: number;
      tables: { name: string; source: { count: number }; isSame: boolean }[];
    };
    assert.equal(isSame, true);
    assert.ok(resumedFromRows > 0 && resumedFromRows < 4_000, String(resumedFromRows));
    assert.equal(tables.find(({ name }) => name === 'folders')!.source.count, 4_001);
    const interruptedRun = await run([]);
    assert.equal(interruptedRun.code, 1);
    assert.match(
      interruptedRun.errors,
      /^espalier: The destination already contains this installation\. .* the copy is complete\. .*\n$/,
    );
    rmSync(join(folder, 'to.db'));
    assert.equal((await run([], { maxFileBytes: 1_500_000 })).code, 1);
    const resumedRun = await run([]);
    assert.match(
      resumedRun.output,
      /^Continuing an interrupted copy: [\d,]+ of 4,[\d,]+ rows are already copied\.\nTable /,
    );
  });
});
