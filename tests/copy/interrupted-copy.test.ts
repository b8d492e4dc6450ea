/** However often a copy is killed, it goes on, and ends as one that was not; until then nobody can use it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../server/src/database/database.ts';
import { migrations } from '../../server/src/database/migrations.ts';
import { sql } from '../../server/src/database/statement.ts';
import { StartError } from '../../server/src/config/start-error.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { copyInto } from './copy-command.ts';
import { makeInstallation, settings, type Installation } from './full-installation.ts';
import { readEverything, withStored } from './stored-tables.ts';

const child = fileURLToPath(new URL('dying-copy.ts', import.meta.url));
const plantedCount = 2_500;
const countFolders = sql<object, { count: number }>`select count(*) as count from folders`;
const forgetStep = sql<{ number: number }>`delete from espalier_migrations where number = ${'number'}`;

for (const kind of databaseKinds) {
  /** From the other kind. */
  const from = databaseKinds.find((each) => each !== kind)!;

  describe(`a copy that is interrupted on ${kind.name}`, () => {
    let source: Installation;
    let destination: TestDatabase;
    before(async () => {
      source = await makeInstallation(from);
      const names = Array.from({ length: plantedCount }, (_, place) => `Planted ${place}`);
      await insertFolders(source.database.url, names);
    });
    beforeEach(async () => (destination = await kind.create()));
    afterEach(() => destination.remove());
    after(() => source.database.remove());

    /** Answers whether it was: if not, it had reached its end. */
    const killedAt = async (statement: number, text = '') => {
      const args = [source.database.url, destination.url, String(statement), text];
      const copying = spawn(process.execPath, ['--conditions=espalier-source', child, ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code, signal] = (await once(copying, 'exit')) as [number | null, string | null];
      assert.ok(code === 0 || signal === 'SIGKILL', `${code} ${signal}`);
      return signal === 'SIGKILL';
    };
    const foldersThere = () =>
      withStored(destination.url, async (database) => {
        const tables = await database.transaction((transaction) => transaction.tableNames());
        return tables.includes('folders') ? (await database.get(countFolders, {}))!.count : 0;
      });
    /** Each transaction begins with looking after the mark: this is the second of the folders. */
    const copyHalf = async () => {
      assert.ok(await killedAt(6, 'set value = value'));
      const there = await foldersThere();
      assert.ok(there > 0 && there < plantedCount, String(there));
    };
    const serve = () => Testbed.start(kind, { database: destination, clock: source.clock, settings });
    const isUnfinished = (error: unknown) =>
      error instanceof StartError && /unfinished copy/.test(error.message);
    const logInAtSource = async () => {
      const bed = await Testbed.start(from, { database: source.database, clock: source.clock, settings });
      await bed.logIn();
      await bed.stop();
    };
    const copying = (database: Database) => copyInto(destination.url, database);
    const copyWholly = async () => {
      const compared = await withStored(source.database.url, copying);
      assert.ok(compared.every(({ isSame }) => isSame));
      assert.deepEqual(await readEverything(destination.url), await readEverything(source.database.url));
    };

    test('killed again and again, each time later, goes on from where it was, and ends the same', async () => {
      const everything = await readEverything(source.database.url);
      let copied = 0;
      let kills = 0;
      for (let statement = 1; await killedAt(statement); statement = Math.ceil(statement * 1.5)) {
        kills++;
        const there = await foldersThere();
        assert.ok(there >= copied, `${there} after ${copied}`);
        copied = there;
        if (copied > 0) await assert.rejects(serve, isUnfinished);
      }
      assert.ok(kills > 5, String(kills));
      assert.deepEqual(await readEverything(destination.url), everything);
      const bed = await serve();
      const tree = new TreeTestbed(bed, source.pair.authToken);
      assert.deepEqual(await tree.search('Planted 2499'), ['Planted 2499']);
      assert.deepEqual(await tree.search('größe'), ['größe 9', 'Größe 10']);
      await bed.stop();
    });

    test('and whose source has changed since, in nothing but a session, starts over', async () => {
      await copyHalf();
      await logInAtSource();
      await copyWholly();
    });

    test('and was begun by an older program starts over', async () => {
      await copyHalf();
      await withStored(destination.url, (database) =>
        database.transaction((transaction) => transaction.run(forgetStep, { number: migrations.length })),
      );
      await copyWholly();
    });

    test('by a server that changes the source meanwhile stays unfinished, and is finished by the next run', async () => {
      const compared = await withStored(source.database.url, (database) => {
        let snapshots = 0;
        return copying({
          ...database,
          snapshot: async (work) => {
            if (++snapshots === 2) await logInAtSource();
            return database.snapshot(work);
          },
        });
      });
      const different = compared.filter(({ isSame }) => !isSame).map(({ name }) => name);
      assert.deepEqual(different, ['sessions']);
      await assert.rejects(serve, isUnfinished);
      await copyWholly();
    });

    test('by another that begins meanwhile leaves the rest to that one', async () => {
      const outcomes = await withStored(source.database.url, (database) =>
        Promise.allSettled([copying(database), copying(database)]),
      );
      const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      assert.equal(reasons.length, 1);
      assert.ok(reasons[0] instanceof StartError, String(reasons[0]));
      assert.match(reasons[0].message, /taken over|is not empty/);
      assert.deepEqual(await readEverything(destination.url), await readEverything(source.database.url));
      await (await serve()).stop();
    });
  });
}
