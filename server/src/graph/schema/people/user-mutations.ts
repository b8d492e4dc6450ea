/** The mutations of users and passwords. */

import { readUser, requireUser } from '../../../accounts/users.ts';
import type { ChangedUser } from '../../../sessions/user-management.ts';
import { change } from '../../mutations.ts';
import { defineMutation, type Builder, type GraphContext } from '../builder.ts';
import { toUserNode, type UserNode } from './people-batch.ts';
import type { PeopleTypes } from './people.ts';

const usernameDescription =
  '1 to 128 characters without control characters; unique, without regard to upper and lower case.';
const passwordDescription =
  '8 to 128 characters of any kind; not the user name, and none of the 10,000 most common passwords.';

/** For administrators. */
export function defineUserMutations(builder: Builder, { User }: Pick<PeopleTypes, 'User'>): void {
  const userPayload = (name: string) =>
    builder.objectRef<{ readonly user: UserNode }>(name).implement({
      fields: (t) => ({ user: t.field({ type: User, resolve: ({ user }) => user }) }),
    });

  defineMutation(builder, 'createUser', {
    type: userPayload('CreateUserPayload'),
    description: 'For administrators. CONFLICT if the name is taken.',
    input: builder.inputType('CreateUserInput', {
      fields: (t) => ({
        username: t.string({ required: true, description: usernameDescription }),
        password: t.string({ required: true, description: passwordDescription }),
        isAdministrator: t.boolean({ required: true, defaultValue: false }),
      }),
    }),
    resolve: (input, context) =>
      change(context, ({ users }, caller) => users.create(caller, input), toCurrentUser),
  });

  defineMutation(builder, 'updateUser', {
    type: userPayload('UpdateUserPayload'),
    description:
      'For administrators. CONFLICT if the name is taken, and for disabling or demoting oneself: so there is always an administrator left.',
    input: builder.inputType('UpdateUserInput', {
      description: 'What is not given stays as it is.',
      fields: (t) => ({
        id: t.id({ required: true }),
        username: t.string({ description: usernameDescription }),
        isAdministrator: t.boolean(),
        isDisabled: t.boolean({ description: 'Disabling ends all sessions of the user.' }),
      }),
    }),
    resolve: (input, context) =>
      change(context, ({ users }, caller) => users.update(caller, input), toCurrentUser),
  });

  defineMutation(builder, 'deleteUser', {
    type: builder.objectRef<{ readonly deletedUserId: string }>('DeleteUserPayload').implement({
      fields: (t) => ({ deletedUserId: t.exposeID('deletedUserId') }),
    }),
    description:
      "For administrators. Deletes the user's sessions, memberships and grants too. CONFLICT for oneself.",
    input: builder.inputType('DeleteUserInput', { fields: (t) => ({ id: t.id({ required: true }) }) }),
    resolve: ({ id }, context) =>
      change(
        context,
        ({ users }, caller) => users.delete(caller, id),
        () => ({ deletedUserId: id }),
      ),
  });
}

export function definePasswordMutations(builder: Builder): void {
  const passwordPayload = (name: string, description: string) =>
    builder.objectRef<{ readonly endedSessions: number }>(name).implement({
      fields: (t) => ({ endedSessions: t.exposeInt('endedSessions', { description }) }),
    });

  defineMutation(builder, 'resetPassword', {
    type: passwordPayload('ResetPasswordPayload', 'How many sessions of the user were ended: all of them.'),
    description:
      'Gives another user a new password, and ends all sessions of the user. For administrators. CONFLICT for oneself: that is `changePassword`.',
    input: builder.inputType('ResetPasswordInput', {
      fields: (t) => ({
        userId: t.id({ required: true }),
        password: t.string({ required: true, description: passwordDescription }),
      }),
    }),
    resolve: (input, context) =>
      change(
        context,
        ({ passwords }, caller) => passwords.reset(caller, input),
        (endedSessions) => ({ endedSessions }),
      ),
  });

  defineMutation(builder, 'changePassword', {
    type: passwordPayload('ChangePasswordPayload', 'How many other sessions were ended: all but this one.'),
    description:
      "Changes one's own password, and ends one's other sessions. FORBIDDEN if the old one is wrong; UNAVAILABLE for a while, with `retryAfterSeconds`, when it was wrong 50 times.",
    input: builder.inputType('ChangePasswordInput', {
      fields: (t) => ({
        oldPassword: t.string({ required: true }),
        newPassword: t.string({ required: true, description: passwordDescription }),
      }),
    }),
    resolve: (input, context) =>
      change(
        context,
        ({ passwords }, caller) => passwords.change(caller, input),
        (endedSessions) => ({ endedSessions }),
      ),
  });
}

/** Reads the user from the snapshot of the response. Keeps the result of the change if the user was deleted since. */
async function toCurrentUser(
  { id, user }: ChangedUser,
  { reader }: GraphContext,
): Promise<{ readonly user: UserNode }> {
  return {
    user: toUserNode((user && (await readUser(reader, id))) ?? user ?? (await requireUser(reader, id))),
  };
}
