/** Sections of grants: a heading, a search field for long lists, and a table in which managers change levels. */

import { useState, type ReactNode } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { Link } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { accessLevels, LevelChip } from '../../ui/access-level.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { SearchField, Select } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { changeLevel, personOf, revokeGrant, type Grant } from './folder-grants.ts';
import { TruncatedList } from '../../ui/show-more.tsx';
import { filterByName } from './grant-order.ts';

/** Longer lists get a search field. */
export const searchThreshold = 20;
const initialCount = 50;

interface GrantSectionProps {
  readonly id: string;
  readonly title: string;
  readonly grants: readonly Grant[];
  readonly mayChange: boolean;
  readonly folderId: string;
  /** The text for an empty list. */
  readonly none: string;
  /** A text below the list. */
  readonly note?: string;
  readonly action?: ReactNode;
}

export function GrantSection(props: GrantSectionProps) {
  const { id, title, grants, mayChange, folderId, none, note, action } = props;
  const [text, setText] = useState('');
  const isLong = grants.length > searchThreshold;
  const found = isLong ? filterByName(grants, text) : grants;
  return (
    <section className="access-part" aria-labelledby={id}>
      <div className="card-header">
        <h2 id={id}>{title}</h2>
        {grants.length > 0 && <span className="soft number">{formatCount(found.length, grants.length)}</span>}
        <span className="grow" />
        {action}
      </div>
      {isLong && (
        <div className="toolbar">
          <SearchField label={`Search: ${title.toLowerCase()}`} value={text} onChange={setText} />
        </div>
      )}
      {grants.length === 0 ? (
        <p className="hint">{none}</p>
      ) : found.length === 0 ? (
        <p className="hint">Nobody’s name here holds “{text}”.</p>
      ) : (
        <>
          <TruncatedList items={found} noun="grants" size={initialCount}>
            {(visible) => (
              <GrantTable label={title} grants={visible} mayChange={mayChange} folderId={folderId} />
            )}
          </TruncatedList>
          {note && <p className="hint">{note}</p>}
        </>
      )}
    </section>
  );
}

function formatCount(found: number, all: number): string {
  const count = all.toLocaleString('en');
  return found === all ? count : `${found.toLocaleString('en')} of ${count}`;
}

interface GrantTableProps {
  readonly label: string;
  readonly grants: readonly Grant[];
  readonly mayChange: boolean;
  readonly folderId: string;
}

/** A requested level for a grant. Null revokes it. */
interface GrantChange {
  readonly grant: Grant;
  readonly level: AccessLevel | null;
}

function GrantTable({ label, grants, mayChange, folderId }: GrantTableProps) {
  const viewer = useViewer();
  const [unconfirmed, setUnconfirmed] = useState<GrantChange | null>(null);
  const isInherited = grants.some(({ folder }) => folder.id !== folderId);

  const perform = ({ grant, level }: GrantChange) =>
    level === null ? revokeGrant(folderId, grant) : changeLevel(folderId, grant, level);
  const change = (next: GrantChange) => {
    // Users who give up their own Manage level cannot undo it, so they confirm it first.
    const isOwn = next.grant.user?.id === viewer.id && !viewer.isAdministrator;
    if (isOwn && next.grant.level === 'MANAGE') setUnconfirmed(next);
    else void perform(next);
  };
  return (
    <div className="table-frame">
      <table className="table access-table">
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">To</th>
            <th scope="col">Level</th>
            {isInherited && <th scope="col">From</th>}
            <th scope="col" className="access-since">
              Since
            </th>
            {mayChange && (
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {grants.map((grant) => {
            const { kind, id } = personOf(grant);
            const key = `${grant.folder.id}:${kind}:${id}`;
            return <GrantRow key={key} {...{ grant, mayChange, isInherited }} onChange={change} />;
          })}
        </tbody>
      </table>
      {unconfirmed && (
        <ActionDialog
          title="Give up Manage access to this folder?"
          verb="Give up access"
          isDanger
          onSubmit={() => perform(unconfirmed)}
          onClose={() => setUnconfirmed(null)}
        >
          <p>This is your own access. Only another user with Manage access can give it back to you.</p>
        </ActionDialog>
      )}
    </div>
  );
}

interface GrantRowProps {
  readonly grant: Grant;
  readonly mayChange: boolean;
  /** Adds a column with the folder of the grant. */
  readonly isInherited: boolean;
  readonly onChange: (change: GrantChange) => void;
}

function GrantRow({ grant, mayChange, isInherited, onChange }: GrantRowProps) {
  const { isAdministrator } = useViewer();
  const { folder, level, grantedAt } = grant;
  const { kind, id, name } = personOf(grant);
  return (
    <tr>
      <th scope="row">
        <span className="access-person">
          <Icon name={kind} />
          <PersonName kind={kind} id={id} name={name} isLinked={isAdministrator} />
        </span>
      </th>
      <td>
        {mayChange ? (
          <div className="access-level">
            <Select
              label={`Level of ${name}`}
              isLabelHidden
              value={level}
              options={accessLevels}
              onChange={(next) => onChange({ grant, level: next })}
            />
          </div>
        ) : (
          <LevelChip level={level} />
        )}
      </td>
      {isInherited && (
        <td>
          <Link to={`/folders/${folder.id}?tab=access`}>
            <Name>{folder.name}</Name>
          </Link>
        </td>
      )}
      <td className="access-since">
        <Time at={grantedAt} />
      </td>
      {mayChange && (
        <td className="cell-actions">
          <IconButton
            label={`Remove the grant to ${name}`}
            icon="close"
            onPress={() => onChange({ grant, level: null })}
          />
        </td>
      )}
    </tr>
  );
}

interface PersonNameProps {
  readonly kind: 'user' | 'group';
  readonly id: string;
  readonly name: string;
  readonly isLinked: boolean;
}

export function PersonName({ kind, id, name, isLinked }: PersonNameProps) {
  return isLinked ? (
    <Link to={`/${kind}s/${id}`}>
      <Name>{name}</Name>
    </Link>
  ) : (
    <span>
      <Name>{name}</Name>
    </span>
  );
}
