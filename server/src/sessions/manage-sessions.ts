/** Ending sessions at a viewer's request: one's own, and for administrators those of any user. */

import { requireAdministrator, type ViewerRights } from '../accounts/administrator.ts';
import { requireUser } from '../accounts/users.ts';
import { aNumber, nothing, type Caller, type Changed, type Changes } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import { revokeById, revokeSessionsOf } from './revocation.ts';
import { readLivingSession } from './session-list.ts';

export interface SessionRevocations {
  revoke(caller: Caller, id: string): Promise<Changed<void>>;
  /** Ends all sessions of a user, by default the caller, or all but the caller's session. Answers how many. */
  revokeAll(
    caller: Caller,
    input: { userId?: string | null | undefined; keepCurrent: boolean },
  ): Promise<Changed<number>>;
}

export function manageSessions(changes: Changes<ViewerRights>): SessionRevocations {
  return {
    revoke: (caller, id) =>
      changes.run(caller, {
        memory: nothing,
        work: async (transaction, { userId, isAdministrator }, by) => {
          const session = await readLivingSession(transaction, id, by.now);
          if (!session || (session.userId !== userId && !isAdministrator)) {
            throw new Refusal('NOT_FOUND', 'There is no session with this id, or it has ended already.');
          }
          await revokeById(transaction, id, { because: 'revoked', ...by });
        },
      }),
    revokeAll: (caller, { userId: given, keepCurrent }) => {
      const userId = given ?? caller.userId;
      return changes.run(caller, {
        memory: aNumber,
        ...(userId !== caller.userId && { check: requireAdministrator }),
        work: async (transaction, _, by) => {
          await requireUser(transaction, userId);
          const exceptId = keepCurrent ? caller.sessionId : undefined;
          return revokeSessionsOf(transaction, { userId, exceptId }, { because: 'revoked', ...by });
        },
      });
    },
  };
}
