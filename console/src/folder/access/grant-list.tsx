/** Grants in rows: to whom, and what; changed and taken away at once by whoever manages the folder. */

import { useState, type ReactNode } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { Link } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { accessLevels, LevelChip } from '../../ui/access-level.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { changeLevel, personOf, takeAway, type Grant } from './grants.ts';
import { SearchField } from '../../ui/search-field.tsx';
import { TruncatedList } from '../../ui/show-more.tsx';
import { namedLike } from './grant-order.ts';

interface GrantTableProps {
  readonly label: string;
  readonly grants: readonly Grant[];
  readonly mayChange: boolean;
  readonly folderId: string;
}

/** What somebody is about to do to their own access: `null` takes it away. */
interface OwnChange {
  readonly grant: Grant;
  readonly level: AccessLevel | null;
}

export function GrantTable({ label, grants, mayChange, folderId }: GrantTableProps) {
  const viewer = useViewer();
  const [asked, setAsked] = useState<OwnChange | null>(null);
  const isInherited = grants.some(({ folder }) => folder.id !== folderId);

  const perform = ({ grant, level }: OwnChange) =>
    level === null ? takeAway(folderId, grant) : changeLevel(folderId, grant, level);
  const change = (next: OwnChange) => {
    // They could not take it back themselves.
    const isOwn = next.grant.user?.id === viewer.id && !viewer.isAdministrator;
    if (isOwn && next.grant.level === 'MANAGE') setAsked(next);
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
            const { folder, level, grantedAt } = grant;
            const { kind, id, name } = personOf(grant);
            return (
              <tr key={`${folder.id}:${kind}:${id}`}>
                <th scope="row">
                  <span className="access-person">
                    <Icon name={kind} />
                    <PersonName kind={kind} id={id} name={name} isLinked={viewer.isAdministrator} />
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
                        onChange={(next) => change({ grant, level: next })}
                      />
                    </div>
                  ) : (
                    <LevelChip level={level} />
                  )}
                </td>
                {isInherited && (
                  <td>
                    <Link to={`/folders/${folder.id}?tab=access`}>{folder.title}</Link>
                  </td>
                )}
                <td className="access-since">
                  <Time at={grantedAt} />
                </td>
                {mayChange && (
                  <td className="cell-actions">
                    <IconButton
                      label={`Take away from ${name}`}
                      icon="close"
                      onPress={() => change({ grant, level: null })}
                    />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {asked && (
        <ActionDialog
          title="Give up managing this folder?"
          verb="Give it up"
          isDanger
          onSubmit={() => perform(asked)}
          onClose={() => setAsked(null)}
        >
          <p>This is your own access. Somebody else who has Manage would have to give it back to you.</p>
        </ActionDialog>
      )}
    </div>
  );
}

interface PersonNameProps {
  readonly kind: 'user' | 'group';
  readonly id: string;
  readonly name: string;
  readonly isLinked: boolean;
}

function PersonName({ kind, id, name, isLinked }: PersonNameProps) {
  return isLinked ? <Link to={`/${kind}s/${id}`}>{name}</Link> : <span>{name}</span>;
}
/** From so many on, they are searched rather than looked through. */

export const many = 20;
const shownFirst = 50;
interface GrantSectionProps {
  readonly id: string;
  readonly title: string;
  readonly grants: readonly Grant[];
  readonly mayChange: boolean;
  readonly folderId: string;
  /** What is said if there are none. */
  readonly none: string;
  /** What is said below them. */
  readonly note?: string;
  readonly action?: ReactNode;
}

export function GrantSection(props: GrantSectionProps) {
  const { id, title, grants, mayChange, folderId, none, note, action } = props;
  const [text, setText] = useState('');
  const isLong = grants.length > many;
  const found = isLong ? namedLike(grants, text) : grants;
  return (
    <section className="access-part" aria-labelledby={id}>
      <div className="card-header">
        <h2 id={id}>{title}</h2>
        {grants.length > 0 && <span className="soft number">{countText(found.length, grants.length)}</span>}
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
          <TruncatedList items={found} noun="grants" size={shownFirst}>
            {(shown) => <GrantTable label={title} grants={shown} mayChange={mayChange} folderId={folderId} />}
          </TruncatedList>
          {note && <p className="hint">{note}</p>}
        </>
      )}
    </section>
  );
}
function countText(found: number, all: number): string {
  const count = all.toLocaleString('en');
  return found === all ? count : `${found.toLocaleString('en')} of ${count}`;
}
