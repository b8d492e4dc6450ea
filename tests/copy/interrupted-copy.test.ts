/**
 * A copy that is killed any number of times can be continued, with the same result as an uninterrupted copy. Until it is
 * complete, no server can use the destination.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../server/src/database/database.ts';
import { migrations } from '../../server/src/database/migrations.ts';
import { tables } from '../../server/src/maintenance/copy/tables.ts';
import { sql } from '../../server/src/database/statement.ts';
import { StartError } from '../../server/src/config/start-error.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { copyInto } from './copy-command.ts';
import { makeInstallation, settings, type Installation } from './full-installation.ts';
import { readEverything, withExistingDatabase } from './stored-tables.ts';

const child = fileURLToPath(new URL('dying-copy.ts', import.meta.url));
const folderCount = 2_500;
const countFolders = sql<object, { count: number }>`select count(*) as count from folders`;
const deleteStep = sql<{ number: number }>`delete from espalier_migrations where number = ${'number'}`;

for (const kind of databaseKinds) {
  /** The source is of the other kind. */
  const from = databaseKinds.find((each) => each !== kind)!;

  describe(`an interrupted copy on ${kind.name}`, () => {
    let source: Installation;
    let destination: TestDatabase;
    before(async () => {
      source = await makeInstallation(from);
      const names = Array.from({ length: folderCount }, (_, index) => `Planted ${index}`);
      await insertFolders(source.database.url, names);
    });
    beforeEach(async () => (destination = await kind.create()));
    afterEach(() => destination.remove());
    after(() => source.database.remove());

    /** Returns false if the copy finished before it reached the statement. */
    const killAt = async (statement: number, text = '') => {
      const args = [source.database.url, destination.url, String(statement), text];
      const childProcess = spawn(process.execPath, ['--conditions=espalier-source', child, ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code, signal] = (await once(childProcess, 'exit')) as [number | null, string | null];
      assert.ok(code === 0 || signal === 'SIGKILL', `${code} ${signal}`);
      return signal === 'SIGKILL';
    };
    const countCopiedFolders = () =>
      withExistingDatabase(destination.url, async (database) => {
        const names = await database.transaction((transaction) => transaction.tableNames());
        return names.includes('folders') ? (await database.get(countFolders, {}))!.count : 0;
      });
    const copyHalf = async () => {
      // Each transaction first updates the mark. The first one creates it, and each table before the folders needs one.
      const secondPageOfFolders = tables.findIndex(({ name }) => name === 'folders') + 1;
      assert.ok(await killAt(secondPageOfFolders, 'set value = value'));
      const copiedCount = await countCopiedFolders();
      assert.ok(copiedCount > 0 && copiedCount < folderCount, String(copiedCount));
    };
    const serve = () => Testbed.start(kind, { database: destination, clock: source.clock, settings });
    const isUnfinished = (error: unknown) =>
      error instanceof StartError && /unfinished copy/.test(error.message);
    const logInAtSource = async () => {
      const testbed = await Testbed.start(from, { database: source.database, clock: source.clock, settings });
      await testbed.logIn();
      await testbed.stop();
    };
    const copying = (database: Database) => copyInto(destination.url, database);
    const copyCompletely = async () => {
      const compared = await withExistingDatabase(source.database.url, copying);
      assert.ok(compared.every(({ isSame }) => isSame));
      assert.deepEqual(await readEverything(destination.url), await readEverything(source.database.url));
    };

    test('continues after each of many kills and ends with the same rows', async () => {
      const sourceRows = await readEverything(source.database.url);
      let copied = 0;
      let kills = 0;
      for (let statement = 1; await killAt(statement); statement = Math.ceil(statement * 1.5)) {
        kills++;
        const count = await countCopiedFolders();
        assert.ok(count >= copied, `${count} after ${copied}`);
        copied = count;
        if (copied > 0) await assert.rejects(serve, isUnfinished);
      }
      assert.ok(kills > 5, String(kills));
      assert.deepEqual(await readEverything(destination.url), sourceRows);
      const testbed = await serve();
      const tree = new TreeTestbed(testbed, source.tokens.authToken);
      assert.deepEqual(await tree.search('Planted 2499'), ['Planted 2499']);
      assert.deepEqual(await tree.search('größe'), ['größe 9', 'Größe 10']);
      await testbed.stop();
    });

    test('starts over if the source has changed, even if only a session is new', async () => {
      await copyHalf();
      await logInAtSource();
      await copyCompletely();
    });

    test('starts over if an older version of Espalier began it', async () => {
      await copyHalf();
      await withExistingDatabase(destination.url, (database) =>
        database.transaction((transaction) => transaction.run(deleteStep, { number: migrations.length })),
      );
      await copyCompletely();
    });

    test('stays unfinished if a server changes the source meanwhile, until the next run', async () => {
      const compared = await withExistingDatabase(source.database.url, (database) => {
        let snapshots = 0;
        return copying({
          ...database,
          snapshot: async (work) => {
            if (++snapshots === 2) await logInAtSource();
            return database.snapshot(work);
          },
        });
      });
      const differentTables = compared.filter(({ isSame }) => !isSame).map(({ name }) => name);
      assert.deepEqual(differentTables, ['sessions', 'sign_ins']);
      await assert.rejects(serve, isUnfinished);
      await copyCompletely();
    });

    test('lets a second copy that starts meanwhile finish', async () => {
      const outcomes = await withExistingDatabase(source.database.url, (database) =>
        Promise.allSettled([copying(database), copying(database)]),
      );
      const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      assert.equal(reasons.length, 1);
      assert.ok(reasons[0] instanceof StartError, String(reasons[0]));
      assert.match(reasons[0].message, /copy' process now writes|already contains an installation/);
      assert.deepEqual(await readEverything(destination.url), await readEverything(source.database.url));
      await (await serve()).stop();
    });
  });
}
