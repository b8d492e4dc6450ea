/**
 * The changes of users and passwords that viewers can request, and the replacement of a lost password. They are here and not
 * in `accounts/`, because they can revoke sessions. Passwords are hashed before the transaction, so that no change waits for a hash.
 */

import { checkPassword, hashQueueEntry, Passwords, requireGoodPassword } from '../accounts/passwords.ts';
import {
  changePassword,
  convertToServiceAccount,
  createUser,
  deleteUser,
  noPassword,
  readAdministrators,
  readUserByName,
  requireAccountName,
  requireAdministrator,
  requireUser,
  resetPassword,
  runAsAdministrator,
  updateUser,
  type NewUser,
  type User,
  type UserChanges,
  type UserKind,
  type ViewerRights,
} from '../accounts/users.ts';
import { deleteEnrolments } from '../accounts/second-factors/enrolments.ts';
import { deleteFactors } from '../accounts/second-factors/factors.ts';
import { systemClock } from '../clock.ts';
import { StartError } from '../config/start-error.ts';
import type { Database, Reader } from '../database/database.ts';
import {
  idCodec,
  numberCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
} from '../journal/change-runner.ts';
import { runChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { requireSession } from './auth-token.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { revokeUserSessions } from './revocation.ts';
import { deleteIdentities } from './single-sign-on/identities.ts';

export interface ChangedUser {
  readonly id: string;
  /** The user after the change. Missing if the change was made earlier, under the same idempotency key. */
  readonly user?: User;
}

interface UserServices {
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
}

export class Users {
  readonly #changes: ChangeRunner<ViewerRights>;
  readonly #services: UserServices;

  constructor(changes: ChangeRunner<ViewerRights>, services: UserServices) {
    this.#changes = changes;
    this.#services = services;
  }

  async create(caller: Caller, { password, ...user }: NewUser): Promise<Changed<ChangedUser>> {
    await this.#changes.check(caller, requireAdministrator);
    return this.#changes.runUnlessMade(caller, idCodec, async () => {
      const username = requireAccountName(user.username, 'user name');
      requirePasswordOfPerson(user.kind, password);
      const passwordHash =
        typeof password === 'string' ? await this.#hash(caller, password, username) : noPassword;
      return runAsAdministrator(this.#changes, caller, idCodec, async (transaction, by) => {
        const id = await createUser(transaction, { ...user, username, passwordHash }, by);
        return { id, user: await requireUser(transaction, id) };
      });
    });
  }

  /** Disabling a user revokes all of the user's sessions. */
  update(
    caller: Caller,
    { id, ...input }: UserChanges & { readonly id: string },
  ): Promise<Changed<ChangedUser>> {
    return runAsAdministrator(this.#changes, caller, idCodec, async (transaction, by) => {
      await updateUser(transaction, id, input, by);
      if (input.isDisabled) {
        await revokeUserSessions(transaction, { userId: id }, { because: 'disabled', ...by });
      }
      return { id, user: await requireUser(transaction, id) };
    });
  }

  /** Also deletes the second factors and the linked accounts of the user, and revokes all sessions. */
  convertToServiceAccount(caller: Caller, id: string): Promise<Changed<ChangedUser>> {
    return runAsAdministrator(this.#changes, caller, idCodec, async (transaction, by) => {
      await convertToServiceAccount(transaction, id, by);
      await deleteEnrolments(transaction, id);
      await deleteFactors(transaction, id, by.now);
      await deleteIdentities(transaction, id);
      await revokeUserSessions(transaction, { userId: id }, { because: 'revoked', ...by });
      return { id, user: await requireUser(transaction, id) };
    });
  }

  delete(caller: Caller, id: string): Promise<Changed<void>> {
    return runAsAdministrator(this.#changes, caller, voidCodec, (transaction, by) =>
      deleteUser(transaction, id, by),
    );
  }

  /** Sets the password of another user. Revokes all sessions of that user and returns their number. */
  async resetPassword(
    caller: Caller,
    { userId, password }: { readonly userId: string; readonly password: string },
  ): Promise<Changed<number>> {
    await this.#changes.check(caller, requireAdministrator);
    if (userId === caller.userId) {
      throw new Refusal(
        'CONFLICT',
        'For your own password, use `changePassword`, which requires the old one.',
      );
    }
    return this.#changes.runUnlessMade(caller, numberCodec, async () => {
      const { username } = await requireUser(this.#changes.database, userId);
      const passwordHash = await this.#hash(caller, password, username);
      return runAsAdministrator(this.#changes, caller, numberCodec, async (transaction, by) => {
        await resetPassword(transaction, { userId, passwordHash }, by);
        return revokeUserSessions(transaction, { userId }, { because: 'password', ...by });
      });
    });
  }

  /** Sets the caller's own password. Revokes all other sessions of the caller and returns their number. */
  changePassword(
    caller: Caller,
    { oldPassword, newPassword }: { readonly oldPassword: string; readonly newPassword: string },
  ): Promise<Changed<number>> {
    requireSession(caller);
    const { userId, sessionId } = caller;
    const { database } = this.#changes;
    const { passwords, throttle } = this.#services;
    return this.#changes.runUnlessMade(caller, numberCodec, async () => {
      const { username } = await requireUser(database, userId);
      await requireGoodPassword(newPassword, username);
      // Counts failures by session, because a stolen session must not prevent its user from changing the password in another
      // session.
      const changed = await throttle.attempt({ sessionId }, async (clearFailures) => {
        const login = { userId, sessionId, password: oldPassword };
        const checked = await checkPassword(database, passwords, login);
        if (!checked) return undefined;
        const newHash = await passwords.hash(newPassword, hashQueueEntry(caller));
        return this.#changes.run(caller, {
          codec: numberCodec,
          work: async (transaction, _, by) => {
            if (!(await changePassword(transaction, checked, newHash, by.now))) {
              throw new Refusal('CONFLICT', 'The password was changed in the meantime. Try again.');
            }
            await clearFailures(transaction);
            const others = { userId, exceptId: sessionId };
            return revokeUserSessions(transaction, others, { because: 'password', ...by });
          },
        });
      });
      if (!changed) throw new Refusal('FORBIDDEN', 'The old password is wrong.');
      return changed;
    });
  }

  async #hash(caller: Caller, password: string, username: string): Promise<string> {
    await requireGoodPassword(password, username);
    return this.#services.passwords.hash(password, hashQueueEntry(caller));
  }
}

function requirePasswordOfPerson(kind: UserKind = 'PERSON', password: string | null | undefined): void {
  const hasPassword = typeof password === 'string';
  if (hasPassword === (kind === 'PERSON')) return;
  const text = hasPassword
    ? 'A service account has no password. Omit `password`, and create an API key for the account.'
    : 'A person needs a password. Set `password`, or set `kind` to SERVICE for a service account.';
  throw new Refusal('BAD_INPUT', text, { facts: { inputField: 'password' } });
}

export async function requireNamed(reader: Reader, username: string): Promise<User> {
  const user = await readUserByName(reader, username);
  if (user) return user;
  const administrators = await readAdministrators(reader, 10);
  const names = administrators.map((each) => JSON.stringify(each.username)).join(', ');
  throw new StartError(
    `There is no user ${JSON.stringify(username)}.${names ? ` Administrators are ${names}.` : ''}`,
  );
}

/** Replaces a lost password directly on the database, without a viewer. */
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
