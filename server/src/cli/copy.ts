/** `espalier copy`: copies an installation to another database and compares both. */

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { databaseOptionsFrom, readProcessSettings, settingsTable } from '../config/config.ts';
import { copyInstallation, type ComparedTable } from '../maintenance/copy/copy.ts';
import type { Database } from '../database/database.ts';
import { openWithoutMigrating } from '../database/open-database.ts';
import { containsPassword, redactPassword } from '../config/url-password.ts';
import { StartError, UsageError } from '../config/start-error.ts';
import { command, json } from './command.ts';
import { print, printJson, table } from './output.ts';
import { createProgress, type Progress } from './progress.ts';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

const { accepts } = settingsTable.databaseUrl;

export const copy = command({
  words: [
    { name: 'from-url', about: `The database to copy from: ${accepts}`, isOptional: true },
    { name: 'to-url', about: 'The database to copy to', isOptional: true },
  ],
  options: {
    fromFile: {
      value: 'path',
      about: 'The URL to copy from is in this file: others can see a password in the list of processes',
      completes: 'file',
    },
    toFile: { value: 'path', about: 'The URL to copy to is in this file', completes: 'file' },
    json,
  },
  details: `Copies a whole installation into another, new database: SQLite to PostgreSQL, back, or to another of the same kind.
Sessions and keys go along: nobody is logged out. Stop every server on the source first; it is only read.

Interrupted, it goes on where it was when the same command is run again. Until all of it is there, no server starts on
the destination. At the end the rows of both are counted and compared.

ESPALIER_DATABASE_POOL_MODE, _CONNECTIONS and _TIMEOUT_SECONDS hold for both databases.`,
  run: ({ words, options }) => {
    const urls = urlsOf(words, options);
    if (words.some(containsPassword)) {
      console.error(
        'espalier: warning: A URL holds a password, which every user of this machine can read in the process list. Use --from-file and --to-file instead.',
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
  const progress = createProgress(systemClock);
  const ignoreSignals = tellHowToGoOn(progress);
  const begunAt = systemClock.now();
  let resumedFromRows = 0;
  let from: Database | undefined;
  try {
    from = await openWithoutMigrating(fromUrl, { ...options, mustExist: true });
    const compared = await copyInstallation({
      from,
      openDestination: () => openWithoutMigrating(toUrl, options),
      clock: systemClock,
      onProgress: progress.show,
      onResume: (rows, total) => {
        resumedFromRows = rows;
        if (!isJson) console.log(goingOn(rows, total));
      },
    });
    progress.end();
    const seconds = (systemClock.now() - begunAt) / 1000;
    const isSame = compared.every((each) => each.isSame);
    await (isJson
      ? printJson({ isSame, seconds, resumedFromRows, tables: compared })
      : print(comparison(compared)));
    requireSame(compared);
    if (!isJson) await print(done(settingFor(toUrl, toFile), rowsOf(compared), seconds.toFixed(1)));
  } finally {
    progress.end();
    ignoreSignals();
    await from?.close();
  }
}

/** Those that are not in a file are words, in this order. */
export function urlsOf(
  words: readonly string[],
  files: { readonly fromFile: string | undefined; readonly toFile: string | undefined },
): Urls {
  const given = [...words];
  const fromUrl = files.fromFile === undefined ? given.shift() : urlIn(files.fromFile);
  const toUrl = files.toFile === undefined ? given.shift() : urlIn(files.toFile);
  if (fromUrl === undefined || toUrl === undefined || given.length > 0) {
    throw new UsageError(
      'espalier copy takes two URLs: from which database, and to which. espalier copy --help tells more.',
    );
  }
  for (const [url, which] of [
    [fromUrl, 'from'],
    [toUrl, 'to'],
  ]) {
    if (settingsTable.databaseUrl.parse(url!) === undefined) {
      throw new UsageError(`The URL to copy ${which} is not one of a database: it takes ${accepts}.`);
    }
  }
  if (fromUrl === toUrl) throw new StartError('Both URLs are the same: there is nothing to copy.');
  return { fromUrl, toUrl };
}

function urlIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new StartError(`The file ${file} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

/** A signal may come at any moment, as a power failure may: nothing is lost. */
function tellHowToGoOn(progress: Progress): () => void {
  const stop = (signal: NodeJS.Signals) => {
    progress.end();
    console.error('Stopped. Run the same command again: it goes on from here.');
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of stopSignals) process.on(signal, stop);
  return () => {
    for (const signal of stopSignals) process.off(signal, stop);
  };
}

function goingOn(rows: number, total: number): string {
  return `Going on with a copy that was interrupted: ${Math.min(rows, total).toLocaleString('en')} of ${total.toLocaleString('en')} rows are there.`;
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
  const cells = rows.map(({ name, count, sha256 }) => [
    name,
    count.toLocaleString('en').padStart(10),
    sha256,
  ]);
  return table(['Table', 'Rows'.padStart(10), 'SHA-256 of its rows'], cells);
}

function requireSame(compared: readonly ComparedTable[]): void {
  const different = compared.filter(({ isSame }) => !isSame).map(({ name }) => name);
  if (different.length === 0) return;
  throw new StartError(
    `The source and the destination differ in ${different.join(', ')}. A server that runs on the source may have changed it meanwhile: stop it, and run the same command again.`,
  );
}

function rowsOf(compared: readonly ComparedTable[]): string {
  return compared.reduce((sum, { source }) => sum + source.count, 0).toLocaleString('en');
}

/** The file contains the password, which is not displayed. */
function settingFor(toUrl: string, toFile: string | undefined): string {
  return toFile === undefined
    ? `ESPALIER_DATABASE_URL to ${redactPassword(toUrl)}`
    : `ESPALIER_DATABASE_URL_FILE to ${resolve(toFile)}`;
}

function done(setting: string, rows: string, seconds: string): string {
  return `
Copied ${rows} rows in ${seconds} s; source and destination are the same. What a server still writes to the source is not noticed from now on.

Now set ${setting} and start the server.
Start none on the source any more: sessions that go on there are unknown here.`;
}
