/**
 * The changes of users that an administrator can request. They are here and not in `accounts/`, because disabling a user ends
 * sessions. Passwords are hashed before the transaction, so that no change waits for a hash.
 */

import { requireAccountName } from '../accounts/account-name.ts';
import { requireAdministrator, type ViewerRights } from '../accounts/administrator.ts';
import { createUser, deleteUser, updateUser, type UserChanges } from '../accounts/change-users.ts';
import { requireGoodPassword } from '../accounts/password-rules.ts';
import { hashingFor, type Passwords } from '../accounts/passwords.ts';
import { requireUser, type User } from '../accounts/users.ts';
import { nothing, type Caller, type Changed, type Changes, type Memory } from '../journal/changes.ts';
import { revokeSessionsOf } from './revocation.ts';

export interface ChangedUser {
  readonly id: string;
  /** As the change left the user. Missing if the change was made earlier, under the same idempotency key. */
  readonly user?: User;
}

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly isAdministrator: boolean;
}

export interface Users {
  create(caller: Caller, input: NewUser): Promise<Changed<ChangedUser>>;
  /** Disabling a user ends all of the user's sessions. */
  update(caller: Caller, input: UserChanges & { readonly id: string }): Promise<Changed<ChangedUser>>;
  delete(caller: Caller, id: string): Promise<Changed<void>>;
}

const aUser: Memory<ChangedUser, string> = { keep: ({ id }) => id, recall: (id) => ({ id }) };

export function manageUsers(
  changes: Changes<ViewerRights>,
  { passwords }: { readonly passwords: Passwords },
): Users {
  const check = requireAdministrator;
  return {
    async create(caller, { username: given, password, isAdministrator }) {
      await changes.check(caller, check);
      return changes.unlessMade(caller, aUser, async () => {
        const username = requireAccountName(given, 'user name');
        await requireGoodPassword(password, username);
        const passwordHash = await passwords.hash(password, hashingFor(caller));
        return changes.run(caller, {
          memory: aUser,
          check,
          work: async (transaction, _, by) => {
            const id = await createUser(transaction, { username, passwordHash, isAdministrator }, by);
            return { id, user: await requireUser(transaction, id) };
          },
        });
      });
    },
    update: (caller, { id, ...given }) =>
      changes.run(caller, {
        memory: aUser,
        check,
        work: async (transaction, _, by) => {
          await updateUser(transaction, id, given, by);
          if (given.isDisabled) {
            await revokeSessionsOf(transaction, { userId: id }, { because: 'disabled', ...by });
          }
          return { id, user: await requireUser(transaction, id) };
        },
      }),
    delete: (caller, id) =>
      changes.run(caller, {
        memory: nothing,
        check,
        work: (transaction, _, by) => deleteUser(transaction, id, by),
      }),
  };
}
