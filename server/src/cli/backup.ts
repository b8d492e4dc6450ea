/** `espalier backup` and `espalier restore`: copy a database file while servers use it, and replace it with a copy. */

import { existsSync, readFileSync } from 'node:fs';
import { makeBackup, type Backup } from '../maintenance/backup/backup.ts';
import { formatCount, formatSize } from '../maintenance/backup/backup-files.ts';
import { restoreBackup, type RestoreResult } from '../maintenance/backup/restore.ts';
import { systemClock } from '../clock.ts';
import { readProcessSettings } from '../config/config.ts';
import { settingsTable } from '../config/settings-table.ts';
import { redactPassword } from '../config/redact-url.ts';
import { StartError } from '../config/start-error.ts';
import { sqliteFilePath } from '../database/open-database.ts';
import { formatMinute, formatTime } from '../sessions/manage-signing-keys.ts';
import { untilSignal } from './api/connection.ts';
import { command, json, type SettingFlags } from './command.ts';
import { createFileProgress } from './terminal/progress.ts';

const usersFile = '/etc/passwd';

export const backup = command({
  about: 'Back up a SQLite database file while servers use it',
  words: [{ name: 'file', about: 'The backup file to create', completions: 'file' }],
  options: { force: { short: 'f', about: 'Replace an existing file' }, json },
  settings: [settingsTable.databaseUrl],
  details: `Servers continue to run without a pause. For PostgreSQL, use its own tools, for example pg_dump; run 'espalier docs postgresql' for
details.

The backup is one file with the state of the database at the start of the command. Only the owner of the file can read it, because
it contains the keys that sign tokens. The file appears only after it has been written and checked. An interrupted command
leaves no file.`,
  examples: [
    'espalier backup /backup/espalier.db',
    'espalier backup /backup/espalier.db --force --database-url sqlite:/var/lib/espalier/espalier.db',
  ],
  async run({ words: [to], options: { force }, flags }) {
    const from = embeddedFileOf(flags, 'backup');
    const begunAt = systemClock.now();
    const progress = createFileProgress();
    const made = await untilSignal((signal) =>
      makeBackup({
        from,
        to: to!,
        isReplacing: force,
        signal,
        onPages: progress.showCopying,
        onCheck: progress.showChecking,
      }),
    ).finally(progress.end);
    const seconds = (systemClock.now() - begunAt) / 1000;
    const { lastChangeAt } = made;
    const data = { ...made, lastChangeAt: lastChangeAt === null ? null : formatTime(lastChangeAt), seconds };
    return { data, text: describeBackup(made, seconds) };
  },
});

function describeBackup(made: Backup, seconds: number): string {
  const { file, bytes, folders, users, journalNumber, areKeysSealed } = made;
  const keys = areKeysSealed ? ', sealed with the master key, which it does not contain' : '';
  const upTo = journalNumber === null ? '' : `, and the journal up to ${journalNumber.toLocaleString('en')}`;
  return `${file} contains ${formatCount(folders, 'folder')}, ${formatCount(users, 'user')}${upTo}: ${formatSize(bytes)} in ${seconds.toFixed(1)} s, checked.
Protect the file like a password: it contains the keys that sign tokens${keys}.`;
}

export const restore = command({
  about: 'Replace the SQLite database file with a backup while no server uses it',
  words: [{ name: 'file', about: 'The backup file', completions: 'file' }],
  options: {
    replace: {
      about: 'Replace an existing database file, and keep it under another name',
    },
    json,
  },
  settings: [settingsTable.databaseUrl],
  details: `Stop every server on the database first: 'espalier restore' refuses to run while a server has the file open. For PostgreSQL, use
its own tools, for example pg_restore; run 'espalier docs postgresql' for details.

Copies and checks the backup before any change, and keeps the backup file. Afterwards, all data is as it was when the backup was
made, including passwords and keys. Sessions that have ended since then are valid again. Clients that subscribe to changes receive
RESYNC and read everything again.

If you run the command as root, the new file gets the owner of the replaced file. If there is none, the new file gets the owner of
its folder.`,
  examples: ['espalier restore /backup/espalier.db --replace'],
  async run({ words: [file], options: { replace }, flags }) {
    const to = embeddedFileOf(flags, 'restore');
    const progress = createFileProgress();
    const restored = await untilSignal((signal) =>
      restoreBackup({
        backup: file!,
        to,
        isReplacing: replace,
        now: systemClock.now(),
        signal,
        onBytes: progress.showCopying,
        onCheck: progress.showChecking,
      }),
    ).finally(progress.end);
    return { data: toOutput(restored), text: describeRestored(restored) };
  },
});

/** Returns the JSON output. Its keys are public and do not follow the names in the code. */
function toOutput({ file, before, newOwner, ...others }: RestoreResult) {
  const { lastChangeAt } = others;
  return {
    file,
    before,
    givenTo: newOwner,
    ...others,
    lastChangeAt: lastChangeAt === null ? null : formatTime(lastChangeAt),
  };
}

function describeRestored(restored: RestoreResult): string {
  const { file, before, newOwner, folders, users, lastChangeAt, isOfOlderProgram, mayBeInUse } = restored;
  const last = lastChangeAt === null ? '' : `; the last change was at ${formatMinute(lastChangeAt)}`;
  return [
    `${file} is restored, with ${formatCount(folders, 'folder')} and ${formatCount(users, 'user')}${last}.`,
    ...(before ? [`The previous database is now ${before}.`] : []),
    ...(newOwner
      ? [
          `The restored file belongs to the user ${userName(newOwner.uid)}, like ${before ? 'the previous database' : 'its folder'}.`,
        ]
      : []),
    ...(mayBeInUse
      ? [
          'Cannot determine whether a server still uses the previous database. If a server still uses it, stop that server before you start another.',
        ]
      : []),
    ...(isOfOlderProgram
      ? ['The backup was made by an older version. The next start of the server updates the database.']
      : []),
    '',
    'Now start the server. Passwords and keys are those of the backup, and sessions that have ended since then are valid again. If you',
    "retired keys because others may have them, retire them again with 'espalier signing-key retire'. Clients that subscribe to changes read everything again.",
  ].join('\n');
}

/** Returns the number if this machine has no user with it. */
function userName(uid: number): string {
  const lines = existsSync(usersFile) ? readFileSync(usersFile, 'utf8').split('\n') : [];
  const found = lines.map((line) => line.split(':')).find(([, , number]) => number === String(uid));
  return found?.[0] ?? String(uid);
}

/** The path of the database file, for commands that work on the file itself. */
function embeddedFileOf(flags: SettingFlags, what: 'backup' | 'restore'): string {
  const { settings } = readProcessSettings(flags);
  const file = sqliteFilePath(settings.databaseUrl);
  if (file !== undefined) return file;
  const tool = what === 'backup' ? 'pg_dump' : 'pg_restore';
  throw new StartError(
    `This command works only on database files, but ${redactPassword(settings.databaseUrl)} is a PostgreSQL database. Use ${tool}; run 'espalier docs postgresql' for details.`,
  );
}
