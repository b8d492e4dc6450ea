/** The dialogs to end one session, all sessions of a user, or all other sessions of the viewer. */

import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { perform } from '../../actions/perform.ts';
import { revokeSession, revokeSessions } from '../../actions/people-actions.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { deviceName } from './device.ts';
import type { SessionRow } from './sessions.ts';

const staleQueries = [['people']] as const;

export function RevokeSessionDialog({ session, onClose }: { session: SessionRow; onClose: () => void }) {
  const { id, user, agent, isCurrent } = session;
  const call = { action: revokeSession, variables: { input: { id } } };
  const device = deviceName(agent);
  const without = (one: SessionRow) => (one.id === id ? null : one);
  return (
    <ActionDialog
      title="Revoke session"
      verb="Revoke"
      isDanger
      call={call}
      onClose={onClose}
      onSubmit={() =>
        perform({
          ...call,
          doneText: `Revoked ${device} of ${user.username}`,
          staleQueries,
          optimisticUpdate: () => {
            const rollbacks = [null, user.id].map((of) =>
              updateItemsOptimistically<SessionRow>(['people', 'sessions', of], without),
            );
            return () => rollbacks.forEach((one) => one());
          },
        })
      }
    >
      <p>
        {isCurrent ? (
          'This is your current session. You will have to sign in again.'
        ) : (
          <>
            <strong>{user.username}</strong> is signed out on {device} at once and must sign in again there.
          </>
        )}
      </p>
    </ActionDialog>
  );
}

interface RevokeAllProps {
  /** Without a user, ends the viewer's other sessions. */
  readonly user?: { readonly id: string; readonly username: string };
  readonly onClose: () => void;
}

export function RevokeAllDialog({ user, onClose }: RevokeAllProps) {
  const call = {
    action: revokeSessions,
    variables: { input: user ? { userId: user.id } : { keepCurrent: true as const } },
  };
  return (
    <ActionDialog
      title={user ? `Revoke all sessions of ${user.username}` : 'Sign out everywhere else'}
      verb={user ? 'Revoke all' : 'Sign out'}
      isDanger
      call={call}
      onClose={onClose}
      onSubmit={() =>
        perform({
          ...call,
          doneText: ({ revokeSessions: { endedSessions } }) => endedText(endedSessions),
          staleQueries,
        })
      }
    >
      <p>
        {user
          ? 'The user is signed out everywhere at once and must sign in again. The password does not change.'
          : 'You stay signed in here. All your other devices are signed out at once and must sign in again.'}
      </p>
    </ActionDialog>
  );
}

export function endedText(count: number): string {
  if (count === 0) return 'No sessions were ended';
  return count === 1 ? 'One session was ended' : `${count.toLocaleString('en')} sessions were ended`;
}
