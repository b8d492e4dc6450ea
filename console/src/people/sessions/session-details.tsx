/** The details of a session: its device, its last refreshes, and refresh tokens that were used twice. */

import { Time } from '../../ui/time.tsx';
import { deviceName } from './device.ts';
import type { Refresh, SessionRow } from './sessions.ts';

export function SessionDetails({ session }: { session: SessionRow }) {
  const { id, agent, createdAt, expiresAt, refreshes } = session;
  return (
    <div className="people-session">
      <dl className="facts">
        <dt>Device</dt>
        <dd className="code">{agent ?? 'Unknown'}</dd>
        <dt className="narrow-only">Signed in</dt>
        <dd className="narrow-only">
          <Time at={createdAt} />, expires <Time at={expiresAt} isDeadline />
        </dd>
        <dt>Id</dt>
        <dd className="code">{id}</dd>
      </dl>
      <Refreshes refreshes={refreshes} />
    </div>
  );
}

function Refreshes({ refreshes }: { refreshes: readonly Refresh[] }) {
  if (refreshes.length === 0) return <p className="soft">No refresh in the last seven days.</p>;
  return (
    <>
      <p className="soft">
        The last {refreshes.length === 1 ? 'refresh' : `${refreshes.length} refreshes`} of the last seven
        days. A replay is the reuse of a spent refresh token. Within a minute, the cause is a lost response or
        a second tab. Later, the server treats it as theft and ends the session.
      </p>
      <ol className="people-refreshes">
        {refreshes.map((refresh) => (
          <li key={refresh.at}>
            <span className="people-when">
              <Time at={refresh.at} />
            </span>
            <span title={refresh.agent ?? undefined}>
              {deviceName(refresh.agent)}
              <span className="soft"> from {refresh.address ?? 'an unknown address'}</span>
            </span>
            {refresh.replays > 0 && <Replay refresh={refresh} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Replay({ refresh: { replays, replayedAt, replayAddress, replayAgent } }: { refresh: Refresh }) {
  return (
    <span className="people-replay" title={replayAgent ?? undefined}>
      <span className="label-chip warning">
        {replays === 1 ? 'Replayed once' : `Replayed ${replays.toLocaleString('en')} times`}
      </span>{' '}
      {replayedAt && (
        <>
          last <Time at={replayedAt} />,{' '}
        </>
      )}
      {deviceName(replayAgent)} from {replayAddress ?? 'an unknown address'}
    </span>
  );
}
