/** The dialogs to revoke selected sessions, all sessions of a user, or all other sessions of the viewer. */

import { deviceName } from '@espalier/contract';
import type { BulkAction } from '../../actions/bulk.ts';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { revokeSession, revokeSessions } from '../../actions/people-actions.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { ActionDialog, BulkDialog } from '../../ui/dialog.tsx';
import type { SessionRow } from './sessions.ts';
import { Name } from '../../ui/text.tsx';

interface RevokeDialogProps {
  readonly sessions: readonly SessionRow[];
  readonly onClose: () => void;
}

/** Revokes one session, or several one after the other. */
export function RevokeDialog({ sessions, onClose }: RevokeDialogProps) {
  const [first] = sessions;
  const action: BulkAction<SessionRow> = {
    taskOf: (session) => ({
      action: revokeSession,
      variables: { input: { id: session.id } },
      staleQueries: peopleQueries,
      optimisticUpdate: () => removeFromLists(session),
    }),
    doneText: (done) => (done.length === 1 ? `Revoked ${nameOf(done[0]!.item)}` : formatRevoked(done.length)),
  };
  const isOne = sessions.length === 1;
  return (
    <BulkDialog
      title={isOne ? 'Revoke session' : `Revoke ${sessions.length} sessions`}
      verb="Revoke"
      isDanger
      items={sessions}
      nameOf={nameOf}
      action={action}
      call={isOne && first ? action.taskOf(first) : undefined}
      onClose={onClose}
    >
      {isOne && first ? (
        <p>
          {first.isCurrent ? (
            'This is your current session. You will have to sign in again.'
          ) : (
            <>
              <strong>
                <Name>{first.user.username}</Name>
              </strong>{' '}
              will be signed out immediately ({deviceName(first.agent)}) and must sign in again.
            </>
          )}
        </p>
      ) : (
        <p>The users will be signed out immediately on these devices and must sign in again.</p>
      )}
    </BulkDialog>
  );
}

function nameOf({ agent, user }: SessionRow): string {
  return `${deviceName(agent)} of ${user.username}`;
}

function removeFromLists({ id, user }: SessionRow): () => void {
  const rollbacks = [['sessions', null], ['sessions', user.id], ['ownSessions']].map((list) =>
    updateItemsOptimistically<SessionRow>(['people', ...list], (session) =>
      session.id === id ? null : session,
    ),
  );
  return () => rollbacks.forEach((rollback) => rollback());
}

interface RevokeAllProps {
  /** Without a user, revokes the viewer's other sessions. */
  readonly user?: { readonly id: string; readonly username: string };
  readonly onClose: () => void;
}

export function RevokeAllDialog({ user, onClose }: RevokeAllProps) {
  const task = {
    action: revokeSessions,
    variables: { input: user ? { userId: user.id } : { keepCurrent: true as const } },
    doneText: ({ revokeSessions: { endedSessions } }: NonNullable<typeof revokeSessions.result>) =>
      formatRevoked(endedSessions),
    staleQueries: peopleQueries,
  };
  return (
    <ActionDialog
      title={user ? `Revoke all sessions of ${user.username}` : 'Revoke my other sessions'}
      verb={user ? 'Revoke all' : 'Revoke'}
      isDanger
      task={task}
      onClose={onClose}
    >
      <p>
        {user
          ? 'The user is signed out everywhere immediately and must sign in again. The password does not change.'
          : 'You stay signed in here. All your other devices are signed out immediately and must sign in again.'}
      </p>
    </ActionDialog>
  );
}

export function formatRevoked(count: number): string {
  if (count === 0) return 'No sessions were revoked';
  return count === 1 ? 'One session was revoked' : `${count.toLocaleString('en')} sessions were revoked`;
}
