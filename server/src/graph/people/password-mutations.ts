/** Setting passwords. */

import type { Builder } from '../builder.ts';
import { change } from '../run-mutation.ts';

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
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ passwords }, caller) => passwords.reset(caller, input),
          (endedSessions) => ({ endedSessions }),
        ),
    }),
    changePassword: t.field({
      type: ChangePasswordPayload,
      nullable: true,
      description:
        "Changes one's own password, and ends one's other sessions. FORBIDDEN if the old one is wrong; UNAVAILABLE for a while, with `retryAfterSeconds`, when it was wrong 50 times.",
      args: { input: t.arg({ type: ChangePasswordInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ passwords }, caller) => passwords.change(caller, input),
          (endedSessions) => ({ endedSessions }),
        ),
    }),
  }));
}
