/** Reads the sessions of all users, of one user, or of the viewer. It polls, because sessions change without an event. */

import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';

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
  readonly refreshes: readonly Refresh[];
}

/** Counts how often a used refresh token was sent again. */
export function countReplays({ refreshes }: SessionRow): number {
  return refreshes.reduce((sum, { replays }) => sum + replays, 0);
}

/** The fields of documents that read pages of `SessionRow`. */
const sessionPageFields = /* GraphQL */ `
  fragment SessionPage on SessionConnection {
    items {
      ...SessionRow
    }
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
  }
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
    refreshes {
      at
      address
      agent
      replays
      replayedAt
      replayAddress
      replayAgent
    }
  }
`;

const sessionsDocument =
  /* GraphQL */ `
    query Sessions($userId: ID, $first: Int, $after: String) {
      sessions(userId: $userId, first: $first, after: $after) {
        ...SessionPage
      }
    }
  ` + sessionPageFields;

const ownSessionsDocument =
  /* GraphQL */ `
    query OwnSessions($first: Int, $after: String) {
      viewer {
        sessions(first: $first, after: $after) {
          ...SessionPage
        }
      }
    }
  ` + sessionPageFields;

const pageSize = 50;
const pollMs = 15_000;

/** Reads the sessions of all users if `userId` is null. */
export function useSessions(userId: string | null): PagedQuery<SessionRow> {
  return usePages<{ sessions: Page<SessionRow> }, SessionRow>(
    ['people', 'sessions', userId],
    sessionsDocument,
    { userId, first: pageSize },
    ({ sessions }) => sessions,
    { pollMs },
  );
}

export function useOwnSessions(): PagedQuery<SessionRow> {
  return usePages<{ viewer: { sessions: Page<SessionRow> } }, SessionRow>(
    ['people', 'ownSessions'],
    ownSessionsDocument,
    { first: pageSize },
    ({ viewer }) => viewer.sessions,
    { pollMs },
  );
}
