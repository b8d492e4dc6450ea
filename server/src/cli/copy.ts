/** `espalier copy`: copies an installation to another database and compares both. */

import { constants } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { readInputFile } from '../config/read-setting.ts';
import { databaseOptionsFrom, readProcessSettings } from '../config/config.ts';
import { settingsTable } from '../config/settings-table.ts';
import { copyInstallation, type ComparedTable } from '../maintenance/copy/copy.ts';
import type { Database } from '../database/database.ts';
import { openWithoutMigrating, sqliteFilePath } from '../database/open-database.ts';
import { lockExclusively } from '../database/sqlite/backup.ts';
import { sizeOf } from '../database/sqlite/file.ts';
import { containsPassword, redactPassword } from '../config/redact-url.ts';
import { StartError, UsageError } from '../config/start-error.ts';
import { command, json } from './command.ts';
import { formatNumber, print, printJson, formatTable } from './terminal/output.ts';
import { createProgress, type Progress } from './terminal/progress.ts';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

const { accepts } = settingsTable.databaseUrl;

export const copy = command({
  about: 'Copy the whole installation to another database',
  words: [
    {
      name: 'from-url',
      about: `The database to copy from; omit it with --from-file: ${accepts}`,
      isOptional: true,
    },
    { name: 'to-url', about: 'The database to copy to; omit it with --to-file', isOptional: true },
  ],
  options: {
    fromFile: {
      value: 'path',
      about: 'Read the source URL from this file, so that its password is not in the process list',
      completions: 'file',
    },
    toFile: { value: 'path', about: 'Read the destination URL from this file', completions: 'file' },
    json,
  },
  details: `Copies an installation to a new database, for example from SQLite to PostgreSQL or back. Users stay logged in, because
sessions and keys are copied. Stop every server on the source first. Does not change the source. Fails if a server uses the
SQLite file of the source.

To continue an interrupted copy, run the same command again. Until the copy is complete, servers refuse to start on
the destination. At the end, counts and compares the rows of both databases.

The settings ESPALIER_DATABASE_POOL_MODE, ESPALIER_DATABASE_CONNECTIONS and ESPALIER_DATABASE_TIMEOUT_SECONDS apply to both
databases.`,
  examples: [
    'espalier copy sqlite:./espalier-data/espalier.db --to-file postgres-url.txt',
    'espalier copy --from-file postgres-url.txt sqlite:/var/lib/espalier/espalier.db',
  ],
  run: ({ words, options }) => {
    const urls = urlsOf(words, options);
    if (words.some(containsPassword)) {
      console.error(
        'espalier: warning: A URL contains a password, which every user of this machine can read in the process list. Use --from-file and --to-file instead.',
      );
    }
    return copyAll(urls, options);
  },
});

interface Urls {
  readonly fromUrl: string;
  readonly toUrl: string;
}

async function copyAll(
  { fromUrl, toUrl }: Urls,
  { json: isJson, toFile }: { readonly json: boolean; readonly toFile: string | undefined },
): Promise<void> {
  const options = databaseOptionsFrom(readProcessSettings({}).settings);
  const progress = createProgress();
  const ignoreSignals = reportHowToContinue(progress);
  const begunAt = systemClock.now();
  let resumedFromRows = 0;
  let from: Database | undefined;
  try {
    requireUnused(fromUrl);
    from = await openWithoutMigrating(fromUrl, options);
    const compared = await copyInstallation({
      from,
      openDestination: () => openWithoutMigrating(toUrl, options),
      clock: systemClock,
      onProgress: progress.show,
      onResume: (rows, total) => {
        resumedFromRows = rows;
        if (!isJson) console.log(describeResume(rows, total));
      },
    });
    progress.end();
    const seconds = (systemClock.now() - begunAt) / 1000;
    const isSame = compared.every((each) => each.isSame);
    await (isJson
      ? printJson({ isSame, seconds, resumedFromRows, tables: compared })
      : print(comparison(compared)));
    requireSame(compared);
    const rows = compared.reduce((sum, { source }) => sum + source.count, 0);
    if (!isJson)
      await print(describeSuccess(settingFor(toUrl, toFile), formatNumber(rows), seconds.toFixed(1)));
  } finally {
    progress.end();
    ignoreSignals();
    await from?.close();
  }
}

