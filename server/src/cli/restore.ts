/** `espalier restore`: replaces the database file with a backup and keeps the old file. */

import { existsSync, readFileSync } from 'node:fs';
import { restoreBackup, type Restored } from '../maintenance/backup/restore.ts';
import { formatCount } from '../maintenance/backup/backup-files.ts';
import { systemClock } from '../clock.ts';
import { settingsTable } from '../config/config.ts';
import { formatTime } from '../sessions/manage-signing-keys.ts';
import { command, json } from './command.ts';
import { untilSignal } from './api/connection.ts';
import { createFileProgress } from './terminal/file-progress.ts';
import { embeddedFileOf } from './database-command.ts';
import { print, printJson } from './terminal/output.ts';

const usersFile = '/etc/passwd';

export const restore = command({
  words: [{ name: 'file', about: 'The backup file', completes: 'file' }],
  options: {
    replace: {
      about: 'Replace an existing database, which is kept under another name',
    },
    json,
  },
  settings: [settingsTable.databaseUrl],
  details: `For PostgreSQL, use its own tools, for example pg_restore; see docs/deployment.md. Stop every server on the database first:
the command fails while a server runs.

The command copies and checks the backup before it changes anything, and keeps the backup file. Afterwards, all data is as
it was when the backup was made, including passwords and keys. Sessions that have ended since then are valid again. Clients
that follow the changes receive RESYNC and read everything again.

If you run the command as root, the new file belongs to the owner of the replaced file, or else of its folder.`,
  run: ({ words: [backup], options, flags }) =>
    restoreOne(backup!, embeddedFileOf(flags, 'restore'), options),
});

async function restoreOne(
  backup: string,
  to: string,
  { replace, json: isJson }: { readonly replace: boolean; readonly json: boolean },
): Promise<void> {
  const progress = createFileProgress();
  const restored = await untilSignal((signal) =>
    restoreBackup({
      backup,
      to,
      isReplacing: replace,
      now: systemClock.now(),
      signal,
      onBytes: progress.copied,
      onCheck: progress.checking,
    }),
  ).finally(progress.end);
  await (isJson ? printJson(toOutput(restored)) : print(describeResult(restored)));
}

/** Returns the JSON output. Its keys are public and do not follow the names in the code. */
function toOutput({ file, before, newOwner, ...others }: Restored) {
  const { lastChangeAt } = others;
  return {
    file,
    before,
    givenTo: newOwner,
    ...others,
    lastChangeAt: lastChangeAt === null ? null : formatTime(lastChangeAt),
  };
}

function describeResult(restored: Restored): string {
  const { file, before, newOwner, folders, users, lastChangeAt, isOfOlderProgram, mayBeInUse } = restored;
  const last = lastChangeAt === null ? '' : `; the last change was at ${formatTime(lastChangeAt)}`;
  return [
    `${file} is restored, with ${formatCount(folders, 'folder')} and ${formatCount(users, 'user')}${last}.`,
    ...(before ? [`The previous database is now ${before}.`] : []),
    ...(newOwner
      ? [
          `It belongs to the user ${userName(newOwner.uid)}, like ${before ? 'the previous database' : 'its folder'}.`,
        ]
      : []),
    ...(mayBeInUse
      ? [
          'Cannot determine whether a server still uses the previous database. If one runs, stop it before you start another.',
        ]
      : []),
    ...(isOfOlderProgram
      ? ['The backup was made by an older version. The next start of the server updates the database.']
      : []),
    '',
    'Now start the server. Passwords and keys are those of the backup, and sessions that have ended since then are valid again. If you',
    'retired keys because others may have them, retire them again (espalier keys). Clients that follow the changes read everything again.',
  ].join('\n');
}

/** Returns the number if this machine has no user with it. */
function userName(uid: number): string {
  const lines = existsSync(usersFile) ? readFileSync(usersFile, 'utf8').split('\n') : [];
  const found = lines.map((line) => line.split(':')).find(([, , number]) => number === String(uid));
  return found?.[0] ?? String(uid);
}
