/** The queries of users and groups for their lists and pages, and the state of a user. */

import type { AccessLevel } from '../graph/live.tsx';
import { peopleKey, useGraph, type GraphQueryKey } from '../graph/use-graph.ts';
import type { GroupName } from '../graph/user-groups.ts';
import { useJournalTail } from '../graph/use-journal-tail.ts';
import { useViewer } from '../session/session.tsx';

const peopleKinds = [
  'CREATE_USER',
  'UPDATE_USER',
  'DELETE_USER',
  'CREATE_GROUP',
  'UPDATE_GROUP',
  'DELETE_GROUP',
  'ADD_TO_GROUP',
  'REMOVE_FROM_GROUP',
  'GRANT_ACCESS',
  'REVOKE_ACCESS',
  'END_SESSION',
  'LINK_IDENTITY',
  'UNLINK_IDENTITY',
  'CREATE_API_KEY',
  'REVOKE_API_KEY',
  'ENROL_SECOND_FACTOR',
  'REMOVE_SECOND_FACTOR',
  'RESET_SECOND_FACTOR',
];

/** Refetches users and groups when another user changes them. */
export function usePeopleUpdates(): void {
  const { isAdministrator } = useViewer();
  useJournalTail({ isEnabled: isAdministrator, filter: { kinds: peopleKinds }, staleQuery: peopleKey });
}

const nameDocument = /* GraphQL */ `
  query NameOfUser($id: ID!) {
    user(id: $id) {
      id
      username
    }
  }
`;

interface NamedUser {
  readonly user: { readonly id: string; readonly username: string } | null;
}

/** Reads the name of the user in the address. Null without an id, while it is loading, and if the user was deleted. */
export function useNamedUser(userId: string | null): NamedUser['user'] {
  const { data } = useGraph<NamedUser>(
    ['people', 'name', userId],
    nameDocument,
    { id: userId },
    { enabled: userId !== null },
  );
  return userId === null ? null : (data?.user ?? null);
}

/** The key of a row in a table. */
export function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** Administrators see all of these fields. */
export interface UserSummary {
  readonly id: string;
  readonly kind: 'PERSON' | 'SERVICE';
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  /** Whether the user has an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
  /** The first page of the groups. */
  readonly groups: { readonly items: readonly GroupName[]; readonly totalCount: number };
}

export const userFields = /* GraphQL */ `
  fragment UserSummary on User {
    id
    kind
    username
    isAdministrator
    isDisabled
    hasSecondFactor
    createdAt
    lastLoginAt
    groups(first: 3) {
      items {
        id
        name
      }
      totalCount
    }
  }
`;

export interface UserResponse {
  readonly user: UserSummary | null;
}

export const userDocument =
  /* GraphQL */ `
    query UserPage($id: ID!) {
      user(id: $id) {
        ...UserSummary
      }
    }
  ` + userFields;

export function userKey(id: string): GraphQueryKey {
  return ['people', 'user', id];
}

export interface GroupFacts extends GroupName {
  readonly createdAt: string;
}

export interface GroupResponse {
  readonly group: GroupFacts | null;
}

export const groupDocument = /* GraphQL */ `
  query GroupPage($id: ID!) {
    group(id: $id) {
      id
      name
      createdAt
    }
  }
`;

export function groupKey(id: string): GraphQueryKey {
  return ['people', 'group', id];
}

export interface GrantRow {
  readonly folder: {
    readonly id: string;
    readonly path: string;
    readonly title: string;
    readonly icon: string | null;
  };
  readonly level: AccessLevel;
  readonly grantedAt: string;
}

export const grantFields = /* GraphQL */ `
  fragment GrantRow on Grant {
    folder {
      id
      path
      title
      icon
    }
    level
    grantedAt
  }
`;

/** Marks a service account. */
export function KindChip({ kind }: Pick<UserSummary, 'kind'>) {
  return kind === 'SERVICE' ? <span className="label-chip">Service account</span> : null;
}

export function UserState({ isDisabled }: { isDisabled: boolean }) {
  return isDisabled ? (
    <span className="label-chip danger">Disabled</span>
  ) : (
    <span className="label-chip good">Active</span>
  );
}
