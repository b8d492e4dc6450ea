/** Sessions, as the lists of them read and show them. */

export interface Refresh {
  readonly at: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly replays: number;
  readonly replayedAt: string | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly user: { readonly id: string; readonly username: string };
  readonly createdAt: string;
  readonly refreshedAt: string;
  readonly expiresAt: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly isCurrent: boolean;
  /** Not known of some yet. */
  readonly refreshes?: readonly Refresh[];
}

/** For documents that read `SessionRow`. */
export const sessionFields = /* GraphQL */ `
  fragment SessionRow on Session {
    id
    user {
      id
      username
    }
    createdAt
    refreshedAt
    expiresAt
    address
    agent
    isCurrent
  }
`;

export const refreshFields = /* GraphQL */ `
  fragment Refresh on SessionRefresh {
    at
    address
    agent
    replays
    replayedAt
    replayAddress
    replayAgent
  }
`;

/** How often a spent refresh token came back. */
export function replaysOf({ refreshes = [] }: SessionRow): number {
  return refreshes.reduce((sum, { replays }) => sum + replays, 0);
}

export const sessionsDocument =
  /* GraphQL */ `
    query Sessions($userId: ID, $first: Int, $after: String) {
      sessions(userId: $userId, first: $first, after: $after) {
        items {
          ...SessionRow
          refreshes {
            ...Refresh
          }
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ` +
  sessionFields +
  refreshFields;
