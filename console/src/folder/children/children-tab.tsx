/** The sub-folders of a folder as a table: sorted, filtered and paged by the address. */

import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useGraph } from '../../graph/use-graph.ts';
import { setQuery, usePlace } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import {
  pageSize,
  rangeText,
  readChoice,
  variablesOf,
  writeChoice,
  type ChildFolder,
  type ListChoice,
} from './children-list.ts';
import { ChildrenTable } from './children-table.tsx';
import { FolderWorkDialogs, type OpenDialog } from '../folder-dialogs.tsx';
import { toFolderRef } from '../../tree/edit/folder-operations.ts';
import { hasLevel, type OpenFolder } from '../open-folder.ts';
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

interface Children {
  readonly folder: {
    readonly folders: { readonly totalCount: number; readonly items: readonly ChildFolder[] };
  } | null;
}

export function ChildrenTab({ folder }: { folder: OpenFolder }) {
  const { id, accessLevel } = folder;
  const choice = readChoice(usePlace().query);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const children = useGraph<Children>(
    ['folder', id, 'children', choice],
    childrenDocument,
    { id, ...variablesOf(choice) },
    { placeholderData: keepPreviousData },
  );
  const choose = (next: ListChoice) => setQuery(writeChoice(next));
  const mayWrite = hasLevel(accessLevel, 'WRITE');
  const isEmpty = choice.text === '' && folder.folders.totalCount === 0;
  return (
    <div className="children" aria-busy={children.isPlaceholderData}>
      {!isEmpty && (
        <div className="toolbar">
          <SearchField
            label="Filter by name"
            value={choice.text}
            onChange={(text) => choose({ ...choice, text, page: 1 })}
          />
        </div>
      )}
      <QueryResult query={children}>
        {({ folder: read }) => {
          const { totalCount, items } = read?.folders ?? { totalCount: 0, items: [] };
          if (isEmpty && totalCount === 0) {
            return (
              <Empty icon="folder" title="No folders in here">
                {mayWrite && (
                  <Button icon="plus" onPress={() => setDialog({ kind: 'new', folder: toFolderRef(folder) })}>
                    New folder
                  </Button>
                )}
              </Empty>
            );
          }
          if (totalCount === 0) {
            return (
              <Empty icon="search" title={`No folder’s name has “${choice.text}” in it`}>
                <Button onPress={() => choose({ ...choice, text: '', page: 1 })}>Show all</Button>
              </Empty>
            );
          }
          return (
            <>
              <ChildrenTable
                items={items}
                choice={choice}
                parent={{ id, accessLevel }}
                onChoose={choose}
                onOpen={setDialog}
              />
              <Pager choice={choice} shown={items.length} total={totalCount} onChoose={choose} />
            </>
          );
        }}
      </QueryResult>
      <FolderWorkDialogs open={dialog} onClose={() => setDialog(null)} />
    </div>
  );
}

interface PagerProps {
  readonly choice: ListChoice;
  readonly shown: number;
  readonly total: number;
  readonly onChoose: (choice: ListChoice) => void;
}

function Pager({ choice, shown, total, onChoose }: PagerProps) {
  const { page } = choice;
  const last = Math.max(1, Math.ceil(total / pageSize));
  const go = (to: number) => () => onChoose({ ...choice, page: Math.min(last, Math.max(1, to)) });
  return (
    <nav className="pager" aria-label="Pages">
      <span className="soft number" role="status">
        {rangeText(page, shown, total)}
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
