/** `espalier backup`: copies a database file while servers use it. */

import { makeBackup, type Backup } from '../maintenance/backup/backup.ts';
import { formatCount, formatSize } from '../maintenance/backup/backup-files.ts';
import { systemClock } from '../clock.ts';
import { settingsTable } from '../config/config.ts';
import { formatTime } from '../sessions/manage-signing-keys.ts';
import { command, json } from './command.ts';
import { untilSignal } from './api/connection.ts';
import { createFileProgress } from './terminal/file-progress.ts';
import { embeddedFileOf } from './database-command.ts';
import { print, printJson } from './terminal/output.ts';

export const backup = command({
  words: [{ name: 'file', about: 'The backup file to create', completes: 'file' }],
  options: { force: { short: 'f', about: 'Replace an existing file' }, json },
  settings: [settingsTable.databaseUrl],
  details: `Servers continue to run and do not wait. For PostgreSQL, use its own tools, for example pg_dump; see docs/deployment.md.

The backup is one file with the state at the start of the command. Only its owner can read it, because it contains the keys that
sign tokens. The file appears after it is on the disk and has been checked. An interrupted command leaves no file.`,
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
  const keys = areKeysSealed ? ', sealed with the master key, which it does not contain' : '';
  const upTo = journalNumber === null ? '' : `, and the journal up to ${journalNumber.toLocaleString('en')}`;
  return `${file} contains ${formatCount(folders, 'folder')}, ${formatCount(users, 'user')}${upTo}: ${formatSize(bytes)} in ${seconds.toFixed(1)} s, checked.
Protect the file like a password: it contains the keys that sign tokens${keys}.`;
}
