/** What can be done with users, groups and sessions. */

import { chosenWords, type Action } from './action.ts';

interface Input<Fields> {
  readonly input: Fields;
}

export const createUser: Action<
  Input<{ username: string; password: string; isAdministrator: boolean }>,
  { createUser: { user: { id: string; username: string } } }
> = {
  label: 'Create user',
  document: /* GraphQL */ `
    mutation ($input: CreateUserInput!) {
      createUser(input: $input) {
        user {
          id
          username
        }
      }
    }
  `,
  secrets: ['password'],
  words: ({ input }) => [
    'user',
    'add',
    ...(input.isAdministrator ? ['--administrator'] : []),
    ...chosenWords(input.username),
  ],
};

export const updateUser: Action<
  Input<{ id: string; username?: string; isAdministrator?: boolean; isDisabled?: boolean }>,
  { updateUser: { user: { id: string; username: string } } }
> = {
  label: 'Change user',
  document: /* GraphQL */ `
    mutation ($input: UpdateUserInput!) {
      updateUser(input: $input) {
        user {
          id
          username
        }
      }
    }
  `,
  words({ input }) {
    const { id, username, isAdministrator, isDisabled } = input;
    const user = `id:${id}`;
    // Each is a command of its own.
    if ([username, isAdministrator, isDisabled].filter((one) => one !== undefined).length !== 1)
      return undefined;
    if (username !== undefined) return ['user', 'rename', ...chosenWords(user, username)];
    if (isDisabled !== undefined) return ['user', isDisabled ? 'disable' : 'enable', user];
    return ['user', isAdministrator ? 'promote' : 'demote', user];
  },
};

export const deleteUser: Action<Input<{ id: string }>, { deleteUser: { deletedUserId: string } }> = {
  label: 'Delete user',
  document: /* GraphQL */ `
    mutation ($input: DeleteUserInput!) {
      deleteUser(input: $input) {
        deletedUserId
      }
    }
  `,
  words: ({ input }) => ['user', 'rm', '--yes', `id:${input.id}`],
};

export const resetPassword: Action<
  Input<{ userId: string; password: string }>,
  { resetPassword: { endedSessions: number } }
> = {
  label: 'Reset password',
  document: /* GraphQL */ `
    mutation ($input: ResetPasswordInput!) {
      resetPassword(input: $input) {
        endedSessions
      }
    }
  `,
  secrets: ['password'],
  words: ({ input }) => ['user', 'set-password', `id:${input.userId}`],
};

export const changePassword: Action<
  Input<{ oldPassword: string; newPassword: string }>,
  { changePassword: { endedSessions: number } }
> = {
  label: 'Change password',
  document: /* GraphQL */ `
    mutation ($input: ChangePasswordInput!) {
      changePassword(input: $input) {
        endedSessions
      }
    }
  `,
  secrets: ['oldPassword', 'newPassword'],
  words: () => ['user', 'password'],
};

export const createGroup: Action<
  Input<{ name: string }>,
  { createGroup: { group: { id: string; name: string } } }
> = {
  label: 'Create group',
  document: /* GraphQL */ `
    mutation ($input: CreateGroupInput!) {
      createGroup(input: $input) {
        group {
          id
          name
        }
      }
    }
  `,
  words: ({ input }) => ['group', 'add', ...chosenWords(input.name)],
};

export const updateGroup: Action<
  Input<{ id: string; name: string }>,
  { updateGroup: { group: { id: string; name: string } } }
> = {
  label: 'Rename group',
  document: /* GraphQL */ `
    mutation ($input: UpdateGroupInput!) {
      updateGroup(input: $input) {
        group {
          id
          name
        }
      }
    }
  `,
  words: ({ input }) => ['group', 'rename', ...chosenWords(`id:${input.id}`, input.name)],
};

export const deleteGroup: Action<Input<{ id: string }>, { deleteGroup: { deletedGroupId: string } }> = {
  label: 'Delete group',
  document: /* GraphQL */ `
    mutation ($input: DeleteGroupInput!) {
      deleteGroup(input: $input) {
        deletedGroupId
      }
    }
  `,
  words: ({ input }) => ['group', 'rm', '--yes', `id:${input.id}`],
};

interface Membership {
  readonly groupId: string;
  readonly userIds: readonly string[];
}

export const addToGroup: Action<Input<Membership>, { addToGroup: { added: number } }> = {
  label: 'Add to group',
  document: /* GraphQL */ `
    mutation ($input: AddToGroupInput!) {
      addToGroup(input: $input) {
        added
      }
    }
  `,
  words: ({ input }) => ['group', 'join', `id:${input.groupId}`, ...input.userIds.map((id) => `id:${id}`)],
};

export const removeFromGroup: Action<Input<Membership>, { removeFromGroup: { removed: number } }> = {
  label: 'Remove from group',
  document: /* GraphQL */ `
    mutation ($input: RemoveFromGroupInput!) {
      removeFromGroup(input: $input) {
        removed
      }
    }
  `,
  words: ({ input }) => ['group', 'leave', `id:${input.groupId}`, ...input.userIds.map((id) => `id:${id}`)],
};

export const revokeSession: Action<Input<{ id: string }>, { revokeSession: { revokedSessionId: string } }> = {
  label: 'Revoke session',
  document: /* GraphQL */ `
    mutation ($input: RevokeSessionInput!) {
      revokeSession(input: $input) {
        revokedSessionId
      }
    }
  `,
  words: ({ input }) => ['session', 'revoke', input.id],
};

export const revokeSessions: Action<
  /** All of a user, or all of one's own but the one that asks. */
  Input<{ userId: string; keepCurrent?: never } | { userId?: never; keepCurrent: true }>,
  { revokeSessions: { endedSessions: number } }
> = {
  label: 'Revoke all sessions',
  document: /* GraphQL */ `
    mutation ($input: RevokeSessionsInput!) {
      revokeSessions(input: $input) {
        endedSessions
      }
    }
  `,
  words: ({ input: { userId } }) => [
    'session',
    'revoke',
    ...(userId === undefined ? ['--all-others'] : ['--user', `id:${userId}`]),
  ],
};
