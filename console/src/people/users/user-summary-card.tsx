/** The properties of a user. */

import { CopyButton } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserSummary } from '../people-data.ts';
import { UserState } from './user-list.tsx';

export function UserSummaryCard({ user }: { user: UserSummary }) {
  const { id, isAdministrator, isDisabled, createdAt, lastLoginAt } = user;
  return (
    <section className="card" aria-labelledby="user-facts">
      <h2 id="user-facts">Account</h2>
      <dl className="facts people-facts">
        <dt>State</dt>
        <dd>
          <UserState isDisabled={isDisabled} />
        </dd>
        <dt>Administrator</dt>
        <dd>{isAdministrator ? 'Yes, with full access' : 'No'}</dd>
        <dt>Last login</dt>
        <dd>{lastLoginAt === null ? 'Never' : <Time at={lastLoginAt} />}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd className="people-id">
          <span className="code">{id}</span>
          <CopyButton label="Copy id" text={id} />
        </dd>
      </dl>
    </section>
  );
}
