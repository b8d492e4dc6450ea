/** Setting passwords. They are hashed before the transaction, so that no change waits for a hash. */

import { checkPassword } from '../accounts/accounts.ts';
import { requireAdministrator, type ViewerRights } from '../accounts/administrator.ts';
import { changePassword, resetPassword } from '../accounts/change-users.ts';
import { requireGoodPassword } from '../accounts/password-rules.ts';
import { hashingFor, type Passwords } from '../accounts/passwords.ts';
import { requireUser } from '../accounts/users.ts';
import { aNumber, type Caller, type Changed, type Changes } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { revokeSessionsOf } from './revocation.ts';

interface OwnPassword {
  readonly oldPassword: string;
  readonly newPassword: string;
}

export interface PasswordChanges {
  /** Sets the password of another user. Answers how many sessions ended: all of that user's. */
  reset(caller: Caller, input: { userId: string; password: string }): Promise<Changed<number>>;
  /** Sets the caller's own password. Answers how many sessions ended: all but the caller's. */
  change(caller: Caller, input: OwnPassword): Promise<Changed<number>>;
}

export function managePasswords(
  changes: Changes<ViewerRights>,
  { passwords, throttle }: { readonly passwords: Passwords; readonly throttle: LoginThrottle },
): PasswordChanges {
  const { database } = changes;
  const check = requireAdministrator;
  return {
    async reset(caller, { userId, password }) {
      await changes.check(caller, check);
      if (userId === caller.userId) {
        throw new Refusal(
          'CONFLICT',
          'Change your own password with `changePassword`: it asks for the old one.',
        );
      }
      return changes.unlessMade(caller, aNumber, async () => {
        const { username } = await requireUser(database, userId);
        await requireGoodPassword(password, username);
        const passwordHash = await passwords.hash(password, hashingFor(caller));
        return changes.run(caller, {
          memory: aNumber,
          check,
          work: async (transaction, _, by) => {
            await resetPassword(transaction, { userId, passwordHash }, by);
            return revokeSessionsOf(transaction, { userId }, { because: 'password', ...by });
          },
        });
      });
    },
    change: (caller, input) => changes.unlessMade(caller, aNumber, () => changeOwn(caller, input)),
  };

  async function changeOwn(
    caller: Caller,
    { oldPassword, newPassword }: OwnPassword,
  ): Promise<Changed<number>> {
    const { userId, sessionId } = caller;
    const { username } = await requireUser(database, userId);
    await requireGoodPassword(newPassword, username);
    // By session: a stolen session must not keep its user from changing the password in another.
    const changed = await throttle.attempt({ sessionId }, async (forgive) => {
      const checked = await checkPassword(database, passwords, { userId, sessionId, password: oldPassword });
      if (!checked) return undefined;
      const newHash = await passwords.hash(newPassword, hashingFor(caller));
      return changes.run(caller, {
        memory: aNumber,
        work: async (transaction, _, by) => {
          if (!(await changePassword(transaction, checked, newHash, by.now))) {
            throw new Refusal('CONFLICT', 'The password has been changed meanwhile.');
          }
          await forgive(transaction);
          const others = { userId, exceptId: sessionId };
          return revokeSessionsOf(transaction, others, { because: 'password', ...by });
        },
      });
    });
    if (!changed) throw new Refusal('FORBIDDEN', 'The old password is wrong.');
    return changed;
  }
}
