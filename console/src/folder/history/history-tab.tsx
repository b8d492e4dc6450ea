/** The history tab of a folder: journal entries for administrators, visible changes for others. */

import { useJournalTail } from '../../graph/use-journal-tail.ts';
import { usePages, type Page } from '../../graph/use-pages.ts';
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
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, QueryResult } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { CurrentFolder } from '../current-folder.ts';
import { ChangesList } from './changes-list.tsx';
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
    <QueryResult query={entries}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="clock" title="This folder has no history yet">
            <p>It was imported with other folders, or its changes are older than the journal.</p>
          </Empty>
        ) : (
          <div className="history">
            <ol className="history-list" aria-label="History, the latest first">
              {items.map((entry) => (
                <HistoryEntry key={entry.number} entry={entry} />
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
  DUPLICATE_FOLDER: 'plus',
  IMPORT_FOLDERS: 'download',
  PURGE_FOLDER: 'trash',
  GRANT_ACCESS: 'shield',
  REVOKE_ACCESS: 'shield',
};

function HistoryEntry({ entry }: { entry: JournalEntry }) {
  const { kind, at } = entry;
  return (
    <li className="history-entry">
      <Icon name={icons[kind] ?? 'clock'} />
      <div className="history-text">
        <p>
          <Sentence parts={formatJournalEntry(entry, { isAboutFolder: true })} />{' '}
          <span className="history-time">
            <Time at={at} />
          </span>
        </p>
        {kind === 'UPDATE_FOLDER' && <Differences entry={entry} />}
      </div>
    </li>
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
