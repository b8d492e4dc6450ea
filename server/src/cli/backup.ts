/** `espalier backup`: a copy of an embedded database, made while servers use it. */

import { makeBackup, type Backup } from '../maintenance/backup/backup.ts';
import { formatCount, formatSize } from '../maintenance/backup/format-size.ts';
import { systemClock } from '../clock.ts';
import { settingsTable } from '../config/config.ts';
import { formatTime } from '../sessions/manage-signing-keys.ts';
import { command, json } from './command.ts';
import { untilSignal } from './connection.ts';
import { createFileProgress } from './file-progress.ts';
import { embeddedFileOf } from './database-command.ts';
import { print, printJson } from './output.ts';

export const backup = command({
  words: [{ name: 'file', about: 'The file to make', completes: 'file' }],
  options: { force: { short: 'f', about: 'Replace a file of that name' }, json },
  settings: [settingsTable.databaseUrl],
  details: `For a database file; a PostgreSQL has tools of its own (pg_dump, see docs/deployment.md). Servers go on meanwhile, and nobody waits.

The backup is one file, of the moment when the command began, and for its owner alone: the keys that sign tokens are in it.
It gets its name when it is on the disk and has been checked; interrupted, it leaves nothing behind.`,
  run: ({ words: [to], options, flags }) => makeOne(embeddedFileOf(flags, 'backup'), to!, options),
});

async function makeOne(
  from: string,
  to: string,
  { force, json: isJson }: { readonly force: boolean; readonly json: boolean },
): Promise<void> {
  const begunAt = systemClock.now();
  const progress = createFileProgress();
  const made = await untilSignal((signal) =>
    makeBackup({
      from,
      to,
      isReplacing: force,
      signal,
      onPages: progress.copied,
      onCheck: progress.checking,
    }),
  ).finally(progress.end);
  const seconds = (systemClock.now() - begunAt) / 1000;
  const { lastChangeAt } = made;
  await (isJson
    ? printJson({ ...made, lastChangeAt: lastChangeAt === null ? null : formatTime(lastChangeAt), seconds })
    : print(describeResult(made, seconds)));
}

function describeResult(made: Backup, seconds: number): string {
  const { file, bytes, folders, users, journalNumber, areKeysSealed } = made;
  const keys = areKeysSealed ? 'in it, sealed with the master key, which is not' : 'in it';
  const upTo = journalNumber === null ? '' : `, and the journal up to ${journalNumber.toLocaleString('en')}`;
  return `${file} holds ${formatCount(folders, 'folder')}, ${formatCount(users, 'user')}${upTo}: ${formatSize(bytes)} in ${seconds.toFixed(1)} s, checked.
Keep it as you keep passwords: the keys that sign tokens are ${keys}.`;
}
