/** The history tab of a folder: journal entries for administrators, visible changes for others. */

import { useJournalTail } from '../../graph/use-journal-tail.ts';
import { usePages, type Page, useNextPage } from '../../graph/use-pages.ts';
import { useViewer } from '../../session/session.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { diffJournalEntry } from '../../ui/journal-diff.ts';
import {
  formatJournalEntry,
  journalFields,
  type JournalEntry,
  type JournalKind,
} from '../../ui/journal-sentence.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { CurrentFolder } from '../current-folder.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { FolderChange } from '../../graph/live.tsx';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { Name } from '../../ui/text.tsx';
import { formatChange } from './change-sentence.ts';
import './history.css';

export function HistoryTab({ folder }: { folder: CurrentFolder }) {
  const { isAdministrator } = useViewer();
  return isAdministrator ? <FolderJournal folder={folder} /> : <ChangesList folder={folder} />;
}

const historyDocument =
  /* GraphQL */ `
    query HistoryOf($id: ID!, $after: String) {
      journal(first: 25, after: $after, filter: { folderId: $id }) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        items {
          ...JournalFields
        }
      }
    }
  ` + journalFields;

function FolderJournal({ folder: { id } }: { folder: CurrentFolder }) {
  const entries = usePages<{ journal: Page<JournalEntry> }, JournalEntry>(
    ['folder', id, 'history'],
    historyDocument,
    { id },
    ({ journal }) => journal,
  );
  useJournalTail({ isEnabled: true, filter: { folderId: id }, staleQuery: ['folder', id, 'history'] });
  return (
    <DataTable
      label="History, the latest first"
      columns={entryColumns}
      list={entries}
      keyOf={entryKey}
      empty={
        <Empty icon="clock" title="This folder has no history yet">
          <p>It was imported with other folders, or its changes are older than the journal.</p>
        </Empty>
      }
    />
  );
}

const entryKey = ({ number }: JournalEntry) => `${number}`;

const entryColumns: readonly TableColumn<JournalEntry>[] = [
  { id: 'when', label: 'When', className: 'cell-time', render: ({ at }) => <Time at={at} /> },
  { id: 'what', label: 'What', isRowHeader: true, render: (entry) => <HistoryEntry entry={entry} /> },
];

const icons: Partial<Record<JournalKind, IconName>> = {
  CREATE_FOLDER: 'plus',
  UPDATE_FOLDER: 'edit',
  MOVE_FOLDER: 'move',
  DELETE_FOLDER: 'trash',
  RESTORE_FOLDER: 'undo',
  DUPLICATE_FOLDER: 'plus',
  IMPORT_FOLDERS: 'download',
  PURGE_FOLDER: 'trash',
  GRANT_ACCESS: 'shield',
  REVOKE_ACCESS: 'shield',
};

function HistoryEntry({ entry }: { entry: JournalEntry }) {
  const { kind } = entry;
  return (
    <div className="history-entry">
      <Icon name={icons[kind] ?? 'clock'} />
      <div>
        <Sentence parts={formatJournalEntry(entry, { isAboutFolder: true })} />
        {kind === 'UPDATE_FOLDER' && <Differences entry={entry} />}
      </div>
    </div>
  );
}

function Differences({ entry }: { entry: JournalEntry }) {
  // The sentence already contains the name.
  const differences = diffJournalEntry(entry).filter(({ name }) => name !== 'name');
  if (differences.length === 0) return null;
  return (
    <dl className="history-diff">
      {differences.map(({ name, before, after }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {before === null ? <span className="soft">none</span> : <del>{before}</del>}
            <span aria-hidden="true"> → </span>
            <span className="visually-hidden"> became </span>
            {after === null ? <span className="soft">none</span> : <ins>{after}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * The history of a folder for users who are not administrators. The API returns changes of the whole subtree, the oldest
 * first, so pages are read in sequence and filtered. The API hides changes before the last change of the viewer's access.
 */
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

const changeIcons: Readonly<Record<Change['kind'], IconName>> = {
  CREATE: 'plus',
  UPDATE: 'edit',
  MOVE: 'move',
  DELETE: 'trash',
  IMPORT: 'download',
  RESYNC: 'clock',
};

function ChangesList({ folder }: { folder: CurrentFolder }) {
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
      <DataTable
        label="History, the latest first"
        columns={changeColumns}
        list={{ ...changes, data: changes.data && listEvents(folder, changes.data) }}
        keyOf={eventKey}
        empty={null}
      />
    </div>
  );
}

interface FolderEvent {
  readonly key: string;
  readonly icon: IconName;
  readonly text: string;
  readonly at: string | null;
}

/** The changes, and the times that every reader of the folder sees. */
function listEvents(
  { createdAt, updatedAt }: CurrentFolder,
  changes: readonly Change[],
): readonly FolderEvent[] {
  const events = changes.map((change): FolderEvent => {
    const { cursor, kind, at } = change;
    return { key: cursor, icon: changeIcons[kind], text: formatChange(change), at };
  });
  if (events.length === 0 && updatedAt !== createdAt) {
    events.push({ key: 'updated', icon: 'edit', text: 'It was last changed or moved', at: updatedAt });
  }
  if (!changes.some(({ kind }) => kind === 'CREATE')) {
    events.push({ key: 'created', icon: 'plus', text: 'It was created', at: createdAt });
  }
  return events;
}

const eventKey = ({ key }: FolderEvent) => key;

const changeColumns: readonly TableColumn<FolderEvent>[] = [
  {
    id: 'when',
    label: 'When',
    className: 'cell-time',
    render: ({ at }) => (at === null ? <span className="soft">Unknown</span> : <Time at={at} />),
  },
  {
    id: 'what',
    label: 'What',
    isRowHeader: true,
    render: ({ icon, text }) => (
      <div className="history-entry">
        <Icon name={icon} />
        <Name>{text}</Name>
      </div>
    ),
  },
];

const startKey = (id: string): GraphQueryKey => ['changes-from', id];

/** Changes before a RESYNC are not available, so the next read starts at the cursor of the RESYNC. */
async function readChanges(id: string, after: string | null, signal: AbortSignal) {
  const start = after ?? queries.getQueryData<string>(startKey(id)) ?? null;
  const { changes } = await client.query<ChangesResponse>(changesDocument, { id, after: start }, { signal });
  const resync = changes.items.findLast(({ kind }) => kind === 'RESYNC');
  if (resync) queries.setQueryData(startKey(id), resync.cursor);
  return changes;
}
