/** The actions that change users, groups and sessions. */

import { positionalArguments, type Action } from './action.ts';

interface Input<Fields> {
  readonly input: Fields;
}

export const createUser: Action<
  /** A service account has no password. */
  Input<{ kind?: 'SERVICE'; username: string; password?: string; isAdministrator: boolean }>,
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
  cliArguments: ({ input }) => [
    'user',
    'create',
    ...(input.kind === 'SERVICE' ? ['--service'] : []),
    ...(input.isAdministrator ? ['--administrator'] : []),
    ...positionalArguments(input.username),
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
  cliArguments({ input }) {
    const { id, username, isAdministrator, isDisabled } = input;
    const user = `id:${id}`;
    // The command line has a separate command for each change.
    if ([username, isAdministrator, isDisabled].filter((value) => value !== undefined).length !== 1)
      return undefined;
    if (username !== undefined) return ['user', 'rename', ...positionalArguments(user, username)];
    if (isDisabled !== undefined) return ['user', isDisabled ? 'disable' : 'enable', user];
    return ['user', isAdministrator ? 'promote' : 'demote', user];
  },
};

/** Its result is a token, so it is never offered for copying. */
export const startViewAs: Action<Input<{ userId: string }>, { startViewAs: { viewToken: string } }> = {
  label: 'View as user',
  document: /* GraphQL */ `
    mutation ($input: StartViewAsInput!) {
      startViewAs(input: $input) {
        viewToken
      }
    }
  `,
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
  cliArguments: ({ input }) => ['user', 'delete', '--yes', `id:${input.id}`],
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
  cliArguments: ({ input }) => ['user', 'password', `id:${input.userId}`],
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
  cliArguments: () => ['user', 'password'],
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
  cliArguments: ({ input }) => ['group', 'create', ...positionalArguments(input.name)],
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
  cliArguments: ({ input }) => ['group', 'rename', ...positionalArguments(`id:${input.id}`, input.name)],
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
  cliArguments: ({ input }) => ['group', 'delete', '--yes', `id:${input.id}`],
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
  cliArguments: ({ input }) => [
    'group',
    'join',
    `id:${input.groupId}`,
    ...input.userIds.map((id) => `id:${id}`),
  ],
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
  cliArguments: ({ input }) => [
    'group',
    'leave',
    `id:${input.groupId}`,
    ...input.userIds.map((id) => `id:${id}`),
  ],
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
  cliArguments: ({ input }) => ['session', 'revoke', input.id],
};

export const revokeSessions: Action<
  /** All sessions of a user, or all other sessions of the viewer. */
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
  cliArguments: ({ input: { userId } }) => [
    'session',
    'revoke',
    ...(userId === undefined ? ['--all-others'] : ['--user', `id:${userId}`]),
  ],
};

/** Its input is a one-time code, so it is never offered for copying. */
export const linkSingleSignOn: Action<
  Input<{ code: string; verifier: string }>,
  { linkSingleSignOn: { identity: { id: string } } }
> = {
  label: 'Link account',
  document: /* GraphQL */ `
    mutation ($input: LinkSingleSignOnInput!) {
      linkSingleSignOn(input: $input) {
        identity {
          id
        }
      }
    }
  `,
  secrets: ['code', 'verifier'],
};

export const unlinkSingleSignOn: Action<
  Input<{ id: string }>,
  { unlinkSingleSignOn: { unlinkedIdentityId: string } }
> = {
  label: 'Unlink account',
  document: /* GraphQL */ `
    mutation ($input: UnlinkSingleSignOnInput!) {
      unlinkSingleSignOn(input: $input) {
        unlinkedIdentityId
      }
    }
  `,
};
