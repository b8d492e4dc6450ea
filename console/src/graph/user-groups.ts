/** Reads the groups of a user. */

import { useAllPages, type Page } from './use-pages.ts';
import type { GraphQueryKey } from './use-graph.ts';

export interface GroupName {
  readonly id: string;
  readonly name: string;
}

const groupsDocument = /* GraphQL */ `
  query GroupsOfUser($id: ID!, $first: Int, $after: String) {
    user(id: $id) {
      groups(first: $first, after: $after) {
        items {
          id
          name
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

interface GroupsResponse {
  readonly user: { readonly groups: Omit<Page<GroupName>, 'totalCount'> | null } | null;
}

export function userGroupsKey(userId: string): GraphQueryKey {
  return ['people', 'userGroups', userId];
}

/** Administrators can read the groups of all users. Others can read their own. */
export function useUserGroups(userId: string, options?: { readonly isEnabled: boolean }) {
  return useAllPages<GroupsResponse, GroupName>(
    userGroupsKey(userId),
    groupsDocument,
    { id: userId },
    ({ user }) => user && user.groups,
    options,
  );
}
