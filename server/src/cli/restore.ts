/** `espalier restore`: replaces the database file with a backup and keeps the old file. */

import { existsSync, readFileSync } from 'node:fs';
import { restoreBackup, type Restored } from '../maintenance/backup/restore.ts';
import { formatCount } from '../maintenance/backup/format-size.ts';
import { systemClock } from '../clock.ts';
import { settingsTable } from '../config/config.ts';
import { formatTime } from '../sessions/manage-signing-keys.ts';
import { command, json } from './command.ts';
import { untilSignal } from './connection.ts';
import { createFileProgress } from './file-progress.ts';
import { embeddedFileOf } from './database-command.ts';
import { print, printJson } from './output.ts';

const usersFile = '/etc/passwd';

export const restore = command({
  words: [{ name: 'file', about: 'The backup', completes: 'file' }],
  options: {
    replace: {
      about: 'There is a database already: keep it under another name, and put the backup in its place',
    },
    json,
  },
  settings: [settingsTable.databaseUrl],
  details: `For a database file; a PostgreSQL has tools of its own (pg_restore, see docs/deployment.md). Stop every server on the database
first: while one runs, it is refused.

The backup is copied and checked before anything is touched, and stays where it is. Afterwards everything is as it was when
the backup was made: passwords and keys of then, and sessions that have ended since are good again. Clients that follow
the changes are told RESYNC, and read anew.

Run as root, it gives what it makes to the owner of the file that was there, or else of the folder that it is in.`,
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
  const { lastChangeAt } = restored;
  await (isJson
    ? printJson({ ...restored, lastChangeAt: lastChangeAt === null ? null : formatTime(lastChangeAt) })
    : print(describeResult(restored)));
}

function describeResult(restored: Restored): string {
  const { file, before, givenTo, folders, users, lastChangeAt, isOfOlderProgram, mayBeInUse } = restored;
  const last = lastChangeAt === null ? '' : `; the last change is of ${formatTime(lastChangeAt)}`;
  return [
    `${file} is restored, with ${formatCount(folders, 'folder')} and ${formatCount(users, 'user')}${last}.`,
    ...(before ? [`What was there before is ${before}.`] : []),
    ...(givenTo
      ? [`It belongs to the user ${userName(givenTo.uid)}, as ${before ? 'that' : 'its folder'} does.`]
      : []),
    ...(mayBeInUse
      ? [
          'It could not be told whether a server had that open. If one runs, stop it before you start another.',
        ]
      : []),
    ...(isOfOlderProgram ? ['It is of an older program: the next start brings it up to date.'] : []),
    '',
    'Now start the server. Passwords and keys are those of then, and sessions that have ended since are good again: if keys were',
    'retired because others may have them, retire them again (espalier keys). Clients that follow the changes read anew.',
  ].join('\n');
}

/** The number will do for one that another machine knows. */
function userName(uid: number): string {
  const lines = existsSync(usersFile) ? readFileSync(usersFile, 'utf8').split('\n') : [];
  const found = lines.map((line) => line.split(':')).find(([, , number]) => number === String(uid));
  return found?.[0] ?? String(uid);
}
