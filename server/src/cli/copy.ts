/** `espalier copy`: moves a whole installation into another database, and shows that all of it is there. */

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.ts';
import { databaseOptionsOf, settingsOfProcess, settingsTable } from '../config.ts';
import { copyInstallation, type ComparedTable } from '../copy/copy.ts';
import type { Database } from '../database/database.ts';
import { openAsItIs } from '../database/open-database.ts';
import { withoutPassword } from '../shown-url.ts';
import { StartError, UsageError } from '../start-error.ts';
import { createProgress, type Progress } from './progress.ts';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

export async function copy(args: string[]): Promise<void> {
  const { fromUrl, toUrl } = parseUrls(args);
  const options = databaseOptionsOf(settingsOfProcess({}).settings);
  const progress = createProgress(systemClock);
  const ignoreSignals = tellHowToGoOn(progress);
  const begunAt = systemClock.now();
  let from: Database | undefined;
  try {
    from = await openAsItIs(fromUrl, { ...options, mustExist: true });
    const compared = await copyInstallation({
      from,
      openDestination: () => openAsItIs(toUrl, options),
      clock: systemClock,
      onProgress: progress.show,
    });
    progress.end();
    console.log(comparison(compared));
    requireSame(compared);
    const seconds = ((systemClock.now() - begunAt) / 1000).toFixed(1);
    console.log(done(withoutPassword(toUrl), rowsOf(compared), seconds));
  } finally {
    progress.end();
    ignoreSignals();
    await from?.close();
  }
}

export function parseUrls(args: string[]): { fromUrl: string; toUrl: string } {
  const { files, given } = parse(args);
  const fromUrl = files.from === undefined ? given.shift() : urlIn(files.from);
  const toUrl = files.to === undefined ? given.shift() : urlIn(files.to);
  if (fromUrl === undefined || toUrl === undefined || given.length > 0) {
    throw new UsageError(
      'espalier copy takes two URLs: from which database, and to which. espalier copy --help tells more.',
    );
  }
  for (const [url, which] of [
    [fromUrl, 'from'],
    [toUrl, 'to'],
  ]) {
    const { parse: parseUrl, accepts } = settingsTable.databaseUrl;
    if (parseUrl(url!) === undefined) {
      throw new UsageError(`The URL to copy ${which} is not one of a database: it takes ${accepts}.`);
    }
  }
  if (fromUrl === toUrl) throw new StartError('Both URLs are the same: there is nothing to copy.');
  return { fromUrl, toUrl };
}

function parse(args: string[]): {
  files: { from: string | undefined; to: string | undefined };
  given: string[];
} {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { 'from-file': { type: 'string' }, 'to-file': { type: 'string' } },
      allowPositionals: true,
    });
    return { files: { from: values['from-file'], to: values['to-file'] }, given: positionals };
  } catch (error) {
    const [complaint] = (error as Error).message.split(/\.\s|\n/, 1);
    throw new UsageError(`${complaint}. espalier copy --help tells more.`);
  }
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

function comparison(compared: readonly ComparedTable[]): string {
  const rows = compared.flatMap(({ name, source, destination, isSame }) =>
    isSame
      ? [{ name, ...source }]
      : [
          { name: `${name} in the source`, ...source },
          { name: `${name} in the destination`, ...destination },
        ],
  );
  const widest = Math.max(...rows.map(({ name }) => name.length));
  const line = (name: string, count: string, digest: string) =>
    `${name.padEnd(widest)}  ${count.padStart(10)}  ${digest}`;
  return [
    line('Table', 'Rows', 'SHA-256 of its rows'),
    ...rows.map(({ name, count, sha256 }) => line(name, count.toLocaleString('en'), sha256)),
  ].join('\n');
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

function done(destination: string, rows: string, seconds: string): string {
  return `
Copied ${rows} rows in ${seconds} s; source and destination are the same. What a server still writes to the source is not noticed from now on.

Now set ESPALIER_DATABASE_URL to ${destination} and start the server.
Start none on the source any more: sessions that go on there are unknown here.`;
}

export function copyHelp(): string {
  return `Usage: espalier copy <from-url> <to-url>

Copies a whole installation into another, new database: SQLite to PostgreSQL, back, or to another of the same kind.
Sessions and keys go along: nobody is logged out. Stop every server on the source first; it is only read.

Interrupted, it goes on where it was when the same command is run again. Until all of it is there, no server starts on
the destination. At the end the rows of both are counted and compared.

  <from-url>, <to-url>    ${settingsTable.databaseUrl.accepts}
  --from-file <path>      The URL to copy from is in this file: others can see a password in the list of processes
  --to-file <path>        The URL to copy to is in this file

ESPALIER_DATABASE_POOL_MODE, _CONNECTIONS and _TIMEOUT_SECONDS hold for both databases.`;
}
