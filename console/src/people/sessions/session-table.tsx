/**
 * The table of sessions. The device's name opens the details: the last refreshes, and refresh tokens that were used
 * twice.
 */

import { deviceName } from '@espalier/contract';
import { Button as AriaButton } from 'react-aria-components';
import { useMemo, useState, type ReactNode } from 'react';
import { setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn, type TableList } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { idOf } from '../people-data.tsx';
import { UserLink } from '../user-link.tsx';
import { RevokeDialog } from './revoke-dialogs.tsx';
import { countReplays, type Refresh, type SessionRow } from './sessions.ts';

interface SessionTableProps {
  readonly label: string;
  readonly list: TableList<SessionRow>;
  readonly empty: ReactNode;
  readonly showsUsers?: boolean;
}

/** The current session cannot be selected together with others, because revoking it signs the viewer out. */
const isSelectable = ({ isCurrent }: SessionRow) => !isCurrent;
const renderDetails = (session: SessionRow) => <SessionDetails session={session} />;

export function SessionTable({ label, list, empty, showsUsers = false }: SessionTableProps) {
  const openId = useLocation().query.get('session');
  const [revoking, setRevoking] = useState<readonly SessionRow[]>([]);
  const openKeys = useMemo(() => new Set(openId === null ? [] : [openId]), [openId]);
  const columns = useMemo(
    () => createColumns({ showsUsers, openId, revoke: (session) => setRevoking([session]) }),
    [showsUsers, openId],
  );
  return (
    <>
      <DataTable
        label={label}
        columns={columns}
        list={list}
        keyOf={idOf}
        empty={empty}
        details={renderDetails}
        openKeys={openKeys}
        isSelectable={isSelectable}
        bulkActions={(sessions) => (
          <Button size="small" icon="signOut" onPress={() => setRevoking(sessions)}>
            Revoke…
          </Button>
        )}
      />
      {revoking.length > 0 && <RevokeDialog sessions={revoking} onClose={() => setRevoking([])} />}
    </>
  );
}

interface ColumnOptions {
  readonly showsUsers: boolean;
  readonly openId: string | null;
  readonly revoke: (session: SessionRow) => void;
}

const wide = 640;

function createColumns({ showsUsers, openId, revoke }: ColumnOptions): readonly TableColumn<SessionRow>[] {
  const user: TableColumn<SessionRow> = {
    id: 'user',
    label: 'User',
    minTableWidth: wide,
    render: (session) => <UserLink user={session.user} />,
  };
  return [
    ...(showsUsers ? [user] : []),
    {
      id: 'device',
      label: 'Device',
      isRowHeader: true,
      render: (session) => <Device session={session} showsUser={showsUsers} isOpen={session.id === openId} />,
    },
    {
      id: 'address',
      label: 'Address',
      minTableWidth: wide,
      className: 'number',
      render: ({ address }) => address ?? <span className="soft">Unknown</span>,
    },
    {
      id: 'signedIn',
      label: 'Signed in',
      minTableWidth: wide,
      render: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      id: 'refreshed',
      label: 'Last refresh',
      minTableWidth: wide,
      render: ({ refreshedAt }) => <Time at={refreshedAt} />,
    },
    {
      id: 'expires',
      label: 'Expires',
      minTableWidth: wide,
      render: ({ expiresAt }) => <Time at={expiresAt} isDeadline />,
    },
    {
      id: 'replays',
      label: 'Replays',
      minTableWidth: wide,
      render: (session) =>
        countReplays(session) === 0 ? <span className="soft">None</span> : <Replays session={session} />,
    },
    actionsColumn((session) => (
      <Button
        size="small"
        aria-label={`Revoke ${deviceName(session.agent)} of ${session.user.username}`}
        onPress={() => revoke(session)}
      >
        Revoke…
      </Button>
    )),
  ];
}

interface DeviceProps {
  readonly session: SessionRow;
  readonly showsUser: boolean;
  readonly isOpen: boolean;
}

function Device({ session, showsUser, isOpen }: DeviceProps) {
  const { id, agent, address, refreshedAt, isCurrent } = session;
  return (
    <>
      <div className="people-device">
        <AriaButton
          className="people-disclosure"
          aria-expanded={isOpen}
          onPress={() => setQuery({ session: isOpen ? null : id })}
        >
          <Icon name="chevron" className={isOpen ? 'turned' : ''} />
          <span title={agent ?? undefined}>{deviceName(agent)}</span>
        </AriaButton>
        {isCurrent && <span className="label-chip good">Current</span>}
      </div>
      <p className="narrow-only soft people-more">
        {showsUser && (
          <>
            <UserLink user={session.user} /> ·{' '}
          </>
        )}
        {address ?? 'Unknown address'} · <Time at={refreshedAt} /> <Replays session={session} />
      </p>
    </>
  );
}

function Replays({ session }: { session: SessionRow }) {
  const replays = countReplays(session);
  if (replays === 0) return null;
  return (
    <span className="label-chip warning">
      {replays.toLocaleString('en')} {replays === 1 ? 'replay' : 'replays'}
    </span>
  );
}

function SessionDetails({ session }: { session: SessionRow }) {
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
        days. A replay is the reuse of a refresh token that was already used. Within a minute, the cause is a
        lost response or a second tab. Later, the server treats a replay as theft and ends the session.
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
