/**
 * The history of a folder for users who are not administrators. The API returns changes of the whole subtree, the oldest
 * first, so pages are read in sequence and filtered. The API hides changes before the last change of the viewer's access.
 */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { FolderChange } from '../../graph/live.tsx';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { formatChange } from './change-sentence.ts';
import type { CurrentFolder } from '../current-folder.ts';

const changesDocument = /* GraphQL */ `
  query ChangesUnder($id: ID!, $after: String) {
    changes(under: $id, after: $after, first: 200) {
      cursor
      hasMore
      items {
        kind
        cursor
        folderId
        at
        folderCount
        by {
          id
          username
        }
        oldParent {
          id
          name
        }
        newParent {
          id
          name
        }
      }
    }
  }
`;

type Change = Omit<FolderChange, 'folder'>;

interface ChangesResponse {
  readonly changes: {
    readonly cursor: string;
    readonly hasMore: boolean;
    readonly items: readonly Change[];
  };
}

const icons: Readonly<Record<Change['kind'], IconName>> = {
  CREATE: 'plus',
  UPDATE: 'edit',
  MOVE: 'move',
  DELETE: 'trash',
  IMPORT: 'download',
  RESYNC: 'clock',
};

export function ChangesList({ folder }: { folder: CurrentFolder }) {
  const { id } = folder;
  const queryKey: GraphQueryKey = ['folder', id, 'changes'];
  const changes = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readChanges(id, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor, hasMore }) => (hasMore ? cursor : null),
    select: ({ pages }) =>
      pages
        .flatMap(({ items }) => items)
        .filter((change) => change.folderId === id)
        .reverse(),
  });
  const { isReadingMore, readMore } = useNextPage(queryKey, changes);
  const isTruncated = queries.getQueryData(startKey(id)) !== undefined;
  return (
    <div className="history">
      <p className="hint">
        {isTruncated
          ? 'Only administrators see changes from before your access last changed. Later changes appear here.'
          : 'The changes that you can see. Administrators also see the changed values.'}
      </p>
      {changes.hasNextPage && (
        <div className="show-more">
          <Button isPending={isReadingMore} onPress={readMore}>
            Show later changes
          </Button>
        </div>
      )}
      <QueryResult query={changes}>
        {(items) => (
          <ol className="history-list" aria-label="History, the latest first">
            {items.map((change) => (
              <HistoryEntry
                key={change.cursor}
                icon={icons[change.kind]}
                text={formatChange(change)}
                at={change.at}
              />
            ))}
            {items.length === 0 && folder.updatedAt !== folder.createdAt && (
              <HistoryEntry icon="edit" text="It was last changed or moved" at={folder.updatedAt} />
            )}
            {!items.some(({ kind }) => kind === 'CREATE') && (
              <HistoryEntry icon="plus" text="It was created" at={folder.createdAt} />
            )}
          </ol>
        )}
      </QueryResult>
    </div>
  );
}

function HistoryEntry({ icon, text, at }: { icon: IconName; text: string; at: string | null }) {
  return (
    <li className="history-entry">
      <Icon name={icon} />
      <p className="history-text">
        <Name>{text}</Name>{' '}
        {at && (
          <span className="history-time">
            <Time at={at} />
          </span>
        )}
      </p>
    </li>
  );
}

const startKey = (id: string): GraphQueryKey => ['changes-from', id];

/** Stores the cursor of a RESYNC, after which changes are available, as the start of the next read. */
async function readChanges(id: string, after: string | null, signal: AbortSignal) {
  const start = after ?? queries.getQueryData<string>(startKey(id)) ?? null;
  const { changes } = await client.query<ChangesResponse>(changesDocument, { id, after: start }, { signal });
  const resync = changes.items.findLast(({ kind }) => kind === 'RESYNC');
  if (resync) queries.setQueryData(startKey(id), resync.cursor);
  return changes;
}
