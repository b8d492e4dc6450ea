/** The subfolders of a folder as a table. Sorting, filter and page are stored in the address. */

import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useGraph } from '../../graph/use-graph.ts';
import { Link, setQuery, useLocation } from '../../router.tsx';
import { copyLines, listFolderActions } from '../../tree/edit/folder-menu.ts';
import { toFolderRef, type FolderRef } from '../../tree/edit/folder-operations.ts';
import { useFavorites } from '../../tree/personal-folders.tsx';
import { LevelChip } from '../../ui/access-level.tsx';
import { ActionMenu, Button } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { FolderIcon } from '../../ui/icons.tsx';
import { Empty } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { hasLevel, type CurrentFolder } from '../current-folder.ts';
import { FolderDialogs, type OpenDialog } from '../folder-dialogs.tsx';
import {
  orderFields,
  readOptions,
  sortBy,
  toVariables,
  writeOptions,
  type ChildFolder,
  type ListOptions,
} from './children-list.ts';
import './children.css';

const childrenDocument = /* GraphQL */ `
  query ChildrenOf($id: ID!, $first: Int, $skip: Int, $filter: FolderFilter, $orderBy: FolderOrder) {
    folder(id: $id) {
      folders(first: $first, skip: $skip, filter: $filter, orderBy: $orderBy) {
        totalCount
        items {
          id
          name
          title
          icon
          accessLevel
          createdAt
          updatedAt
          folders(first: 1) {
            totalCount
          }
        }
      }
    }
  }
`;

interface ChildrenResponse {
  readonly folder: {
    readonly folders: { readonly totalCount: number; readonly items: readonly ChildFolder[] };
  } | null;
}

const idOf = ({ id }: ChildFolder) => id;

export function ChildrenTab({ folder }: { folder: CurrentFolder }) {
  const { id } = folder;
  const options = readOptions(useLocation().query);
  // Loads the favorites, which the menus need.
  useFavorites();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const children = useGraph<ChildrenResponse>(
    ['folder', id, 'children', options],
    childrenDocument,
    { id, ...toVariables(options) },
    { placeholderData: keepPreviousData },
  );
  const change = (next: Partial<ListOptions>) => setQuery(writeOptions({ ...options, page: 1, ...next }));
  const open = (kind: OpenDialog['kind'], folders: readonly FolderRef[]) => setDialog({ kind, folders });
  const isEmpty = options.text === '' && folder.folders.totalCount === 0;
  const { totalCount, items } = children.data?.folder?.folders ?? { totalCount: 0, items: [] };
  return (
    <div className="children">
      {!isEmpty && (
        <div className="toolbar">
          <SearchField label="Filter by name" value={options.text} onChange={(text) => change({ text })} />
        </div>
      )}
      <DataTable
        key={options.text}
        label="Folders"
        columns={createColumns(folder, open)}
        list={{
          ...children,
          data: children.data && items,
          isPreviousData: children.isPlaceholderData,
        }}
        keyOf={idOf}
        pages={{ page: options.page - 1, totalCount, turnTo: (page) => change({ page: page + 1 }) }}
        sort={{
          column: options.field,
          direction: options.direction === 'ASC' ? 'ascending' : 'descending',
        }}
        onSort={({ column }) =>
          change(sortBy(options, orderFields.find((field) => field === column) ?? 'NAME'))
        }
        bulkActions={(selected) => <BulkActions folder={folder} selected={selected} onOpen={open} />}
        empty={
          isEmpty ? (
            <NoChildren folder={folder} onNew={() => open('create', [toFolderRef(folder)])} />
          ) : (
            <Empty icon="search" title={`No folder name contains “${options.text}”`}>
              <Button onPress={() => change({ text: '' })}>Show all</Button>
            </Empty>
          )
        }
      />
      <FolderDialogs open={dialog} onClose={() => setDialog(null)} />
    </div>
  );
}

function NoChildren({ folder, onNew }: { folder: CurrentFolder; onNew: () => void }) {
  return (
    <Empty icon="folder" title="No folders inside">
      {hasLevel(folder.accessLevel, 'WRITE') && (
        <Button icon="plus" onPress={onNew}>
          New folder
        </Button>
      )}
    </Empty>
  );
}

