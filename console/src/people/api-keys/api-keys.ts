/** Reads the API keys of all users or of one user. It polls, because the last use changes without an event. */

import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import type { KeyLevel } from '../../actions/api-key-actions.ts';

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key, which are not secret. */
  readonly start: string;
  readonly user: { readonly id: string; readonly username: string; readonly isDisabled: boolean };
  readonly level: KeyLevel;
  readonly isAdministrator: boolean;
  readonly folderId: string | null;
  /** Also null if the folder is deleted or if the viewer does not see it. */
  readonly folder: { readonly id: string; readonly path: string } | null;
  readonly networks: readonly string[];
  readonly state: 'ACTIVE' | 'EXPIRED' | 'REVOKED';
  readonly createdAt: string;
  readonly createdBy: { readonly id: string; readonly username: string } | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly lastUsedAddress: string | null;
}

const apiKeysDocument = /* GraphQL */ `
  query ApiKeys($userId: ID, $first: Int, $after: String) {
    apiKeys(userId: $userId, first: $first, after: $after) {
      items {
        id
        name
        start
        user {
          id
          username
          isDisabled
        }
        level
        isAdministrator
        folderId
        folder {
          id
          path
        }
        networks
        state
        createdAt
        createdBy {
          id
          username
        }
        expiresAt
        revokedAt
        lastUsedAt
        lastUsedAddress
      }
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

const pageSize = 50;
const pollMs = 15_000;

/** The list of all keys has the user id null. */
export function apiKeysKey(userId: string | null): GraphQueryKey {
  return ['people', 'apiKeys', userId];
}

/** Reads the keys of all users if `userId` is null, which is only for administrators. */
export function useApiKeys(userId: string | null): PagedQuery<ApiKeyRow> {
  return usePages<{ apiKeys: Page<ApiKeyRow> }, ApiKeyRow>(
    apiKeysKey(userId),
    apiKeysDocument,
    { userId, first: pageSize },
    ({ apiKeys }) => apiKeys,
    { pollMs },
  );
}
