/**
 * Backs up a busy server by command and by schedule, and restores each backup elsewhere. A backup must contain exactly the
 * changes of the journal up to one entry, including every change acknowledged before the backup began.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { findDamage } from '../../server/src/database/sqlite/backup.ts';
import { sqliteFilePath } from '../../server/src/database/open-database.ts';
import { withExistingDatabase } from '../copy/stored-tables.ts';
import { databaseFolder } from '../runner/database-folder.ts';
import { sqlite } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import type { Entry } from '../many-nodes/chaos/journal-replay.ts';
import { checkStoredState, readJournal, type StoredCluster } from '../many-nodes/chaos/stored-state.ts';
import { Tally } from '../many-nodes/chaos/tally.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Writers } from './writers.ts';

describe('backups under load on SQLite', () => {
  let folder: string;
  let tree: TreeTestbed;
  let writers: Writers;
  before(async () => {
    folder = mkdtempSync(join(databaseFolder(), 'espalier-load-'));
    tree = await TreeTestbed.start(sqlite, {
      database: databaseIn('source'),
      settings: { BACKUP_FOLDER: join(folder, 'backups') },
    });
    writers = new Writers(tree);
  });
  after(async () => {
    await tree.stop();
    rmSync(folder, { recursive: true });
  });

  const databaseIn = (name: string) => ({
    url: `sqlite:${join(folder, name, 'espalier.db')}`,
    remove: () => Promise.resolve(),
  });
  const espalier = (database: { url: string }, ...args: string[]) =>
    runEspalier(args, { environment: { ESPALIER_DATABASE_URL: database.url } });
  /** Makes a backup under load. Returns the changes acknowledged before it began, and the tokens of a session. */
  const backUpUnderLoad = async (make: () => Promise<void>) => {
    const cursors = await writers.waitForChanges(20);
    const tokens = await tree.server.logIn();
    await make();
    await writers.waitForChanges(20);
    return { acknowledged: cursors, tokens };
  };
  /** Restores a backup into a new folder. Returns the number of its last journal entry. */
  const restore = async (backup: string, database: { url: string }): Promise<number> => {
    const result = await espalier(database, 'restore', backup, '--json');
    assert.equal(result.code, 0, result.errors);
    return (JSON.parse(result.output) as { journalNumber: number }).journalNumber;
  };

  test('contain one consistent state, including every change acknowledged before they began', async () => {
    await writers.begin(4);
    const commandBackup = join(folder, 'by-command.db');
    const commandRun = await backUpUnderLoad(async () => {
      const { code, errors } = await espalier(tree.server.database, 'backup', commandBackup);
      assert.equal(code, 0, errors);
    });
    const scheduledRun = await backUpUnderLoad(() => tree.server.purge());
    const [scheduledName, ...more] = readdirSync(join(folder, 'backups'));
    assert.match(scheduledName!, /^espalier-2026-03-01T12-00-00Z\.db$/);
    assert.deepEqual(more, []);
    const restoreInUse = await espalier(tree.server.database, 'restore', commandBackup, '--replace');
    assert.match(
      restoreInUse.errors,
      /^espalier: A server or another program uses .*\. Stop every server that uses this file/,
    );
    assert.equal(restoreInUse.code, 1);
    await writers.end();

    const journal = await readJournal(storedAt(tree.server.database.url));
    for (const [name, backup, { acknowledged, tokens }] of [
      ['command', commandBackup, commandRun],
      ['schedule', join(folder, 'backups', scheduledName!), scheduledRun],
    ] as const) {
      const database = databaseIn(`restored from ${name}`);
      const head = await restore(backup, database);
      const entries = journal.slice(0, head);
      assert.deepEqual(await readJournal(storedAt(database.url)), entries, `the journal by ${name}`);
      assert.ok(head < journal.length, 'The writers made changes after the backup.');
      const missingCursors = acknowledged.filter(
        (cursor) => !entries.some((entry) => entry.cursor === cursor),
      );
      assert.deepEqual(missingCursors, [], `acknowledged before and missing by ${name}`);
      await compare(database.url, entries);
      await assertUsable(database, tokens);
    }
  });

  test('leave the source consistent with its own journal', async () => {
    const { url } = tree.server.database;
    await compare(url, await readJournal(storedAt(url)));
  });

  const assertUsable = async (database: ReturnType<typeof databaseIn>, tokens: LoginResponse) => {
    const restoredTree = await TreeTestbed.start(sqlite, { database, clock: tree.server.clock });
    try {
      await restoredTree.create('after the restore');
      assert.equal((await restoredTree.paths()).includes('after the restore'), true);
      assert.equal((await restoredTree.server.refresh(tokens)).status, 200);
    } finally {
      await restoredTree.stop();
    }
  };
});

function storedAt(url: string): StoredCluster {
  return {
    rows: (statement) =>
      withExistingDatabase(url, (database) => Promise.resolve(database.all(statement, {}))),
    checkDatabase: async () => assert.deepEqual(await findDamage(sqliteFilePath(url)!), []),
  };
}

async function compare(url: string, entries: readonly Entry[]): Promise<void> {
  const tally = new Tally((text) => assert.fail(text));
  await checkStoredState(storedAt(url), entries, tally);
}
