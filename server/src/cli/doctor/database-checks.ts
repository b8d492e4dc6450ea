/**
 * Checks that a server can use the database, that the database is not damaged and that it belongs to this program and to the
 * running server.
 */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { databaseOptionsFrom } from '../../config/config.ts';
import type { Settings } from '../../config/settings-table.ts';
import { redactPassword } from '../../config/redact-url.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { readInstallationValue } from '../../database/installation-values.ts';
import { migrations, requireSchemaVersion } from '../../database/migrations.ts';
import { openWithoutMigrating } from '../../database/open-database.ts';
import { findDamage, openDatabaseFile } from '../../database/sqlite/backup.ts';
import { applicationId, listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import { formatSize } from '../../maintenance/backup/backup-files.ts';
import { KeyEncryption, readKeyRows } from '../../sessions/signing-keys.ts';
import { createFileProgress } from '../terminal/progress.ts';
import {
  type CheckContext,
  type Finding,
  type Findings,
  isEspalierAlive,
  jsonOf,
  ok,
  problem,
  responds,
  sendRequest,
  warning,
} from './check-context.ts';

type StoredData = Reader & Pick<Transaction, 'tableNames'>;

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
  const [finding] = await findFileDamage(file);
  if (finding) {
    yield problem(
      `${file} is damaged: ${finding}.`,
      "Stop every server on this database and run 'espalier restore <backup> --replace'. Run 'espalier docs durability' for details.",
    );
    return;
  }
  const stored = openDatabaseFile(file);
  try {
    yield ok(`${file} is not damaged (${formatSize(stored.bytes)}; checked every page and index).`);
    if (stored.applicationId === applicationId) yield* checkContents(stored, settings);
    else yield problem(`${file} belongs to another program.`, 'Use a separate database for Espalier.');
  } finally {
    stored.close();
  }
}

async function findFileDamage(file: string): Promise<readonly string[]> {
  const progress = createFileProgress();
  progress.showChecking();
  try {
    return await findDamage(file);
  } finally {
    progress.end();
  }
}

async function* checkPostgres({ settings, postgres }: CheckContext): Findings {
  const facts = await postgres();
  const { displayVersion, ctype, hasTrigrams } = facts;
  yield ok(`${redactPassword(settings.databaseUrl)} responds: PostgreSQL ${displayVersion}.`);
  if (!hasTrigrams) {
    yield problem(
      'The extension pg_trgm is not available.',
      'Install the contrib package of your PostgreSQL.',
    );
  }
  if (ctype === 'C') {
    yield warning(
      "The database has lc_ctype 'C': a search for non-ASCII letters reads every folder.",
      "Create a database with a UTF-8 locale, and copy the installation to it with 'espalier copy'.",
    );
  }
  yield* checkSyncing(facts);
  yield* checkConnections(facts, settings.databaseConnections * settings.workers);
  // Throws if the server cannot use this PostgreSQL, for example because it is too old.
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
      `Turn on ${off.join(' and ')} in postgresql.conf.`,
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
  const text = `${left} of ${maxConnections} connections are free; each server uses up to ${wanted}.`;
  yield left >= wanted
    ? ok(text)
    : warning(
        text,
        'Lower ESPALIER_DATABASE_CONNECTIONS or raise max_connections. If all servers already run, ignore this warning.',
      );
}

async function* checkContents(stored: StoredData, { masterKey, adminPassword }: Settings): Findings {
  const appliedCount = await requireSchemaVersion(stored);
  if (appliedCount === 0) {
    yield warning('The database is empty.', 'The first start of the server prepares it.');
    return;
  }
  if (appliedCount < migrations.length) {
    yield warning(
      `The schema is outdated (${appliedCount} of ${migrations.length} migrations applied).`,
      "Start the server or run 'espalier migrate' to update it.",
    );
    return;
  }
  yield ok(`The schema is up to date (${appliedCount} migrations applied).`);
  if (await readInstallationValue(stored, 'copying')) {
    yield problem(
      'The database contains an unfinished copy of an installation.',
      "Run the same 'espalier copy' command again.",
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
      "ESPALIER_ADMIN_PASSWORD is ignored after the first start. To replace a lost password, run 'espalier user password <user> --on-database'.",
    );
  }
}

async function* checkKeys(stored: Reader, masterKey: string | undefined): Findings {
  const encryption = new KeyEncryption(masterKey);
  const rows = await readKeyRows(stored);
  // The thrown error contains the solution.
  for (const row of rows) encryption.decrypt(row);
  const isSealed = rows.every(({ sealedWith }) => sealedWith !== null);
  const which = rows.length === 1 ? 'The signing key' : `All ${rows.length} signing keys`;
  yield ok(`${which} can be ${isSealed ? 'decrypted with the master key' : 'read'}.`);
}

const { R_OK, W_OK, X_OK } = constants;

