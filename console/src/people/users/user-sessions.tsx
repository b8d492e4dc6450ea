/** The sessions of a user. */

import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import type { UserSummary } from '../people-data.ts';
import { RevokeAllDialog } from '../sessions/revoke-dialogs.tsx';
import { SessionTable } from '../sessions/session-table.tsx';
import { useSessions } from '../sessions/use-sessions.ts';

export function UserSessions({ user }: { user: UserSummary }) {
  const list = useSessions(user.id);
  const [isRevoking, setRevoking] = useState(false);
  return (
    <section className="card" aria-labelledby="user-sessions">
      <header className="card-header">
        <h2 id="user-sessions">Sessions</h2>
        <span className="grow" />
        {list.data && list.data.totalCount > 0 && (
          <Button size="small" icon="signOut" onPress={() => setRevoking(true)}>
            Revoke all…
          </Button>
        )}
      </header>
      <QueryResult query={list} loading={<Loading lines={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">{user.username} is not signed in anywhere.</p>
          ) : (
            <SessionTable caption={`Sessions of ${user.username}`} sessions={items} />
          )
        }
      </QueryResult>
      <ShowMore pages={list} noun="sessions" />
      {isRevoking && <RevokeAllDialog user={user} onClose={() => setRevoking(false)} />}
    </section>
  );
}