type OpenFolderDialog = (kind: OpenDialog['kind'], folders: readonly FolderRef[]) => void;

interface BulkActionsProps {
  readonly folder: CurrentFolder;
  readonly selected: readonly ChildFolder[];
  readonly onOpen: OpenFolderDialog;
}

function BulkActions({ folder, selected, onOpen }: BulkActionsProps) {
  const refs = selected.map(({ id, name }) => ({ id, name, parentId: folder.id }));
  return (
    <>
      {hasLevel(folder.accessLevel, 'WRITE') && (
        <>
          <Button size="small" icon="move" onPress={() => onOpen('move', refs)}>
            Move to…
          </Button>
          <Button size="small" icon="trash" onPress={() => onOpen('delete', refs)}>
            Delete…
          </Button>
        </>
      )}
      <Button
        size="small"
        icon="copy"
        onPress={() =>
          void copyLines(
            'path',
            selected.map(({ name }) => childPath(folder, name)),
          )
        }
      >
        Copy paths
      </Button>
      <Button
        size="small"
        icon="copy"
        onPress={() =>
          void copyLines(
            'id',
            selected.map(({ id }) => id),
          )
        }
      >
        Copy ids
      </Button>
    </>
  );
}

function createColumns(parent: CurrentFolder, open: OpenFolderDialog): readonly TableColumn<ChildFolder>[] {
  return [
    {
      id: 'NAME',
      label: 'Name',
      isRowHeader: true,
      isSortable: true,
      render: (child) => <ChildName child={child} />,
    },
    {
      id: 'title',
      label: 'Title',
      minTableWidth: 640,
      render: ({ name, title }) => title !== name && <Name>{title}</Name>,
    },
    {
      id: 'folders',
      label: 'Folders',
      className: 'cell-count number',
      render: ({ folders: { totalCount } }) =>
        totalCount > 0 ? totalCount.toLocaleString('en') : <span className="soft">0</span>,
    },
    {
      id: 'CREATED',
      label: 'Created',
      minTableWidth: 840,
      isSortable: true,
      className: 'cell-time',
      render: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      id: 'UPDATED',
      label: 'Changed',
      minTableWidth: 440,
      isSortable: true,
      className: 'cell-time',
      render: ({ updatedAt }) => <Time at={updatedAt} />,
    },
    {
      id: 'level',
      label: 'Your access',
      minTableWidth: 440,
      render: ({ accessLevel }) =>
        accessLevel === 'NONE' ? (
          <span className="label-chip">Passage</span>
        ) : (
          <LevelChip level={accessLevel} />
        ),
    },
    actionsColumn((child) => <ChildMenu child={child} parent={parent} onOpen={open} />),
  ];
}

function ChildName({ child: { id, name, title, icon } }: { child: ChildFolder }) {
  return (
    <>
      <Link to={`/folders/${id}`} className="children-name">
        <span className="folder-glyph">
          <FolderIcon icon={icon} />
        </span>
        <span>
          <Name>{name}</Name>
        </span>
      </Link>
      {title !== name && (
        <p className="narrow-only children-title soft">
          <Name>{title}</Name>
        </p>
      )}
    </>
  );
}

interface ChildMenuProps {
  readonly child: ChildFolder;
  readonly parent: CurrentFolder;
  readonly onOpen: OpenFolderDialog;
}

function ChildMenu({ child: { id, name, accessLevel }, parent, onOpen }: ChildMenuProps) {
  const ref = { id, name, parentId: parent.id };
  const folder = { ...ref, path: childPath(parent, name), accessLevel, parentLevel: parent.accessLevel };
  return (
    <ActionMenu
      label={`Actions for ${name}`}
      list={() => listFolderActions(folder, { open: (kind) => onOpen(kind, [ref]) })}
    />
  );
}

function childPath({ path }: CurrentFolder, name: string): string {
  return `${path === '/' ? '' : path}/${name}`;
}
