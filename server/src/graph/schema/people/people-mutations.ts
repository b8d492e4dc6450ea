/** The mutations of users, passwords, groups and sessions. */

import type { InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import {
  readGroup,
  requireGroup,
  type ChangedGroup,
  type Group as GroupRow,
} from '../../../accounts/groups.ts';
import { readUser, requireUser } from '../../../accounts/users.ts';
import type { ChangedUser } from '../../../sessions/manage-users.ts';
import { viewSeconds } from '../../../sessions/view-as.ts';
import { Group, User, type ExtendedTypes } from '../builder.ts';
import { defineMutation, type MutationResponse } from '../mutation.ts';
import { toUserNode, type UserNode } from './people-batch.ts';
import { UserKind } from './people-types.ts';

const nameLimits = '1 to 128 characters without control characters. Must be unique, without regard to case.';
const passwordLimits =
  '8 to 128 characters of any kind. Must not be the user name or one of the 10,000 most common passwords.';

const userPayload = (t: ObjectFieldBuilder<ExtendedTypes, { readonly user: UserNode }>) => ({
  user: t.expose('user', { type: User, description: 'The user after the change.' }),
});

defineMutation('createUser', {
  description:
    'Create a person or a service account. Only for administrators. With an API key, FORBIDDEN for a new administrator. CONFLICT if the name is already in use.',
  input: (t) => ({
    kind: t.field({
      type: UserKind,
      required: true,
      defaultValue: 'PERSON',
      description: 'PERSON, or SERVICE for a service account.',
    }),
    username: t.string({ required: true, description: nameLimits }),
    password: t.string({
      description: `${passwordLimits} Required for a person. A service account has no password.`,
    }),
    isAdministrator: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether the user is an administrator, who has all rights.',
    }),
  }),
  change: ({ users }, caller, input) => users.create(caller, input),
  toPayload: toCurrentUser,
  payload: userPayload,
});

defineMutation('updateUser', {
  description:
    'Change a user. Fields that you omit do not change. Only for administrators. With an API key, FORBIDDEN if it makes the user an administrator or enables an administrator. CONFLICT if the name is already in use, if you disable or demote yourself, and if no other person is an administrator.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the user.' }),
    username: t.string({ description: `The new name: ${nameLimits}` }),
    isAdministrator: t.boolean({ description: 'Whether the user is an administrator.' }),
    isDisabled: t.boolean({
      description: 'Whether the user is disabled. If true, this also ends all sessions of the user.',
    }),
  }),
  change: ({ users }, caller, input) => users.update(caller, input),
  toPayload: toCurrentUser,
  payload: userPayload,
});

defineMutation('deleteUser', {
  description:
    'Delete a user with all sessions, group memberships and grants. Only for administrators. CONFLICT if you delete yourself, and if no other person is an administrator.',
  input: (t) => ({ id: t.id({ required: true, description: 'The id of the user.' }) }),
  change: ({ users }, caller, { id }) => users.delete(caller, id),
  toPayload: (_, __, { id }) => ({ deletedUserId: id }),
  payload: (t) => ({
    deletedUserId: t.exposeID('deletedUserId', { description: 'The id of the deleted user.' }),
  }),
});

const endedSessionsPayload = (t: ObjectFieldBuilder<ExtendedTypes, { readonly endedSessions: number }>) => ({
  endedSessions: t.exposeInt('endedSessions', { description: 'The number of sessions that ended.' }),
});

defineMutation('resetPassword', {
  description:
    'Set a new password for another user, and end all sessions of the user. Only for administrators. With an API key, FORBIDDEN for an administrator. CONFLICT for your own password (use `changePassword`), and for a service account.',
  input: (t) => ({
    userId: t.id({ required: true, description: 'The id of the user.' }),
    password: t.string({ required: true, description: passwordLimits }),
  }),
  change: ({ users }, caller, input) => users.resetPassword(caller, input),
  toPayload: (endedSessions) => ({ endedSessions }),
  payload: endedSessionsPayload,
});

defineMutation('startViewAs', {
  description: `View the tree as another user, for ${viewSeconds / 60} minutes. Send the view token in the header \`Espalier-View-As\`, next to the Authorization header of the same session, or as \`viewAs\` in the payload of \`connection_init\`. The server then runs queries with exactly the rights of that user, and refuses mutations with FORBIDDEN. Only for administrators. CONFLICT if the user is yourself or disabled. The view ends with the session, when you lose the administrator role, and when the user is disabled or deleted.`,
  input: (t) => ({ userId: t.id({ required: true, description: 'The id of the user to view as.' }) }),
  change: ({ views }, caller, input) => views.start(caller, input),
  toPayload: async ({ userId, token, expiresAt }, { context: { reader } }) => ({
    user: toUserNode(await requireUser(reader, userId)),
    token,
    expiresAt,
  }),
  payload: (t) => ({
    user: t.expose('user', { type: User, description: 'The viewed user.' }),
    viewToken: t.exposeString('token', {
      description:
        'The view token. It works only together with an auth token of this session. Keep it secret.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the view ends.' }),
  }),
});

