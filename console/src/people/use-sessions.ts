/** Sessions of everybody or of one user, for administrators, and those of the viewer: read again and again, for they come and go by themselves. */

import { usePages, type Page, type Pages } from '../graph/use-pages.ts';
import { ownSessionsDocument, sessionsDocument, type SessionRow } from './sessions.ts';

const pageSize = 25;
const pollMs = 15_000;

/** Of everybody, if `userId` is null. */
export function useSessions(userId: string | null): Pages<SessionRow> {
  return usePages<{ sessions: Page<SessionRow> }, SessionRow>(
    ['people', 'sessions', userId],
    sessionsDocument,
    { userId, first: pageSize },
    ({ sessions }) => sessions,
    { pollMs },
  );
}

export function useOwnSessions(): Pages<SessionRow> {
  return usePages<{ viewer: { sessions: Page<SessionRow> } }, SessionRow>(
    ['people', 'ownSessions'],
    ownSessionsDocument,
    { first: pageSize },
    ({ viewer }) => viewer.sessions,
    { pollMs },
  );
}
