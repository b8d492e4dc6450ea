/** Reads the sessions of all users, of one user, or of the viewer. It polls, because sessions change without an event. */

import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import { ownSessionsDocument, sessionsDocument, type SessionRow } from './sessions.ts';

const pageSize = 25;
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
