/** Whether the database can be used, is whole, and is of this program. */

import { resolve } from 'node:path';
import { formatSize } from '../../maintenance/backup/format-size.ts';
import { databaseOptionsFrom, type Settings } from '../../config/config.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { migrations, requireSchemaVersion } from '../../database/migrations.ts';
import { openWithoutMigrating } from '../../database/open-database.ts';
import { findDamage, openDatabaseFile } from '../../database/sqlite/backup.ts';
import { applicationId, sizeOf } from '../../database/sqlite/file.ts';
import { readSetting } from '../../database/installation-values.ts';
import { createKeyEncryption } from '../../sessions/key-encryption.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { redactPassword } from '../../config/url-password.ts';
import { createFileProgress } from '../file-progress.ts';
import { whyUnusable } from './database-file-check.ts';
import type { Examined } from './check-context.ts';
import { ok, problem, warning, type Finding, type Findings } from './finding.ts';

type Stored = Reader & Pick<Transaction, 'tableNames'>;

export function checkDatabase(examined: Examined): Findings {
  return examined.file === undefined ? checkPostgres(examined) : checkFile(examined, examined.file);
}

async function* checkFile({ settings, server }: Examined, given: string): Findings {
  const file = resolve(given);
  const unusable = await whyUnusable(file, server);
  if (unusable) {
    yield unusable;
    return;
  }
  const [finding] = await damageIn(file);
  if (finding) {
    yield problem(
      `${file} is damaged: ${finding}.`,
      'Stop every server on it, and run espalier restore <backup> --replace; docs/durability.md tells more.',
    );
    return;
  }
  yield ok(`${file} is whole (${formatSize(sizeOf(file))}, every page and index looked at).`);
  const stored = openDatabaseFile(file);
  try {
    if (stored.applicationId === applicationId) yield* checkContents(stored, settings);
    else yield problem(`${file} is of another program.`, 'Give Espalier a database of its own.');
  } finally {
    stored.close();
  }
}

async function damageIn(file: string): Promise<readonly string[]> {
  const progress = createFileProgress();
  progress.checking();
  try {
    return await findDamage(file);
  } finally {
    progress.end();
  }
}

async function* checkPostgres({ settings, postgres }: Examined): Findings {
  const facts = await postgres();
  const { encoding, displayVersion, isTooOld, isStandby, ctype, hasTrigrams } = facts;
  yield ok(`${redactPassword(settings.databaseUrl)} answers: PostgreSQL ${displayVersion}.`);
  if (isTooOld) yield problem(`PostgreSQL ${displayVersion} is too old.`, 'Take 13 or newer.');
  if (encoding !== 'UTF8') {
    yield problem(
      `The database has the encoding ${encoding}.`,
      `Create one with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (isStandby) yield problem('The server is a standby, which cannot be written.', 'Name the primary.');
  if (!hasTrigrams) {
    yield problem(
      'The extension pg_trgm cannot be had.',
      'Install the package …-contrib of your PostgreSQL.',
    );
  }
  if (ctype === 'C') {
    yield warning(
      "The database has lc_ctype 'C': a search for other letters than ASCII looks at every folder.",
      'Create one with a locale of UTF-8, and espalier copy to it.',
    );
  }
  yield* checkSyncing(facts);
  yield* checkConnections(facts, settings.databaseConnections * settings.workers);
  if (isTooOld || encoding !== 'UTF8' || isStandby) return;
  const database = await openWithoutMigrating(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    const found = await database.transaction(async (transaction) => {
      const findings: Finding[] = [];
      for await (const each of checkContents(transaction, settings)) findings.push(each);
      return findings;
    });
    yield* found;
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

type Facts = Awaited<ReturnType<Examined['postgres']>>;

function* checkSyncing({ fsync, fullPageWrites, synchronousCommit }: Facts): Iterable<Finding> {
  const off = [fsync === 'off' && 'fsync', fullPageWrites === 'off' && 'full_page_writes'].filter(Boolean);
  if (off.length > 0) {
    yield problem(
      `PostgreSQL runs with ${off.join(' and ')} off: a crash of its machine may lose or damage everything.`,
      'Turn it on in postgresql.conf.',
    );
  } else if (synchronousCommit === 'off') {
    yield ok('synchronous_commit is off; Espalier turns it on for what it writes.');
  } else {
    yield ok(`What is committed is on the disk (synchronous_commit is ${synchronousCommit ?? 'not told'}).`);
  }
}

function* checkConnections({ maxConnections, usedConnections }: Facts, wanted: number): Iterable<Finding> {
  if (maxConnections === null || usedConnections === null) return;
  const left = maxConnections - usedConnections;
  const text = `${left} of ${maxConnections} connections are left; a node takes up to ${wanted}.`;
  yield left >= wanted
    ? ok(text)
    : warning(
        text,
        'Lower ESPALIER_DATABASE_CONNECTIONS, or raise max_connections; unless the nodes run already.',
      );
}

async function* checkContents(stored: Stored, { masterKey, adminPassword }: Settings): Findings {
  const taken = await requireSchemaVersion(stored);
  if (taken === 0) {
    yield warning('It is empty.', 'The first start of the server prepares it.');
    return;
  }
  if (taken < migrations.length) {
    yield warning(
      `Its schema is older (${taken} of ${migrations.length} steps).`,
      'The next start of the server brings it up to date, or espalier migrate.',
    );
    return;
  }
  yield ok(`Its schema is up to date (${taken} steps).`);
  if (await readSetting(stored, 'copying')) {
    yield problem('It holds an unfinished copy of an installation.', 'Run the same espalier copy again.');
    return;
  }
  if (!(await readSetting(stored, 'issuer'))) {
    yield warning('No server was started on it yet.');
    return;
  }
  yield* checkKeys(stored, masterKey);
  // No warning: who starts containers sets it each time.
  if (adminPassword !== undefined) {
    yield ok(
      'The administrator was made at the first start: ESPALIER_ADMIN_PASSWORD is ignored since. A new password is set with espalier user reset-password.',
    );
  }
}

async function* checkKeys(stored: Reader, masterKey: string | undefined): Findings {
  const encryption = createKeyEncryption(masterKey);
  const rows = await readKeyRows(stored);
  // Throws what to do.
  for (const row of rows) encryption.decrypt(row);
  const isSealed = rows.every(({ sealedWith }) => sealedWith !== null);
  const which = rows.length === 1 ? 'The signing key' : `All ${rows.length} signing keys`;
  yield ok(`${which} can be opened${isSealed ? ' with the master key' : ''}.`);
}
