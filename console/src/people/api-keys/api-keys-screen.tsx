/** The screen of the API keys of all users. */

import { Link, setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { Empty } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { useNamedUser, usePeopleUpdates } from '../people-data.tsx';
import { ApiKeyTable } from './api-key-table.tsx';
import { useApiKeys } from './api-keys.ts';
import '../people.css';
import './api-keys.css';

export function ApiKeysScreen() {
  const userId = useLocation().query.get('user');
  const list = useApiKeys(userId);
  usePeopleUpdates();
  const user = useNamedUser(userId);
  const filter = (id: string | null) => setQuery({ user: id, apiKey: null });
  return (
    <main className="page">
      <header className="page-header">
        <h1>API keys</h1>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
      </header>
      <p className="page-about">
        The keys of all users. Create keys for programs on the page of a service account, and your own keys in{' '}
        <Link to="/account">your account</Link>. Keys that expired or were revoked disappear after 90 days.
      </p>
      <div className="toolbar">
        <div className="people-filter">
          <PersonPicker
            label="API keys of"
            kinds="users"
            placeholder="All users"
            value={user && { kind: 'user', id: user.id, name: user.username }}
            onChange={(person) => filter(person?.id ?? null)}
          />
        </div>
        {user && <Button onPress={() => filter(null)}>Show all users</Button>}
      </div>
      <ApiKeyTable
        key={userId}
        label="API keys, the newest first"
        list={list}
        showsUsers
        empty={
          <Empty icon="key" title="No API keys">
            <p>
              <Name>{user ? `${user.username} has no API key.` : 'API keys of all users appear here.'}</Name>
            </p>
          </Empty>
        }
      />
    </main>
  );
}
