/** The subfolders of a folder as a table. Sorting, filter and page are stored in the address. */

import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useGraph } from '../../graph/use-graph.ts';
import { setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/fields.tsx';
import { Empty, QueryResult } from '../../ui/states.tsx';
import {
  pageSize,
  formatRange,
  readOptions,
  toVariables,
  writeOptions,
  type ChildFolder,
  type ListOptions,
} from './children-list.ts';
import { ChildrenTable } from './children-table.tsx';
import { FolderDialogs, type OpenDialog } from '../folder-dialogs.tsx';
import { toFolderRef } from '../../tree/edit/folder-operations.ts';
import { hasLevel, type CurrentFolder } from '../current-folder.ts';
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

export function ChildrenTab({ folder }: { folder: CurrentFolder }) {
  const { id, accessLevel } = folder;
  const options = readOptions(useLocation().query);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const children = useGraph<ChildrenResponse>(
    ['folder', id, 'children', options],
    childrenDocument,
    { id, ...toVariables(options) },
    { placeholderData: keepPreviousData },
  );
  const change = (next: ListOptions) => setQuery(writeOptions(next));
  const isEmpty = options.text === '' && folder.folders.totalCount === 0;
  return (
    <div className="children" aria-busy={children.isPlaceholderData}>
      {!isEmpty && (
        <div className="toolbar">
          <SearchField
            label="Filter by name"
            value={options.text}
            onChange={(text) => change({ ...options, text, page: 1 })}
          />
        </div>
      )}
      <QueryResult query={children}>
        {({ folder: parent }) => {
          const { totalCount, items } = parent?.folders ?? { totalCount: 0, items: [] };
          if (totalCount > 0) {
            return (
              <>
                <ChildrenTable
                  items={items}
                  options={options}
                  parent={{ id, accessLevel }}
                  onChange={change}
                  onOpen={setDialog}
                />
                <Pager options={options} count={items.length} total={totalCount} onChange={change} />
              </>
            );
          }
          if (isEmpty) return <NoChildren folder={folder} onOpen={setDialog} />;
          return (
            <Empty icon="search" title={`No folder name contains “${options.text}”`}>
              <Button onPress={() => change({ ...options, text: '', page: 1 })}>Show all</Button>
            </Empty>
          );
        }}
      </QueryResult>
      <FolderDialogs open={dialog} onClose={() => setDialog(null)} />
    </div>
  );
}

interface NoChildrenProps {
  readonly folder: CurrentFolder;
  readonly onOpen: (dialog: OpenDialog) => void;
}

function NoChildren({ folder, onOpen }: NoChildrenProps) {
  return (
    <Empty icon="folder" title="No folders inside">
      {hasLevel(folder.accessLevel, 'WRITE') && (
        <Button icon="plus" onPress={() => onOpen({ kind: 'new', folder: toFolderRef(folder) })}>
          New folder
        </Button>
      )}
    </Empty>
  );
}

interface PagerProps {
  readonly options: ListOptions;
  readonly count: number;
  readonly total: number;
  readonly onChange: (options: ListOptions) => void;
}

function Pager({ options, count, total, onChange }: PagerProps) {
  const { page } = options;
  const last = Math.max(1, Math.ceil(total / pageSize));
  const go = (to: number) => () => onChange({ ...options, page: Math.min(last, Math.max(1, to)) });
  return (
    <nav className="pager" aria-label="Pages">
      <span className="soft number" role="status">
        {formatRange(page, count, total)}
      </span>
      {(last > 1 || page > 1) && (
        <span className="pager-buttons">
          <Button size="small" isDisabled={page === 1} onPress={go(1)}>
            First
          </Button>
          <Button size="small" icon="back" isDisabled={page === 1} onPress={go(page - 1)}>
            Previous
          </Button>
          <Button size="small" isDisabled={page >= last} onPress={go(page + 1)}>
            Next
          </Button>
          <Button size="small" isDisabled={page >= last} onPress={go(last)}>
            Last
          </Button>
        </span>
      )}
    </nav>
  );
}