/** URLs that are not in a file are arguments: first the source, then the destination. */
export function urlsOf(
  words: readonly string[],
  files: { readonly fromFile: string | undefined; readonly toFile: string | undefined },
): Urls {
  const input = [...words];
  const fromUrl =
    files.fromFile === undefined ? input.shift() : readInputFile('--from-file', files.fromFile).trim();
  const toUrl = files.toFile === undefined ? input.shift() : readInputFile('--to-file', files.toFile).trim();
  if (fromUrl === undefined || toUrl === undefined || input.length > 0) {
    throw new UsageError(
      "Specify two URLs: the source and the destination. Run 'espalier copy --help' for details.",
    );
  }
  for (const [url, which] of [
    [fromUrl, 'source'],
    [toUrl, 'destination'],
  ]) {
    if (settingsTable.databaseUrl.parse(url!) === undefined) {
      throw new UsageError(`The ${which} URL is not the URL of a database. Use ${accepts}.`);
    }
  }
  if (fromUrl === toUrl)
    throw new UsageError('The source and the destination are the same URL. Specify another destination.');
  return { fromUrl, toUrl };
}

/** A signal can stop the copy at any moment, like a power failure, without losing data. */
function reportHowToContinue(progress: Progress): () => void {
  const stop = (signal: NodeJS.Signals) => {
    progress.end();
    console.error('Stopped. To continue, run the same command again.');
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of stopSignals) process.on(signal, stop);
  return () => {
    for (const signal of stopSignals) process.off(signal, stop);
  };
}

/**
 * Fails if a server uses the database, because the copy would not contain its later changes. PostgreSQL has no such lock: a copy
 * from PostgreSQL only compares both databases at the end.
 */
function requireUnused(url: string): void {
  const file = sqliteFilePath(url);
  if (file === undefined) return;
  if (!sizeOf(file)) throw new StartError(`There is no database file ${resolve(file)}.`);
  lockExclusively(file).release();
}

function describeResume(rows: number, total: number): string {
  return `Continuing an interrupted copy: ${formatNumber(Math.min(rows, total))} of ${formatNumber(total)} rows are already copied.`;
}

function comparison(compared: readonly ComparedTable[]): string {
  const rows = compared.flatMap(({ name, source, destination, isSame }) =>
    isSame
      ? [{ name, ...source }]
      : [
          { name: `${name} in the source`, ...source },
          { name: `${name} in the destination`, ...destination },
        ],
  );
  const cells = rows.map(({ name, count, sha256 }) => [name, formatNumber(count).padStart(10), sha256]);
  return formatTable(['Table', 'Rows'.padStart(10), 'SHA-256 of its rows'], cells);
}

function requireSame(compared: readonly ComparedTable[]): void {
  const different = compared.filter(({ isSame }) => !isSame).map(({ name }) => name);
  if (different.length === 0) return;
  throw new StartError(
    `The source and the destination differ in ${different.join(', ')}. A server may have changed the source during the copy. Stop every server on the source and run the same command again.`,
  );
}

/** The file contains the password, which is not displayed. */
function settingFor(toUrl: string, toFile: string | undefined): string {
  return toFile === undefined
    ? `ESPALIER_DATABASE_URL to ${redactPassword(toUrl)}`
    : `ESPALIER_DATABASE_URL_FILE to ${resolve(toFile)}`;
}

function describeSuccess(setting: string, rows: string, seconds: string): string {
  return `
Copied ${rows} rows in ${seconds} s. The source and the destination are identical. Later changes to the source are not copied.

Now set ${setting} and start the server.
Do not start a server on the source again: a session that is refreshed there no longer works on the destination.`;
}
