/** What happened to a folder: from the journal for administrators, from the changes that one sees for others. */

import { useJournalTail } from '../../graph/use-journal-tail.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
import { useViewer } from '../../session/session.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { diffJournalEntry } from '../../ui/journal-diff.ts';
import {
  journalFields,
  formatJournalEntry,
  type JournalKind,
  type JournalEntry,
} from '../../ui/journal-sentence.ts';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ChangesList } from './changes-list.tsx';
import type { OpenFolder } from '../open-folder.ts';
import './history.css';
import { useGraph } from '../../graph/use-graph.ts';
import { Link } from '../../router.tsx';

export function HistoryTab({ folder }: { folder: OpenFolder }) {
  const { isAdministrator } = useViewer();
  return isAdministrator ? <JournalOf folder={folder} /> : <ChangesList folder={folder} />;
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

function JournalOf({ folder: { id } }: { folder: OpenFolder }) {
  const entries = usePages<{ journal: Page<JournalEntry> }, JournalEntry>(
    ['folder', id, 'history'],
    historyDocument,
    { id },
    ({ journal }) => journal,
  );
  useJournalTail({ isEnabled: true, filter: { folderId: id }, staleQuery: ['folder', id, 'history'] });
  return (
    <QueryResult query={entries}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="clock" title="Nothing is written down of this folder">
            <p>It was imported with others, or what happened is older than the journal keeps.</p>
          </Empty>
        ) : (
          <div className="history">
            <ol className="history-list" aria-label="History, the latest first">
              {items.map((entry) => (
                <Entry key={entry.number} entry={entry} />
              ))}
            </ol>
            <ShowMore pages={entries} noun="entries" />
          </div>
        )
      }
    </QueryResult>
  );
}

const icons: Partial<Record<JournalKind, IconName>> = {
  CREATE_FOLDER: 'plus',
  UPDATE_FOLDER: 'edit',
  MOVE_FOLDER: 'move',
  DELETE_FOLDER: 'trash',
  RESTORE_FOLDER: 'undo',
  IMPORT_FOLDERS: 'download',
  PURGE_FOLDER: 'trash',
  GRANT_ACCESS: 'shield',
  REVOKE_ACCESS: 'shield',
};

function Entry({ entry }: { entry: JournalEntry }) {
  const { kind, at, before, after } = entry;
  return (
    <li className="history-entry">
      <Icon name={icons[kind] ?? 'clock'} />
      <div className="history-text">
        <p>
          {formatJournalEntry(entry, { isAboutFolder: true })}{' '}
          <span className="history-time">
            <Time at={at} />
          </span>
        </p>
        {kind === 'MOVE_FOLDER' ? (
          <p className="history-move">
            from <FolderName id={idIn(before)} /> to <FolderName id={idIn(after)} />
          </p>
        ) : (
          kind === 'UPDATE_FOLDER' && <Differences entry={entry} />
        )}
      </div>
    </li>
  );
}

function idIn(details: JournalEntry['before']): string | null {
  const id = details?.['parentId'];
  return typeof id === 'string' ? id : null;
}

function Differences({ entry }: { entry: JournalEntry }) {
  // A name alone is told by the sentence.
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
const nameDocument = /* GraphQL */ `
  query FolderName($id: ID!) {
    folder(id: $id) {
      title
    }
  }
`;

export function FolderName({ id }: { id: string | null }) {
  const { data, isPending } = useGraph<{ folder: { title: string } | null }>(
    ['folder', id, 'name'],
    nameDocument,
    { id },
    { enabled: id !== null },
  );
  if (id !== null && isPending) return <span className="soft">…</span>;
  if (!data?.folder) return <span className="soft">a folder that is gone</span>;
  return <Link to={`/folders/${id}`}>{data.folder.title}</Link>;
}
