/** The table of entries. The details of an entry are below its row on demand. */

import { useState } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn, type TableList } from '../../ui/data-table.tsx';
import { formatActor, formatJournalAction, type JournalEntry } from '../../ui/journal-sentence.ts';
import { EntryPath, Sentence } from '../../ui/sentence.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { EntryDetails } from './journal-entry.tsx';

interface JournalTableProps {
  readonly list: TableList<JournalEntry>;
  readonly isFiltered: boolean;
  /** Entries with higher numbers have just arrived and are highlighted. */
  readonly lastSeenNumber: number;
  readonly onPageTurned: (page: number) => void;
}

const keyOf = ({ number }: JournalEntry) => `${number}`;
const renderDetails = (entry: JournalEntry) => <EntryDetails entry={entry} />;

export function JournalTable({ list, isFiltered, lastSeenNumber, onPageTurned }: JournalTableProps) {
  const [openKeys, setOpenKeys] = useState<ReadonlySet<string>>(new Set());
  const toggle = (entry: JournalEntry) => {
    const next = new Set(openKeys);
    if (!next.delete(keyOf(entry))) next.add(keyOf(entry));
    setOpenKeys(next);
  };
  return (
    <DataTable
      label="Entries of the journal, the latest first"
      columns={createColumns(openKeys, toggle)}
      list={list}
      keyOf={keyOf}
      empty={<EmptyJournal isFiltered={isFiltered} />}
      loadingLines={10}
      details={renderDetails}
      openKeys={openKeys}
      onRowClick={toggle}
      rowClass={({ number }) => (number > lastSeenNumber ? 'fresh' : undefined)}
      onPageTurned={onPageTurned}
    />
  );
}

const wideTableWidth = 640;

function createColumns(
  openKeys: ReadonlySet<string>,
  toggle: (entry: JournalEntry) => void,
): readonly TableColumn<JournalEntry>[] {
  return [
    {
      id: 'number',
      label: 'No.',
      minTableWidth: wideTableWidth,
      className: 'journal-number number',
      render: ({ number }) => number,
    },
    { id: 'when', label: 'When', className: 'journal-when', render: ({ at }) => <Time at={at} /> },
    {
      id: 'who',
      label: 'Who',
      minTableWidth: wideTableWidth,
      className: 'journal-who',
      render: (entry) => <Sentence parts={formatActor(entry)} />,
    },
    { id: 'what', label: 'What', isRowHeader: true, render: (entry) => <EntrySummary entry={entry} /> },
    actionsColumn((entry) => {
      const isOpen = openKeys.has(keyOf(entry));
      return (
        <IconButton
          label={`Details of entry ${entry.number}`}
          icon={isOpen ? 'down' : 'chevron'}
          aria-expanded={isOpen}
          onPress={() => toggle(entry)}
        />
      );
    }),
  ];
}

function EntrySummary({ entry }: { entry: JournalEntry }) {
  return (
    <>
      <span className="narrow-only journal-actor">
        <Sentence parts={formatActor(entry)} />
      </span>
      <span className="journal-deed">
        <Sentence parts={formatJournalAction(entry)} />
        <EntryPath entry={entry} />
      </span>
    </>
  );
}

function EmptyJournal({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon="list" title="No matching entries">
      <p>Older entries may have been deleted. Clear a filter to see more.</p>
    </Empty>
  ) : (
    <Empty icon="list" title="No entries yet">
      <p>Changes of folders, access, users and sessions appear here.</p>
    </Empty>
  );
}
