/** Replaces a lost password in the database. It is loaded only for that, because it loads the domain of the server. */

import {
  readAdministrators,
  readUserByName,
  resetPassword,
  updateUser,
  type User,
} from '../accounts/users.ts';
import { Passwords, requireGoodPassword } from '../accounts/passwords.ts';
import { systemClock } from '../clock.ts';
import type { Database, Reader } from '../database/database.ts';
import { runChange } from '../journal/journal.ts';
import { revokeUserSessions } from './revocation.ts';
import { StartError } from '../config/start-error.ts';

export async function requireNamed(reader: Reader, username: string): Promise<User> {
  const user = await readUserByName(reader, username);
  if (user) return user;
  const some = await readAdministrators(reader, 10);
  const names = some.map((each) => JSON.stringify(each.username)).join(', ');
  throw new StartError(
    `There is no user ${JSON.stringify(username)}.${names ? ` Administrators are ${names}.` : ''}`,
  );
}

export async function replacePassword(
  database: Database,
  { id, username }: User,
  { password, isEnabled }: { readonly password: string; readonly isEnabled: boolean },
): Promise<{ readonly isDisabled: boolean; readonly endedSessions: number }> {
  await requireGoodPassword(password, username);
  const passwordHash = await new Passwords().hash(password, { key: 'reset password' });
  return runChange(database, async (transaction) => {
    const by = { byUserId: null, now: systemClock.now() };
    await resetPassword(transaction, { userId: id, passwordHash }, by);
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
