/** Sections of grants: a heading, a search field for long lists, and a table in which managers change levels. */

import { useState, type ReactNode } from 'react';
import type { AccessLevel } from '../../graph/live.tsx';
import { Link } from '../../router.tsx';
import { useViewer } from '../../session/session.tsx';
import { accessLevels, LevelChip } from '../../ui/access-level.tsx';
import { IconButton } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { SearchField, Select } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { changeLevel, personOf, revokeGrant, type Grant } from './folder-grants.ts';
import { filterByName } from './grant-order.ts';

/** Longer lists get a search field. */
export const searchThreshold = 20;

interface GrantSectionProps {
  readonly id: string;
  readonly title: string;
  readonly grants: readonly Grant[];
  readonly canChange: boolean;
  readonly folderId: string;
  /** The text for an empty list. */
  readonly emptyText: string;
  /** A text below the list. */
  readonly note?: string;
  readonly action?: ReactNode;
}

export function GrantSection(props: GrantSectionProps) {
  const { id, title, grants, canChange, folderId, emptyText, note, action } = props;
  const [text, setText] = useState('');
  const isLong = grants.length > searchThreshold;
  const matchingGrants = isLong ? filterByName(grants, text) : grants;
  return (
    <section className="access-part" aria-labelledby={id}>
      <div className="card-header">
        <h2 id={id}>{title}</h2>
        {grants.length > 0 && (
          <span className="soft number">{formatCount(matchingGrants.length, grants.length)}</span>
        )}
        <span className="grow" />
        {action}
      </div>
      {isLong && (
        <div className="toolbar">
          <SearchField label={`Search: ${title.toLowerCase()}`} value={text} onChange={setText} />
        </div>
      )}
      {grants.length === 0 ? (
        <p className="hint">{emptyText}</p>
      ) : matchingGrants.length === 0 ? (
        <p className="hint">No user or group name contains “{text}”.</p>
      ) : (
        <>
          <GrantTable label={title} grants={matchingGrants} canChange={canChange} folderId={folderId} />
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
  readonly canChange: boolean;
  readonly folderId: string;
}

/** A requested level for a grant. Null revokes it. */
interface GrantChange {
  readonly grant: Grant;
  readonly level: AccessLevel | null;
}

function GrantTable({ label, grants, canChange, folderId }: GrantTableProps) {
  const viewer = useViewer();
  const [unconfirmedChange, setUnconfirmedChange] = useState<GrantChange | null>(null);
  const isInherited = grants.some(({ folder }) => folder.id !== folderId);

  const perform = ({ grant, level }: GrantChange) =>
    level === null ? revokeGrant(folderId, grant) : changeLevel(folderId, grant, level);
  const change = (next: GrantChange) => {
    // Users who give up their own Manage level cannot undo it, so they confirm it first.
    const isOwn = next.grant.user?.id === viewer.id && !viewer.isAdministrator;
    if (isOwn && next.grant.level === 'MANAGE') setUnconfirmedChange(next);
    else void perform(next);
  };
  return (
    <>
      <DataTable
        label={label}
        columns={createColumns({ canChange, isInherited, isLinked: viewer.isAdministrator, change })}
        list={{ data: grants }}
        keyOf={keyOf}
        empty={null}
      />
      {unconfirmedChange && (
        <ActionDialog
          title="Give up Manage access to this folder?"
          verb="Give up access"
          isDanger
          onSubmit={() => perform(unconfirmedChange)}
          onClose={() => setUnconfirmedChange(null)}
        >
          <p>This is your own access. Only another user with Manage access can give it back to you.</p>
        </ActionDialog>
      )}
    </>
  );
}

function keyOf(grant: Grant): string {
  const { kind, id } = personOf(grant);
  return `${grant.folder.id}:${kind}:${id}`;
}

interface ColumnOptions {
  readonly canChange: boolean;
  /** Adds a column with the folder of the grant. */
  readonly isInherited: boolean;
  /** The names are links to the pages of users and groups. */
  readonly isLinked: boolean;
  readonly change: (change: GrantChange) => void;
}

function createColumns(options: ColumnOptions): readonly TableColumn<Grant>[] {
  const { canChange, isInherited, isLinked, change } = options;
  const from: TableColumn<Grant> = {
    id: 'from',
    label: 'From',
    render: ({ folder }) => (
      <Link to={`/folders/${folder.id}?tab=access`}>
        <Name>{folder.name}</Name>
      </Link>
    ),
  };
  const remove = actionsColumn<Grant>((grant) => (
    <IconButton
      label={`Remove the grant to ${personOf(grant).name}`}
      icon="close"
      onPress={() => change({ grant, level: null })}
    />
  ));
  return [
    {
      id: 'to',
      label: 'To',
      isRowHeader: true,
      render: (grant) => (
        <span className="access-person">
          <Icon name={personOf(grant).kind} />
          <PersonName {...personOf(grant)} isLinked={isLinked} />
        </span>
      ),
    },
    {
      id: 'level',
      label: 'Level',
      className: 'cell-level',
      render: (grant) =>
        canChange ? (
          <Select
            label={`Level of ${personOf(grant).name}`}
            isLabelHidden
            value={grant.level}
            options={accessLevels}
            onChange={(level) => change({ grant, level })}
          />
        ) : (
          <LevelChip level={grant.level} />
        ),
    },
    ...(isInherited ? [from] : []),
    { id: 'since', label: 'Since', minTableWidth: 480, render: ({ grantedAt }) => <Time at={grantedAt} /> },
    ...(canChange ? [remove] : []),
  ];
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
