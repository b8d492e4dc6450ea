/** The screen of all sessions. */

import { useState } from 'react';
import { setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { Empty } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { useNamedUser } from '../people-data.tsx';
import { RevokeAllDialog } from './revoke-dialogs.tsx';
import { SessionTable } from './session-table.tsx';
import { useSessions } from './sessions.ts';
import '../people.css';

export function SessionsScreen() {
  const userId = useLocation().query.get('user');
  const list = useSessions(userId);
  const user = useNamedUser(userId);
  const [revoking, setRevoking] = useState<'theirs' | 'others' | null>(null);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Sessions</h1>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
        <span className="grow" />
        <Button icon="signOut" onPress={() => setRevoking('others')}>
          Revoke my other sessions…
        </Button>
      </header>
      <div className="toolbar">
        <div className="people-filter">
          <PersonPicker
            label="Sessions of"
            kinds="users"
            placeholder="All users"
            value={user && { kind: 'user', id: user.id, name: user.username }}
            onChange={(person) => setQuery({ user: person?.id ?? null, session: null })}
          />
        </div>
        {user && <Button onPress={() => setQuery({ user: null, session: null })}>Show all users</Button>}
        {user && list.data && list.data.totalCount > 0 && (
          <Button onPress={() => setRevoking('theirs')}>
            <Name>{`Revoke all of ${user.username}…`}</Name>
          </Button>
        )}
      </div>
      <SessionTable
        key={userId}
        label="Sessions, the newest first"
        list={list}
        showsUsers
        empty={
          <Empty icon="device" title="No active sessions">
            <p>
              <Name>{user ? `${user.username} has no session at the moment.` : 'Sessions appear here.'}</Name>
            </p>
          </Empty>
        }
      />
      {revoking === 'others' && <RevokeAllDialog onClose={() => setRevoking(null)} />}
      {revoking === 'theirs' && user && <RevokeAllDialog user={user} onClose={() => setRevoking(null)} />}
    </main>
  );
}
