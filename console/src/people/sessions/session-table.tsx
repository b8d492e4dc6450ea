/** The table of sessions. The device's name opens the details. */

import { Button as AriaButton } from 'react-aria-components';
import { Fragment, useState } from 'react';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { deviceName } from './device.ts';
import { RevokeSessionDialog } from './revoke-dialogs.tsx';
import { SessionDetails } from './session-details.tsx';
import { countReplays, type SessionRow } from './sessions.ts';

interface SessionTableProps {
  readonly caption: string;
  readonly sessions: readonly SessionRow[];
  readonly showsUsers?: boolean;
}

export function SessionTable({ caption, sessions, showsUsers = false }: SessionTableProps) {
  const openId = useLocation().query.get('session');
  const [revoking, setRevoking] = useState<SessionRow | null>(null);
  const columns = showsUsers ? 8 : 7;
  return (
    <div className="table-frame">
      <table className="table people-table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {showsUsers && (
              <th scope="col" className="wide-only">
                User
              </th>
            )}
            <th scope="col">Device</th>
            <th scope="col" className="wide-only">
              Address
            </th>
            <th scope="col" className="wide-only">
              Signed in
            </th>
            <th scope="col" className="wide-only">
              Last refresh
            </th>
            <th scope="col" className="wide-only">
              Expires
            </th>
            <th scope="col" className="wide-only">
              Replays
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <Fragment key={session.id}>
              <Row
                session={session}
                showsUser={showsUsers}
                isOpen={session.id === openId}
                onRevoke={() => setRevoking(session)}
              />
              {session.id === openId && (
                <tr className="people-detail">
                  <td colSpan={columns} id={`session-${session.id}`}>
                    <SessionDetails session={session} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      {revoking && <RevokeSessionDialog session={revoking} onClose={() => setRevoking(null)} />}
    </div>
  );
}

interface RowProps {
  readonly session: SessionRow;
  readonly showsUser: boolean;
  readonly isOpen: boolean;
  readonly onRevoke: () => void;
}

function Row({ session, showsUser, isOpen, onRevoke }: RowProps) {
  const { id, user, agent, address, createdAt, refreshedAt, expiresAt, isCurrent } = session;
  const device = deviceName(agent);
  return (
    <tr>
      {showsUser && (
        <th scope="row" className="wide-only">
          <Link to={`/users/${user.id}`}>{user.username}</Link>
        </th>
      )}
      <td>
        <div className="people-device">
          <AriaButton
            className="people-disclosure"
            aria-expanded={isOpen}
            {...(isOpen ? { 'aria-controls': `session-${id}` } : {})}
            onPress={() => setQuery({ session: isOpen ? null : id })}
          >
            <Icon name="chevron" className={isOpen ? 'turned' : ''} />
            <span title={agent ?? undefined}>{device}</span>
          </AriaButton>
          {isCurrent && <span className="label-chip good">Current</span>}
        </div>
        <p className="narrow-only soft people-more">
          {showsUser && (
            <>
              <Link to={`/users/${user.id}`}>{user.username}</Link> ·{' '}
            </>
          )}
          {address ?? 'Unknown address'} · <Time at={refreshedAt} /> <Replays session={session} />
        </p>
      </td>
      <td className="wide-only number">{address ?? <span className="soft">Unknown</span>}</td>
      <td className="wide-only">
        <Time at={createdAt} />
      </td>
      <td className="wide-only">
        <Time at={refreshedAt} />
      </td>
      <td className="wide-only">
        <Time at={expiresAt} isDeadline />
      </td>
      <td className="wide-only">
        <Replays session={session} />
        {countReplays(session) === 0 && <span className="soft">None</span>}
      </td>
      <td className="cell-actions">
        <Button size="small" aria-label={`Revoke ${device} of ${user.username}`} onPress={onRevoke}>
          Revoke
        </Button>
      </td>
    </tr>
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
