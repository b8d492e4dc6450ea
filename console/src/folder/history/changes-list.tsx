/**
 * What happened to a folder as far as whoever is no administrator sees it. The graph tells it from the oldest on, with what
 * happened inside: so it is read on in steps, and what is inside is left out. Before a change of one's own access it cannot tell.
 */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { FolderChange } from '../../graph/live.tsx';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { QueryResult } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { changeSentence } from './change-sentence.ts';
import type { OpenFolder } from '../open-folder.ts';

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

interface Changes {
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

export function ChangesList({ folder }: { folder: OpenFolder }) {
  const { id } = folder;
  const about: GraphQueryKey = ['folder', id, 'changes'];
  const changes = useInfiniteQuery({
    queryKey: about,
    queryFn: ({ pageParam, signal }) => readChanges(id, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor, hasMore }) => (hasMore ? cursor : null),
    select: ({ pages }) =>
      pages
        .flatMap(({ items }) => items)
        .filter((change) => change.folderId === id)
        .reverse(),
  });
  const { isReadingMore, readMore } = useNextPage(about, changes);
  const isCut = queries.getQueryData(startOf(id)) !== undefined;
  return (
    <div className="history">
      <p className="hint">
        {isCut
          ? 'What was done before your access was last changed is told to administrators only. What is done from now on appears here.'
          : 'What you can see of its history. Administrators see what was changed, too.'}
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
              <Line
                key={change.cursor}
                icon={icons[change.kind]}
                text={changeSentence(change)}
                at={change.at}
              />
            ))}
            {items.length === 0 && folder.updatedAt !== folder.createdAt && (
              <Line icon="edit" text="It was last changed or moved" at={folder.updatedAt} />
            )}
            {!items.some(({ kind }) => kind === 'CREATE') && (
              <Line icon="plus" text="It was created" at={folder.createdAt} />
            )}
          </ol>
        )}
      </QueryResult>
    </div>
  );
}

function Line({ icon, text, at }: { icon: IconName; text: string; at: string | null }) {
  return (
    <li className="history-entry">
      <Icon name={icon} />
      <p className="history-text">
        {text}{' '}
        {at && (
          <span className="history-time">
            <Time at={at} />
          </span>
        )}
      </p>
    </li>
  );
}

const startOf = (id: string): GraphQueryKey => ['changes-from', id];

/** From where the graph can tell in detail: it says RESYNC if one's access has been changed since. */
async function readChanges(id: string, after: string | null, signal: AbortSignal) {
  const from = after ?? queries.getQueryData<string>(startOf(id)) ?? null;
  const { changes } = await client.query<Changes>(changesDocument, { id, after: from }, { signal });
  const cut = changes.items.findLast(({ kind }) => kind === 'RESYNC');
  if (cut) queries.setQueryData(startOf(id), cut.cursor);
  return changes;
}
