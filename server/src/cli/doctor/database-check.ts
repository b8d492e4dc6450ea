/** Checks that the database can be used, is not damaged, and belongs to this program. */

import { resolve } from 'node:path';
import { formatSize } from '../../maintenance/backup/backup-files.ts';
import { databaseOptionsFrom, type Settings } from '../../config/config.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { migrations, requireSchemaVersion } from '../../database/migrations.ts';
import { openWithoutMigrating } from '../../database/open-database.ts';
import { findDamage, openDatabaseFile } from '../../database/sqlite/backup.ts';
import { applicationId, sizeOf } from '../../database/sqlite/file.ts';
import { readInstallationValue } from '../../database/installation-values.ts';
import { KeyEncryption, readKeyRows } from '../../sessions/signing-keys.ts';
import { redactPassword } from '../../config/redact-url.ts';
import { createFileProgress } from '../terminal/file-progress.ts';
import { whyUnusable } from './database-file-check.ts';
import type { CheckContext } from './check-context.ts';
import { ok, problem, warning, type Finding, type Findings } from './finding.ts';

type Stored = Reader & Pick<Transaction, 'tableNames'>;

export function checkDatabase(context: CheckContext): Findings {
  return context.file === undefined ? checkPostgres(context) : checkFile(context, context.file);
}

async function* checkFile({ settings, server }: CheckContext, input: string): Findings {
  const file = resolve(input);
  const unusable = await whyUnusable(file, server);
  if (unusable) {
    yield unusable;
    return;
  }
  const [finding] = await damageIn(file);
  if (finding) {
    yield problem(
      `${file} is damaged: ${finding}.`,
      'Stop every server on this database and run espalier restore <backup> --replace. See docs/durability.md.',
    );
    return;
  }
  yield ok(`${file} is not damaged (${formatSize(sizeOf(file))}; checked every page and index).`);
  const stored = openDatabaseFile(file);
  try {
    if (stored.applicationId === applicationId) yield* checkContents(stored, settings);
    else yield problem(`${file} belongs to another program.`, 'Use a separate database for Espalier.');
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

async function* checkPostgres({ settings, postgres }: CheckContext): Findings {
  const facts = await postgres();
  const { encoding, displayVersion, isTooOld, isStandby, ctype, hasTrigrams } = facts;
  yield ok(`${redactPassword(settings.databaseUrl)} responds: PostgreSQL ${displayVersion}.`);
  if (isTooOld) yield problem(`PostgreSQL ${displayVersion} is too old.`, 'Use version 13 or newer.');
  if (encoding !== 'UTF8') {
    yield problem(
      `The database has the encoding ${encoding} instead of UTF8.`,
      `Create a database with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (isStandby) yield problem('The server is a standby, which is read-only.', 'Use the primary.');
  if (!hasTrigrams) {
    yield problem(
      'The extension pg_trgm is not available.',
      'Install the contrib package of your PostgreSQL.',
    );
  }
  if (ctype === 'C') {
    yield warning(
      "The database has lc_ctype 'C': a search for letters other than ASCII reads every folder.",
      'Create a database with a UTF-8 locale and move to it with espalier copy.',
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

type Facts = Awaited<ReturnType<CheckContext['postgres']>>;

function* checkSyncing({ fsync, fullPageWrites, synchronousCommit }: Facts): Iterable<Finding> {
  const off = [fsync === 'off' && 'fsync', fullPageWrites === 'off' && 'full_page_writes'].filter(Boolean);
  if (off.length > 0) {
    yield problem(
      `PostgreSQL runs with ${off.join(' and ')} off: a crash of its machine can lose or damage all data.`,
      'Turn it on in postgresql.conf.',
    );
  } else if (synchronousCommit === 'off') {
    yield ok('synchronous_commit is off; Espalier turns it on for its own transactions.');
  } else {
    yield ok(`Committed changes are on the disk (synchronous_commit is ${synchronousCommit ?? 'unknown'}).`);
  }
}

function* checkConnections({ maxConnections, usedConnections }: Facts, wanted: number): Iterable<Finding> {
  if (maxConnections === null || usedConnections === null) return;
  const left = maxConnections - usedConnections;
  const text = `${left} of ${maxConnections} connections are free; a node uses up to ${wanted}.`;
  yield left >= wanted
    ? ok(text)
    : warning(
        text,
        'Lower ESPALIER_DATABASE_CONNECTIONS or raise max_connections. If all nodes already run, ignore this warning.',
      );
}

async function* checkContents(stored: Stored, { masterKey, adminPassword }: Settings): Findings {
  const taken = await requireSchemaVersion(stored);
  if (taken === 0) {
    yield warning('The database is empty.', 'The first start of the server prepares it.');
    return;
  }
  if (taken < migrations.length) {
    yield warning(
      `The schema is outdated (${taken} of ${migrations.length} steps).`,
      'Start the server or run espalier migrate to update it.',
    );
    return;
  }
  yield ok(`The schema is up to date (${taken} steps).`);
  if (await readInstallationValue(stored, 'copying')) {
    yield problem(
      'The database contains an unfinished copy of an installation.',
      'Run the same espalier copy command again.',
    );
    return;
  }
  if (!(await readInstallationValue(stored, 'issuer'))) {
    yield warning('No server has started on this database yet.');
    return;
  }
  yield* checkKeys(stored, masterKey);
  // No warning: deployments with containers set it at every start.
  if (adminPassword !== undefined) {
    yield ok(
      'ESPALIER_ADMIN_PASSWORD is ignored after the first start. To replace the password, run espalier user reset-password.',
    );
  }
}

async function* checkKeys(stored: Reader, masterKey: string | undefined): Findings {
  const encryption = new KeyEncryption(masterKey);
  const rows = await readKeyRows(stored);
  // The error says what to do.
  for (const row of rows) encryption.decrypt(row);
  const isSealed = rows.every(({ sealedWith }) => sealedWith !== null);
  const which = rows.length === 1 ? 'The signing key' : `All ${rows.length} signing keys`;
  yield ok(`${which} can be opened${isSealed ? ' with the master key' : ''}.`);
}
