/** The viewer's groups, password and sessions. */

import { useState } from 'react';
import { useGraph } from '../graph/use-graph.ts';
import { useUserGroups, type GroupName } from '../graph/user-groups.ts';
import { useViewer } from '../session/session.tsx';
import { Link } from '../router.tsx';
import { Button } from '../ui/button.tsx';
import { ShowMore } from '../ui/show-more.tsx';
import { QueryResult, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { ChangePassword } from './passwords/change-password.tsx';
import { RevokeAllDialog } from './sessions/revoke-dialogs.tsx';
import { SessionTable } from './sessions/session-table.tsx';
import { useOwnSessions } from './sessions/use-sessions.ts';
import './people.css';

const accountDocument = /* GraphQL */ `
  query Account {
    viewer {
      user {
        id
        username
        isAdministrator
        createdAt
      }
    }
  }
`;

interface Account {
  readonly viewer: {
    readonly user: {
      readonly id: string;
      readonly username: string;
      readonly isAdministrator: boolean;
      readonly createdAt: string;
    };
  };
}

export function AccountScreen() {
  const answer = useGraph<Account>(['people', 'account'], accountDocument);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Your account</h1>
      </header>
      <div className="people-columns uneven">
        <section className="card" aria-labelledby="own-facts">
          <h2 id="own-facts">Profile</h2>
          <QueryResult query={answer}>{({ viewer }) => <OwnFacts user={viewer.user} />}</QueryResult>
        </section>
        <ChangePassword />
      </div>
      <OwnSessions />
    </main>
  );
}

function OwnFacts({ user }: { user: Account['viewer']['user'] }) {
  const { isAdministrator } = useViewer();
  const { id, username, createdAt } = user;
  const groups = useUserGroups(id);
  return (
    <dl className="facts">
      <dt>User name</dt>
      <dd>{username}</dd>
      <dt>Administrator</dt>
      <dd>{user.isAdministrator ? 'Yes, with full access' : 'No'}</dd>
      <dt>Groups</dt>
      <dd>
        <QueryResult query={groups} loading={null}>
          {(all) => (all.length === 0 ? 'None' : <GroupNames groups={all} areLinks={isAdministrator} />)}
        </QueryResult>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
    </dl>
  );
}

function GroupNames({ groups, areLinks }: { groups: readonly GroupName[]; areLinks: boolean }) {
  return groups.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      {areLinks ? <Link to={`/groups/${id}`}>{name}</Link> : name}
    </span>
  ));
}

function OwnSessions() {
  const [isRevoking, setRevoking] = useState(false);
  const list = useOwnSessions();
  const count = list.data?.totalCount ?? 0;
  return (
    <section className="card" aria-labelledby="own-sessions">
      <header className="card-header">
        <h2 id="own-sessions">Your sessions</h2>
        {list.data && <span className="soft number">{count.toLocaleString('en')}</span>}
        <span className="grow" />
        {count > 1 && (
          <Button size="small" icon="signOut" onPress={() => setRevoking(true)}>
            Sign out everywhere else…
          </Button>
        )}
      </header>
      <QueryResult query={list} loading={<Loading lines={3} />}>
        {({ items }) => <SessionTable caption="Your sessions, the newest first" sessions={items} />}
      </QueryResult>
      <ShowMore pages={list} noun="sessions" />
      {isRevoking && <RevokeAllDialog onClose={() => setRevoking(false)} />}
    </section>
  );
}
