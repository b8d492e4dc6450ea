/** The viewer's own groups, password and sessions. */

import { useState } from 'react';
import { useGraph } from '../graph/use-graph.ts';
import { useViewer } from '../session/session.tsx';
import { Link } from '../router.tsx';
import { Button } from '../ui/button.tsx';
import { ShownPart } from '../ui/shown-part.tsx';
import { Answer, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { ChangePassword } from './change-password.tsx';
import type { GroupName } from './people-data.ts';
import { RevokeAllDialog } from './revoke-dialogs.tsx';
import { SessionTable } from './session-table.tsx';
import { refreshFields, sessionFields, type Refresh, type SessionRow } from './sessions.ts';
import './people.css';

const accountDocument =
  /* GraphQL */ `
    query Account {
      viewer {
        user {
          id
          username
          isAdministrator
          createdAt
          groups {
            id
            name
          }
        }
        sessions {
          ...SessionRow
        }
      }
    }
  ` + sessionFields;

/** Apart, since whoever has very many sessions cannot have all of it in one answer. */
const refreshesDocument =
  /* GraphQL */ `
    query OwnRefreshes {
      viewer {
        sessions {
          id
          refreshes {
            ...Refresh
          }
        }
      }
    }
  ` + refreshFields;

interface Account {
  readonly viewer: {
    readonly user: {
      readonly id: string;
      readonly username: string;
      readonly isAdministrator: boolean;
      readonly createdAt: string;
      readonly groups: readonly GroupName[];
    };
    readonly sessions: readonly SessionRow[];
  };
}

interface OwnRefreshes {
  readonly viewer: { readonly sessions: readonly { id: string; refreshes: readonly Refresh[] }[] };
}

const pollMs = 15_000;

export function AccountScreen() {
  const answer = useGraph<Account>(['people', 'account'], accountDocument, {}, { refetchInterval: pollMs });
  return (
    <main className="page">
      <header className="page-header">
        <h1>Your account</h1>
      </header>
      <div className="people-columns uneven">
        <section className="card" aria-labelledby="own-facts">
          <h2 id="own-facts">Who you are</h2>
          <Answer of={answer}>{({ viewer }) => <OwnFacts user={viewer.user} />}</Answer>
        </section>
        <ChangePassword />
      </div>
      <Answer of={answer} loading={<Loading lines={3} />}>
        {({ viewer }) => <OwnSessions sessions={viewer.sessions} />}
      </Answer>
    </main>
  );
}

function OwnFacts({ user }: { user: Account['viewer']['user'] }) {
  const { isAdministrator } = useViewer();
  const { username, createdAt, groups } = user;
  return (
    <dl className="facts">
      <dt>User name</dt>
      <dd>{username}</dd>
      <dt>Administrator</dt>
      <dd>{user.isAdministrator ? 'Yes: you may see and do everything' : 'No'}</dd>
      <dt>Groups</dt>
      <dd>
        {groups.length === 0 && 'None'}
        {groups.map(({ id, name }, at) => (
          <span key={id}>
            {at > 0 && ', '}
            {isAdministrator ? <Link to={`/groups/${id}`}>{name}</Link> : name}
          </span>
        ))}
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
    </dl>
  );
}

function OwnSessions({ sessions }: { sessions: readonly SessionRow[] }) {
  const [isRevoking, setRevoking] = useState(false);
  const { data } = useGraph<OwnRefreshes>(['people', 'ownRefreshes'], refreshesDocument);
  const refreshes = new Map(data?.viewer.sessions.map((session) => [session.id, session.refreshes]));
  const all = sessions.map((session) => ({ ...session, ...refreshesIn(refreshes, session.id) }));
  return (
    <section className="card" aria-labelledby="own-sessions">
      <header className="card-header">
        <h2 id="own-sessions">Where you are signed in</h2>
        <span className="soft number">{sessions.length.toLocaleString('en')}</span>
        <span className="grow" />
        {sessions.length > 1 && (
          <Button size="small" icon="signOut" onPress={() => setRevoking(true)}>
            Sign out everywhere else…
          </Button>
        )}
      </header>
      <ShownPart of={all} things="sessions">
        {(shown) => <SessionTable caption="Your sessions, the newest first" sessions={shown} />}
      </ShownPart>
      {isRevoking && <RevokeAllDialog onClose={() => setRevoking(false)} />}
    </section>
  );
}

function refreshesIn(of: ReadonlyMap<string, readonly Refresh[]>, id: string) {
  const refreshes = of.get(id);
  return refreshes ? { refreshes } : {};
}
