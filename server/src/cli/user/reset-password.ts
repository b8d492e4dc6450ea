/**
 * `espalier user reset-password`: replaces a lost password, even of the last administrator. Write access to the database is
 * sufficient.
 */

import {
  readAdministrators,
  readUserByName,
  resetPassword as setPassword,
  updateUser,
  type User,
} from '../../accounts/users.ts';
import { Passwords, requireGoodPassword } from '../../accounts/passwords.ts';
import { systemClock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { runChange } from '../../journal/journal.ts';
import { revokeUserSessions } from '../../sessions/revocation.ts';
import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { newPasswordOptions, readNewPassword } from '../terminal/new-password.ts';
import { databaseSettings, onDatabase } from '../database-command.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';

export const resetPassword = command({
  words: [{ name: 'username', about: 'The name of the user' }],
  options: {
    ...newPasswordOptions,
    enable: { about: 'Also enable a disabled user' },
    json,
  },
  settings: databaseSettings,
  details: `Asks for the new password twice, unless an option provides it. Ends all sessions of the user, on running servers within a second.
The journal shows a change by the server.`,
  run: ({ words: [username], options, flags }) =>
    onDatabase(flags, async ({ database }) => {
      const user = await requireNamed(database, username!);
      const { password, generated } = await readNewPassword(options, `New password of ${user.username}`);
      await requireGoodPassword(password, user.username);
      const done = await change(database, user, { password, isEnabled: options.enable });
      if (options.json) {
        const { id, username } = user;
        await printJson({ id, username, ...done, ...(generated !== undefined && { password: generated }) });
        return;
      }
      await print(describeResult(user, done, generated));
    }),
});

interface Done {
  readonly isDisabled: boolean;
  readonly endedSessions: number;
}

async function requireNamed(reader: Reader, username: string): Promise<User> {
  const user = await readUserByName(reader, username);
  if (user) return user;
  const some = await readAdministrators(reader, 10);
  const names = some.map((each) => JSON.stringify(each.username)).join(', ');
  throw new StartError(
    `There is no user ${JSON.stringify(username)}.${names ? ` Administrators are ${names}.` : ''}`,
  );
}

async function change(
  database: Database,
  { id, username }: User,
  { password, isEnabled }: { readonly password: string; readonly isEnabled: boolean },
): Promise<Done> {
  const passwordHash = await new Passwords().hash(password, { key: 'reset password' });
  return runChange(database, async (transaction) => {
    const by = { byUserId: null, now: systemClock.now() };
    await setPassword(transaction, { userId: id, passwordHash }, by);
    if (isEnabled) await updateUser(transaction, id, { isDisabled: false }, by);
    const endedSessions = await revokeUserSessions(
      transaction,
      { userId: id },
      { because: 'password', ...by },
    );
    const { disabledAt } = await requireNamed(transaction, username);
    return { isDisabled: disabledAt !== null, endedSessions };
  });
}

function describeResult(
  { username, isAdministrator }: User,
  { isDisabled, endedSessions }: Done,
  generated: string | undefined,
): string {
  const who = `${escapeControls(username)}${isAdministrator ? ', an administrator,' : ''}`;
  const ended =
    endedSessions === 0
      ? 'The user had no sessions.'
      : `${endedSessions} ${endedSessions === 1 ? 'session has' : 'sessions have'} ended.`;
  return [
    ...(generated === undefined ? [] : [`  Password  ${generated}   (shown only this once)`, '']),
    `${who} has a new password. ${ended}`,
    ...(isDisabled
      ? [`The user is disabled and cannot log in. To enable the user, run the same command with --enable.`]
      : []),
  ].join('\n');
}
