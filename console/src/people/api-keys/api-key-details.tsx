/** The facts about an API key: cells of the table, and the details below a row. */

import { Link } from '../../router.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import type { ApiKeyRow } from './api-keys.ts';

interface FactProps {
  readonly apiKey: ApiKeyRow;
}

export function KeyState({ apiKey: { state, user } }: FactProps) {
  if (state === 'REVOKED') return <span className="label-chip danger">Revoked</span>;
  if (state === 'EXPIRED') return <span className="label-chip warning">Expired</span>;
  return user.isDisabled ? (
    <span className="label-chip warning">User disabled</span>
  ) : (
    <span className="label-chip good">Active</span>
  );
}

export function KeyFolder({ apiKey: { folderId, folder } }: FactProps) {
  if (folderId === null) return <span className="soft">All folders</span>;
  return folder ? (
    <Link to={`/folders/${folder.id}`}>
      <Name>{folder.path}</Name>
    </Link>
  ) : (
    <span className="soft">A folder that you do not see</span>
  );
}

export function LastUse({ apiKey: { lastUsedAt, lastUsedAddress } }: FactProps) {
  if (lastUsedAt === null) return <span className="soft">Never</span>;
  return (
    <>
      <Time at={lastUsedAt} />
      {lastUsedAddress !== null && <span className="soft"> from {lastUsedAddress}</span>}
    </>
  );
}

export function ApiKeyDetails({ apiKey }: FactProps) {
  const { id, start, networks, createdAt, createdBy, expiresAt, revokedAt } = apiKey;
  return (
    <dl className="facts api-key-facts">
      <dt>Starts with</dt>
      <dd className="code">{start}…</dd>
      <dt className="narrow-only">Folder</dt>
      <dd className="narrow-only">
        <KeyFolder apiKey={apiKey} />
      </dd>
      <dt>Networks</dt>
      <dd>{networks.length === 0 ? 'Every address' : networks.join(', ')}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} /> by {createdBy ? <Name>{createdBy.username}</Name> : 'a deleted user'}
      </dd>
      <dt className="narrow-only">Expires</dt>
      <dd className="narrow-only">{expiresAt === null ? 'Never' : <Time at={expiresAt} isDeadline />}</dd>
      {revokedAt !== null && (
        <>
          <dt>Revoked</dt>
          <dd>
            <Time at={revokedAt} />
          </dd>
        </>
      )}
      <dt>Id</dt>
      <dd className="code">{id}</dd>
    </dl>
  );
}
