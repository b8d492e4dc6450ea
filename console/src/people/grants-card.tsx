/** The grants of a user or a group, by folder. Every change can be undone. */

import { useMemo, useState } from 'react';
import type { Grantee } from '../actions/access-actions.ts';
import {
  grantCall,
  grantTask,
  readGrantedLevel,
  revokeTask,
  type DescribedGrant,
} from '../actions/grant-actions.ts';
import { updateQueryOptimistically } from '../actions/optimistic-update.ts';
import { perform, performOrReport } from '../actions/perform.ts';
import type { AccessLevel } from '../graph/live.tsx';
import { useAllPages, type Page } from '../graph/use-pages.ts';
import type { GraphQueryKey } from '../graph/use-graph.ts';
import { Link } from '../router.tsx';
import { FolderPicker, type PickedFolder } from '../tree/search/folder-picker.tsx';
import { accessLevels, formatLevel } from '../ui/access-level.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../ui/data-table.tsx';
import { ActionDialog } from '../ui/dialog.tsx';
import { Select } from '../ui/fields.tsx';
import { FolderIcon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';
import { grantFields, type GrantRow } from './people-data.tsx';
import { Name } from '../ui/text.tsx';

interface GrantsCardProps {
  readonly grantee: Grantee;
  readonly name: string;
  readonly note: string;
}

const keyOf = ({ folder }: GrantRow) => folder.id;

export function GrantsCard({ grantee, name, note }: GrantsCardProps) {
  const [isGranting, setGranting] = useState(false);
  const list = useGrantsTo(grantee);
  const data = useMemo(() => list.data && sortByPath(list.data), [list.data]);
  return (
    <section className="card" aria-labelledby="grants">
      <header className="card-header">
        <h2 id="grants">Grants</h2>
        <span className="grow" />
        <Button size="small" icon="plus" onPress={() => setGranting(true)}>
          Grant access…
        </Button>
      </header>
      <p className="hint">{note}</p>
      <DataTable
        label="Grants"
        columns={createColumns(grantee)}
        list={{ ...list, data }}
        keyOf={keyOf}
        empty={
          <p className="soft">
            There are no grants to <Name>{name}</Name>.
          </p>
        }
        loadingLines={2}
      />
      {isGranting && <GrantDialog grantee={grantee} name={name} onClose={() => setGranting(false)} />}
    </section>
  );
}

function createColumns(grantee: Grantee): readonly TableColumn<GrantRow>[] {
  return [
    {
      id: 'folder',
      label: 'Folder',
      isRowHeader: true,
      render: ({ folder }) => (
        <span className="people-folder">
          <FolderIcon icon={folder.icon} />
          <Link to={`/folders/${folder.id}?tab=access`}>
            <Name>{folder.path}</Name>
          </Link>
        </span>
      ),
    },
    { id: 'since', label: 'Since', minTableWidth: 520, render: ({ grantedAt }) => <Time at={grantedAt} /> },
    {
      id: 'level',
      label: 'Level',
      className: 'cell-level',
      render: (grant) => (
        <Select
          label={`Level on ${grant.folder.path}`}
          isLabelHidden
          value={grant.level}
          options={accessLevels}
          onChange={(level) => level !== grant.level && void changeLevel(grantee, grant, level)}
        />
      ),
    },
    actionsColumn((grant) => (
      <IconButton
        label={`Remove access to ${grant.folder.path}`}
        icon="close"
        onPress={() => void revokeGrant(grantee, grant)}
      />
    )),
  ];
}

interface GrantDialogProps {
  readonly grantee: Grantee;
  readonly name: string;
  readonly onClose: () => void;
}

/** Grants a user or a group an access level on a folder. */
function GrantDialog({ grantee, name, onClose }: GrantDialogProps) {
  const [folder, setFolder] = useState<PickedFolder | null>(null);
  const [level, setLevel] = useState<AccessLevel>('READ');
  return (
    <ActionDialog
      title={`Grant access to ${name}`}
      verb="Grant access"
      call={folder ? grantCall({ folderId: folder.id, grantee }, level) : undefined}
      isReady={folder !== null}
      onClose={onClose}
      onSubmit={async () => {
        if (folder) await grantAccess(grantee, name, folder, level);
      }}
    >
      <FolderPicker label="Folder" picked={folder} autoFocus onPick={setFolder} />
      <Select label="Level" value={level} options={accessLevels} onChange={setLevel} />
      <p className="hint">Applies to the folder and everything inside, unless a deeper grant overrides it.</p>
    </ActionDialog>
  );
}

interface GrantsResponse {
  readonly holder: { readonly grants: Omit<Page<GrantRow>, 'totalCount'> } | null;
}

const userGrantsDocument =
  /* GraphQL */ `
    query GrantsOfUser($id: ID!, $first: Int, $after: String) {
      holder: user(id: $id) {
        id
        grants(first: $first, after: $after) {
          items {
            ...GrantRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + grantFields;

const groupGrantsDocument =
  /* GraphQL */ `
    query GrantsOfGroup($id: ID!, $first: Int, $after: String) {
      holder: group(id: $id) {
        id
        grants(first: $first, after: $after) {
          items {
            ...GrantRow
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + grantFields;

function grantsKey({ userId, groupId }: Grantee): GraphQueryKey {
  return ['people', 'grants', userId ?? groupId];
}

function useGrantsTo(grantee: Grantee) {
  const { userId, groupId } = grantee;
  const document = userId === undefined ? groupGrantsDocument : userGrantsDocument;
  return useAllPages<GrantsResponse, GrantRow>(
    grantsKey(grantee),
    document,
    { id: userId ?? groupId },
    ({ holder }) => holder && holder.grants,
  );
}

const byPath = new Intl.Collator('en', { numeric: true });

/** Sorts by path, "/Floor 2" before "/Floor 10". */
function sortByPath(grants: readonly GrantRow[]): readonly GrantRow[] {
  return grants.toSorted((one, other) => byPath.compare(one.folder.path, other.folder.path));
}

interface GrantFolder {
  readonly id: string;
  readonly path: string;
}

function describeGrant(grantee: Grantee, { id, path }: GrantFolder): DescribedGrant {
  return { folderId: id, grantee, subject: `the grant on ${path}` };
}

/** Rejects with the server's error, which the form displays. */
async function grantAccess(
  grantee: Grantee,
  name: string,
  folder: GrantFolder,
  level: AccessLevel,
): Promise<void> {
  const grant = describeGrant(grantee, folder);
  // Another user may have changed the grant since this page was loaded.
  const before = await readGrantedLevel(grant);
  const doneText = `${formatLevel(level)} on ${folder.path} for ${name}`;
  await perform({ ...grantTask(grant, level, before), doneText });
}

/** Reports an error as a toast. */
async function changeLevel(grantee: Grantee, row: GrantRow, level: AccessLevel): Promise<void> {
  const { folder, level: before } = row;
  await performOrReport({
    ...grantTask(describeGrant(grantee, folder), level, before),
    doneText: `${formatLevel(level)} on ${folder.path}`,
    optimisticUpdate: updateRows(grantee, (rows) =>
      rows.map((one) => (one.folder.id === folder.id ? { ...one, level } : one)),
    ),
  });
}

/** Reports an error as a toast. */
async function revokeGrant(grantee: Grantee, { folder, level }: GrantRow): Promise<void> {
  await performOrReport({
    ...revokeTask(describeGrant(grantee, folder), level),
    doneText: `Removed “${formatLevel(level)}” on ${folder.path}`,
    optimisticUpdate: updateRows(grantee, (rows) => rows.filter((row) => row.folder.id !== folder.id)),
  });
}

function updateRows(grantee: Grantee, change: (rows: readonly GrantRow[]) => readonly GrantRow[]) {
  return () => updateQueryOptimistically<readonly GrantRow[]>(grantsKey(grantee), change);
}