/**
 * Finds a problem with the file without opening it. Even a program that only reads the database creates SQLite files next to it.
 * These files belong to the user of that program, so the server might be unable to write them later.
 */
export async function whyUnusable(
  file: string,
  server: CheckContext['server'],
): Promise<Finding | undefined> {
  const folder = nearestFolder(dirname(file));
  if (isHidden(file)) {
    return problem(
      `The current system user cannot access ${file}: no permission to enter ${folder}.`,
      permissionFix(folder, 'u+rwx'),
    );
  }
  if (!sizeOf(file)) return (await explainLostFile(file, server)) ?? describeNewFile(file, folder);
  const [first, ...more] = listDatabaseFiles(file).filter((each) => !isWritable(each));
  if (first !== undefined) {
    return problem(
      `The current system user cannot write ${first}: ${whyNot(first, R_OK | W_OK)}. The server does not start.`,
      permissionFix(first, '600', more),
    );
  }
  const why = whyNot(folder, W_OK | X_OK);
  if (why === undefined) return undefined;
  return problem(
    `The current system user cannot create files in ${folder}: ${why}. The server does not start, because it creates its write-ahead log there.`,
    permissionFix(folder, 'u+rwx'),
  );
}

/** Returns true if the current user cannot check whether the file exists. */
export function isHidden(file: string): boolean {
  try {
    statSync(file, { throwIfNoEntry: false });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true;
    throw error;
  }
}

/** Returns the nearest existing ancestor folder. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

async function explainLostFile(
  file: string,
  { url, isExplicit, readLiveness }: CheckContext['server'],
): Promise<Finding | undefined> {
  // A server that the user named explicitly may use another database.
  const response = url === undefined || isExplicit ? undefined : await readLiveness().catch(() => undefined);
  if (response && isEspalierAlive(response)) {
    return problem(
      `The database file ${file} is missing, but a server runs at ${url}. The file was moved or deleted, or the server has other settings.`,
      'Put the file back, with its -wal file, before you restart the server. Otherwise, the server would create a new, empty database. If the file was deleted, only the running process still has the data.',
    );
  }
  if (!sizeOf(`${file}-wal`)) return undefined;
  return problem(
    `The database file ${file} is missing, but its write-ahead log exists. The server does not start.`,
    "Put the file back next to its log, or run 'espalier restore <backup> --replace'.",
  );
}

function describeNewFile(file: string, folder: string): Finding {
  const text = `The database file ${file} does not exist yet`;
  const none = `${text}, and the current system user cannot create it`;
  if (!statSync(folder).isDirectory()) {
    return problem(`${none}: ${folder} is not a folder.`, 'Set ESPALIER_DATABASE_URL to another file.');
  }
  const why = whyNot(folder, W_OK | X_OK);
  return why === undefined
    ? warning(`${text}.`, 'The first start of the server creates it.')
    : problem(`${none} in ${folder}: ${why}.`, permissionFix(folder, 'u+rwx'));
}

export function isWritable(file: string): boolean {
  return whyNot(file, R_OK | W_OK) === undefined;
}

/** Undefined if this user has the permission. */
function whyNot(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return 'its disk is mounted read-only';
    if (code !== 'EACCES') return message;
    return isOwn(path) ? 'its mode does not allow it' : `it belongs to the user ${statSync(path).uid}`;
  }
}

function permissionFix(path: string, mode: string, more: readonly string[] = []): string {
  const all = [path, ...more].join(' ');
  if (isOwn(path)) return `chmod ${mode} ${all}`;
  return `Run this command as the user of the server. If you do: chown ${process.getuid?.()} ${all}`;
}

function isOwn(path: string): boolean {
  return statSync(path).uid === process.getuid?.();
}

export async function* checkInstallation(context: CheckContext): Findings {
  const { clock, server } = context;
  if (!(await responds(server))) return;
  const { body } = await sendRequest(clock, `${server.url}/.well-known/jwks.json`);
  const published = jsonOf<{ keys: readonly { kid?: unknown }[] }>(body)?.keys ?? [];
  // `checkDatabase` reports the problems of the database.
  const stored = await storedKeyIds(context).catch(() => []);
  if (published.length === 0 || stored.length === 0) return;
  yield published.some(({ kid }) => stored.some((id) => id === kid))
    ? ok('The server uses the database of these settings.')
    : warning(
        'The server uses another database: none of its signing keys is in the database of these settings.',
        'Use the settings of that server, or specify the server of these settings with --url.',
      );
}

async function storedKeyIds({ file, settings, server }: CheckContext): Promise<readonly string[]> {
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  if (file !== undefined) {
    // A file with a problem is not opened.
    if (await whyUnusable(resolve(file), server)) return [];
    const stored = openDatabaseFile(resolve(file));
    try {
      return ids(await readKeyRows(stored));
    } finally {
      stored.close();
    }
  }
  const database = await openWithoutMigrating(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    return ids(await readKeyRows(database));
  } finally {
    await database.close();
  }
}
