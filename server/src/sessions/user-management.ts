/**
 * The changes of users and passwords that viewers can request. They are here and not in `accounts/`, because some of them revoke
 * sessions. Passwords are hashed before the transaction, so that no change waits for a hash.
 */

import { requireAccountName } from '../accounts/account-name.ts';
import { checkPassword } from '../accounts/credentials.ts';
import {
  changePassword,
  createUser,
  deleteUser,
  requireAdministrator,
  requireUser,
  resetPassword,
  updateUser,
  type User,
  type UserChanges,
  type ViewerRights,
} from '../accounts/users.ts';
import { hashQueueEntry, requireGoodPassword, type Passwords } from '../accounts/passwords.ts';
import {
  numberResult,
  noResult,
  type Caller,
  type Changed,
  type Changes,
  type ResultCodec,
} from '../journal/changes.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { Refusal } from '../refusal.ts';
import { revokeUserSessions } from './revocation.ts';

export interface ChangedUser {
  readonly id: string;
  /** The user after the change. Missing if the change was made earlier, under the same idempotency key. */
  readonly user?: User;
}

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly isAdministrator: boolean;
}

export interface Users {
  create(caller: Caller, input: NewUser): Promise<Changed<ChangedUser>>;
  /** Disabling a user revokes all of the user's sessions. */
  update(caller: Caller, input: UserChanges & { readonly id: string }): Promise<Changed<ChangedUser>>;
  delete(caller: Caller, id: string): Promise<Changed<void>>;
}

const userResult: ResultCodec<ChangedUser, string> = {
  toStored: ({ id }) => id,
  fromStored: (id) => ({ id }),
};

export function manageUsers(
  changes: Changes<ViewerRights>,
  { passwords }: { readonly passwords: Passwords },
): Users {
  const check = requireAdministrator;
  return {
    async create(caller, { username: requestedName, password, isAdministrator }) {
      await changes.check(caller, check);
      return changes.runUnlessMade(caller, userResult, async () => {
        const username = requireAccountName(requestedName, 'user name');
        await requireGoodPassword(password, username);
        const passwordHash = await passwords.hash(password, hashQueueEntry(caller));
        return changes.run(caller, {
          codec: userResult,
          check,
          work: async (transaction, _, by) => {
            const id = await createUser(transaction, { username, passwordHash, isAdministrator }, by);
            return { id, user: await requireUser(transaction, id) };
          },
        });
      });
    },
    update: (caller, { id, ...input }) =>
      changes.run(caller, {
        codec: userResult,
        check,
        work: async (transaction, _, by) => {
          await updateUser(transaction, id, input, by);
          if (input.isDisabled) {
            await revokeUserSessions(transaction, { userId: id }, { because: 'disabled', ...by });
          }
          return { id, user: await requireUser(transaction, id) };
        },
      }),
    delete: (caller, id) =>
      changes.run(caller, {
        codec: noResult,
        check,
        work: (transaction, _, by) => deleteUser(transaction, id, by),
      }),
  };
}

interface OwnPassword {
  readonly oldPassword: string;
  readonly newPassword: string;
}

export interface PasswordChanges {
  /** Sets the password of another user. Returns how many sessions were revoked: all of that user's. */
  reset(caller: Caller, input: { userId: string; password: string }): Promise<Changed<number>>;
  /** Sets the caller's own password. Returns how many sessions were revoked: all but the caller's. */
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
      return changes.runUnlessMade(caller, numberResult, async () => {
        const { username } = await requireUser(database, userId);
        await requireGoodPassword(password, username);
        const passwordHash = await passwords.hash(password, hashQueueEntry(caller));
        return changes.run(caller, {
          codec: numberResult,
          check,
          work: async (transaction, _, by) => {
            await resetPassword(transaction, { userId, passwordHash }, by);
            return revokeUserSessions(transaction, { userId }, { because: 'password', ...by });
          },
        });
      });
    },
    change: (caller, input) => changes.runUnlessMade(caller, numberResult, () => changeOwn(caller, input)),
  };

  async function changeOwn(
    caller: Caller,
    { oldPassword, newPassword }: OwnPassword,
  ): Promise<Changed<number>> {
    const { userId, sessionId } = caller;
    const { username } = await requireUser(database, userId);
    await requireGoodPassword(newPassword, username);
    // By session: a stolen session must not prevent its user from changing the password in another session.
    const changed = await throttle.attempt({ sessionId }, async (forgive) => {
      const checked = await checkPassword(database, passwords, { userId, sessionId, password: oldPassword });
      if (!checked) return undefined;
      const newHash = await passwords.hash(newPassword, hashQueueEntry(caller));
      return changes.run(caller, {
        codec: numberResult,
        work: async (transaction, _, by) => {
          if (!(await changePassword(transaction, checked, newHash, by.now))) {
            throw new Refusal('CONFLICT', 'The password has been changed meanwhile.');
          }
          await forgive(transaction);
          const others = { userId, exceptId: sessionId };
          return revokeUserSessions(transaction, others, { because: 'password', ...by });
        },
      });
    });
    if (!changed) throw new Refusal('FORBIDDEN', 'The old password is wrong.');
    return changed;
  }
}
