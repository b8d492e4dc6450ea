/** The cards with API keys: the viewer's own keys in the account, and the keys of another user. */

import { useState, type ReactNode } from 'react';
import { useViewer } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Name } from '../../ui/text.tsx';
import { Link } from '../../router.tsx';
import type { UserSummary } from '../people-data.tsx';
import { ApiKeyTable } from './api-key-table.tsx';
import { useApiKeys } from './api-keys.ts';
import { CreateApiKeyDialog, type KeyOwner } from './create-dialog.tsx';
import './api-keys.css';

export function OwnApiKeys() {
  const viewer = useViewer();
  return (
    <ApiKeysCard owner={viewer} canCreate label="Your API keys, the newest first">
      <p className="hint">
        Scripts and programs use an API key instead of a password. A key has at most your access.
      </p>
    </ApiKeysCard>
  );
}

export function UserApiKeys({ user }: { user: UserSummary }) {
  const viewer = useViewer();
  const isService = user.kind === 'SERVICE';
  const isOwn = user.id === viewer.id;
  return (
    <ApiKeysCard owner={user} canCreate={isService} label={`API keys of ${user.username}, the newest first`}>
      {!isService && (
        <p className="hint">
          {isOwn ? (
            <>
              Create your keys in <Link to="/account">your account</Link>.
            </>
          ) : (
            <>
              Only <Name>{user.username}</Name> can create these keys. You can revoke them.
            </>
          )}
        </p>
      )}
    </ApiKeysCard>
  );
}

interface ApiKeysCardProps {
  readonly owner: KeyOwner;
  readonly label: string;
  readonly canCreate: boolean;
  readonly children: ReactNode;
}

function ApiKeysCard({ owner, label, canCreate, children }: ApiKeysCardProps) {
  const list = useApiKeys(owner.id);
  const [isCreating, setCreating] = useState(false);
  return (
    <section className="card" aria-labelledby="api-keys">
      <header className="card-header">
        <h2 id="api-keys">API keys</h2>
        <span className="grow" />
        {canCreate && (
          <Button size="small" icon="plus" onPress={() => setCreating(true)}>
            Create API key…
          </Button>
        )}
      </header>
      {children}
      <ApiKeyTable label={label} list={list} empty={<p className="soft">There are no API keys.</p>} />
      {isCreating && <CreateApiKeyDialog owner={owner} onClose={() => setCreating(false)} />}
    </section>
  );
}
