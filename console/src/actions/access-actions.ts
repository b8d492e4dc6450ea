/** The actions that change access. */

import type { AccessLevel } from '../graph/folder-change.ts';
import type { Action } from './action.ts';

/** A user or a group. */
export interface Grantee {
  readonly userId?: string;
  readonly groupId?: string;
}

interface GrantInput extends Grantee {
  readonly folderId: string;
}

export const grantAccess: Action<
  { input: GrantInput & { level: AccessLevel } },
  { grantAccess: { folder: { id: string } | null } }
> = {
  label: 'Grant access',
  document: /* GraphQL */ `
    mutation ($input: GrantAccessInput!) {
      grantAccess(input: $input) {
        folder {
          id
        }
      }
    }
  `,
  cliArguments: ({ input }) => [
    'grant',
    'create',
    `id:${input.folderId}`,
    input.level.toLowerCase(),
    ...granteeArguments(input),
  ],
};

export const revokeAccess: Action<
  { input: GrantInput },
  { revokeAccess: { folder: { id: string } | null } }
> = {
  label: 'Remove access',
  document: /* GraphQL */ `
    mutation ($input: RevokeAccessInput!) {
      revokeAccess(input: $input) {
        folder {
          id
        }
      }
    }
  `,
  cliArguments: ({ input }) => ['grant', 'delete', `id:${input.folderId}`, ...granteeArguments(input)],
};

function granteeArguments({ userId, groupId }: Grantee): string[] {
  return userId ? ['--user', `id:${userId}`] : ['--group', `id:${groupId ?? ''}`];
}
