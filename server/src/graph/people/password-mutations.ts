/** Setting passwords. They are hashed before the transaction, so that nobody waits in line for a hash. */

import { checkPassword } from '../../accounts/accounts.ts';
import { changePassword, resetPassword } from '../../accounts/change-users.ts';
import { hashingFor } from '../../accounts/passwords.ts';
import { requireGoodPassword } from '../../accounts/password-rules.ts';
import { requireUser } from '../../accounts/users.ts';
import { Refusal } from '../../refusal.ts';
import { revokeSessionsOf } from '../../sessions/revocation.ts';
import type { Builder, GraphContext } from '../builder.ts';
import {
  aNumber,
  change,
  changeAsAdministrator,
  changeBy,
  requireAdministrator,
  startReadingAnew,
  unlessDone,
} from '../change.ts';

export const passwordDescription =
  '8 to 128 characters of any kind; not the user name, and none of the 10,000 most common passwords.';

export function definePasswordMutations(builder: Builder): void {
  const ResetPasswordInput = builder.inputType('ResetPasswordInput', {
    fields: (t) => ({
      userId: t.id({ required: true }),
      password: t.string({ required: true, description: passwordDescription }),
    }),
  });
  const ChangePasswordInput = builder.inputType('ChangePasswordInput', {
    fields: (t) => ({
      oldPassword: t.string({ required: true }),
      newPassword: t.string({ required: true, description: passwordDescription }),
    }),
  });

  const passwordPayload = (name: string, description: string) =>
    builder.objectRef<{ readonly endedSessions: number }>(name).implement({
      fields: (t) => ({ endedSessions: t.exposeInt('endedSessions', { description }) }),
    });
  const ResetPasswordPayload = passwordPayload(
    'ResetPasswordPayload',
    'How many sessions of the user were ended: all of them.',
  );
  const ChangePasswordPayload = passwordPayload(
    'ChangePasswordPayload',
    'How many other sessions were ended: all but this one.',
  );

  builder.mutationFields((t) => ({
    resetPassword: t.field({
      type: ResetPasswordPayload,
      nullable: true,
      description:
        'Gives another user a new password, and ends all sessions of the user. For administrators. CONFLICT for oneself: that is `changePassword`.',
      args: { input: t.arg({ type: ResetPasswordInput, required: true }) },
      resolve: async (_, { input }, context) => ({ endedSessions: await reset(context, input) }),
    }),
    changePassword: t.field({
      type: ChangePasswordPayload,
      nullable: true,
      description:
        "Changes one's own password, and ends one's other sessions. FORBIDDEN if the old one is wrong; UNAVAILABLE for a while, with `retryAfterSeconds`, when it was wrong 50 times.",
      args: { input: t.arg({ type: ChangePasswordInput, required: true }) },
      resolve: async (_, { input }, context) => ({
        endedSessions: await unlessDone(context, aNumber, () => changeOwn(context, input)),
      }),
    }),
  }));
}

async function reset(context: GraphContext, given: { userId: string; password: string }): Promise<number> {
  const { access, database, passwords } = context;
  requireAdministrator(access);
  const { userId, password } = given;
  if (userId === access.userId) {
    throw new Refusal('CONFLICT', 'Change your own password with `changePassword`: it asks for the old one.');
  }
  return unlessDone(context, aNumber, async () => {
    const { username } = await requireUser(database, userId);
    await requireGoodPassword(password, username);
    const passwordHash = await passwords.hash(password, hashingFor(context.viewer));
    return changeAsAdministrator(context, aNumber, async (transaction) => {
      const by = changeBy(context);
      await resetPassword(transaction, { userId, passwordHash }, by);
      return revokeSessionsOf(transaction, { userId }, { because: 'password', ...by });
    });
  });
}

async function changeOwn(
  context: GraphContext,
  { oldPassword, newPassword }: { oldPassword: string; newPassword: string },
): Promise<number> {
  const { database, passwords, throttle, viewer } = context;
  const { userId, sessionId } = viewer;
  const { username } = await requireUser(database, userId);
  await requireGoodPassword(newPassword, username);
  startReadingAnew(context);
  // By session: whoever has stolen one must not keep its user from changing the password in another.
  const endedSessions = await throttle.attempt({ sessionId }, async (forgive) => {
    const checked = await checkPassword(database, passwords, { userId, sessionId, password: oldPassword });
    if (!checked) return undefined;
    const newHash = await passwords.hash(newPassword, hashingFor(viewer));
    return change(context, aNumber, async (transaction) => {
      const by = changeBy(context);
      if (!(await changePassword(transaction, checked, newHash, by.now))) {
        throw new Refusal('CONFLICT', 'The password has been changed meanwhile.');
      }
      await forgive(transaction);
      const others = { userId, exceptId: sessionId };
      return revokeSessionsOf(transaction, others, { because: 'password', ...by });
    });
  });
  if (endedSessions === undefined) throw new Refusal('FORBIDDEN', 'The old password is wrong.');
  return endedSessions;
}