defineMutation('changePassword', {
  description:
    'Change your password, and end your other sessions. FORBIDDEN if the old password is wrong. After 50 wrong attempts, UNAVAILABLE for some time, with `retryAfterSeconds`.',
  input: (t) => ({
    oldPassword: t.string({ required: true, description: 'Your current password.' }),
    newPassword: t.string({ required: true, description: passwordLimits }),
  }),
  change: ({ users }, caller, input) => users.changePassword(caller, input),
  toPayload: (endedSessions) => ({ endedSessions }),
  payload: endedSessionsPayload,
});

/** Reads the user from the snapshot of the response. Keeps the result of the change if the user was deleted since. */
async function toCurrentUser({ id, user }: ChangedUser, { context: { reader } }: MutationResponse) {
  return {
    user: toUserNode((user && (await readUser(reader, id))) ?? user ?? (await requireUser(reader, id))),
  };
}

const groupPayload = (t: ObjectFieldBuilder<ExtendedTypes, { readonly group: GroupRow }>) => ({
  group: t.expose('group', { type: Group, description: 'The group after the change.' }),
});

defineMutation('createGroup', {
  description: 'Create a group. Only for administrators. CONFLICT if the name is already in use.',
  input: (t) => ({ name: t.string({ required: true, description: nameLimits }) }),
  change: ({ groups }, caller, input) => groups.create(caller, input),
  toPayload: withCurrentGroup,
  payload: groupPayload,
});

defineMutation('updateGroup', {
  description: 'Rename a group. Only for administrators. CONFLICT if the name is already in use.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the group.' }),
    name: t.string({ description: `The new name: ${nameLimits} If you omit it, the name does not change.` }),
  }),
  change: ({ groups }, caller, input) => groups.update(caller, input),
  toPayload: withCurrentGroup,
  payload: groupPayload,
});

defineMutation('deleteGroup', {
  description: 'Delete a group with its grants. Does not delete its members. Only for administrators.',
  input: (t) => ({ id: t.id({ required: true, description: 'The id of the group.' }) }),
  change: ({ groups }, caller, { id }) => groups.delete(caller, id),
  toPayload: (_, __, { id }) => ({ deletedGroupId: id }),
  payload: (t) => ({
    deletedGroupId: t.exposeID('deletedGroupId', { description: 'The id of the deleted group.' }),
  }),
});

const membershipInput = (t: InputFieldBuilder<ExtendedTypes, 'InputObject'>) => ({
  groupId: t.id({ required: true, description: 'The id of the group.' }),
  userIds: t.idList({ required: true, description: 'The ids of the users, at most 1,000 in one call.' }),
});

defineMutation('addToGroup', {
  description: 'Add users to a group. If a user does not exist, no user is added. Only for administrators.',
  input: membershipInput,
  change: ({ groups }, caller, input) => groups.addMembers(caller, input),
  toPayload: (changed, response) => withCurrentGroup(changed, response),
  payload: (t) => ({
    group: t.expose('group', { type: Group, description: 'The group after the change.' }),
    added: t.exposeInt('count', { description: 'The number of users who were not in the group before.' }),
  }),
});

defineMutation('removeFromGroup', {
  description: 'Remove users from a group. Ignores users who are not in the group. Only for administrators.',
  input: membershipInput,
  change: ({ groups }, caller, input) => groups.removeMembers(caller, input),
  toPayload: (changed, response) => withCurrentGroup(changed, response),
  payload: (t) => ({
    group: t.expose('group', { type: Group, description: 'The group after the change.' }),
    removed: t.exposeInt('count', { description: 'The number of users who were in the group.' }),
  }),
});

/** Reads the group from the snapshot of the response. Keeps the result of the change if the group was deleted since. */
async function withCurrentGroup<T extends ChangedGroup>(
  changed: T,
  { context: { reader } }: MutationResponse,
): Promise<T & { readonly group: GroupRow }> {
  const { id, group } = changed;
  return {
    ...changed,
    group: (group && (await readGroup(reader, id))) ?? group ?? (await requireGroup(reader, id)),
  };
}

defineMutation('revokeSession', {
  description:
    'End a session: its refresh token becomes invalid immediately. Only administrators may end the sessions of other users. NOT_FOUND if the session has already ended, or if you may not end it.',
  input: (t) => ({ id: t.id({ required: true, description: 'The id of the session.' }) }),
  change: ({ sessions }, caller, { id }) => sessions.revoke(caller, id),
  toPayload: (_, __, { id }) => ({ revokedSessionId: id }),
  payload: (t) => ({
    revokedSessionId: t.exposeID('revokedSessionId', { description: 'The id of the ended session.' }),
  }),
});

defineMutation('revokeSessions', {
  description: 'End all sessions of a user, with or without the session of this request.',
  input: (t) => ({
    userId: t.id({
      description:
        'The id of the user: yourself by default. Only administrators may end the sessions of other users.',
    }),
    keepCurrent: t.boolean({
      required: true,
      defaultValue: false,
      description: 'If true, the session of this request continues.',
    }),
  }),
  change: ({ sessions }, caller, input) => sessions.revokeAll(caller, input),
  toPayload: (endedSessions) => ({ endedSessions }),
  payload: endedSessionsPayload,
});
