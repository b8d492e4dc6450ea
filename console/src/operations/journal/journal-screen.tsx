/** The journal: filtered, updated live, and downloadable as CSV. */

import { useEffect, useMemo, useRef, useState } from 'react';
import { useLive } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { setQuery, useLocation } from '../../router.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { QueryResult, Empty, Loading } from '../../ui/states.tsx';
import { Switch } from '../../ui/fields.tsx';
import { maxArrivals } from './journal-arrivals.ts';
import { JournalDownload } from './journal-download.tsx';
import { createJournalCall, readFilter, toQuery, type JournalFilter } from './journal-filter.ts';
import { JournalFilters } from './journal-filters.tsx';
import { JournalTable } from './journal-table.tsx';
import { useIsNarrow } from '../narrow.ts';
import { useJournal } from './use-journal.ts';
import './journal.css';

export function JournalScreen() {
  const { query } = useLocation();
  const filterKey = JSON.stringify(readFilter(query));
  // Keeps the object identity while the filter is unchanged.
  const filter = useMemo(() => JSON.parse(filterKey) as JournalFilter, [filterKey]);
  const isLive = query.get('live') === 'on';
  return (
    <main className="page">
      <header className="page-header">
        <h1>Journal</h1>
        <span className="grow" />
        <Switch isSelected={isLive} onChange={(isOn) => setQuery({ live: isOn ? 'on' : null })}>
          Live tail
        </Switch>
        <JournalDownload key={filterKey} filter={filter} />
        <CopyAs call={createJournalCall(filter)} />
      </header>
      <Filters filter={filter} />
      <JournalList key={`list ${filterKey}`} filter={filter} isLive={isLive} />
    </main>
  );
}

/** On a small screen the fields are collapsed. */
function Filters({ filter }: { filter: JournalFilter }) {
  const [isOpen, setOpen] = useState(!useIsNarrow());
  const count = Object.keys(filter).length;
  return (
    <div className="journal-narrowing">
      <div className="journal-narrowing-bar">
        <Button
          size="small"
          tone="quiet"
          icon={isOpen ? 'down' : 'chevron'}
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
        >
          Filters{count > 0 && ` (${count})`}
        </Button>
        {count > 0 && (
          <Button size="small" tone="quiet" icon="close" onPress={() => setQuery(toQuery({}))}>
            Clear filters
          </Button>
        )}
      </div>
      {isOpen && <JournalFilters filter={filter} onChange={(next) => setQuery(toQuery(next))} />}
    </div>
  );
}

function JournalList({ filter, isLive }: { filter: JournalFilter; isLive: boolean }) {
  const { list, next, entries, totalCount, heldCount, lastSeenNumber, hold, readAgain, end } = useJournal(
    filter,
    isLive,
  );
  const top = useHoldBelow(hold);
  const { data, error, isPending, refetch, hasNextPage } = list;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <section className="journal-list" aria-label="Entries">
      <div className="journal-count">
        <p className="soft number" role="status">
          {entries && countText(totalCount, isFiltered)}
        </p>
        <IconButton label="Show the latest entries" icon="refresh" onPress={readAgain} />
        {isLive && <Following end={end} />}
      </div>
      <div ref={top} className="journal-top" />
      {heldCount > 0 && (
        <div className="journal-paused">
          <Button
            size="small"
            tone="primary"
            onPress={() => top.current?.scrollIntoView({ block: 'center' })}
          >
            Paused: {heldCount > maxArrivals ? 'many' : heldCount.toLocaleString('en')} new
          </Button>
        </div>
      )}
      <QueryResult query={{ data, error, isPending, refetch }} loading={<Loading lines={10} />}>
        {() =>
          !entries || entries.length === 0 ? (
            <Nothing isFiltered={isFiltered} />
          ) : (
            <JournalTable entries={entries} totalCount={totalCount} lastSeenNumber={lastSeenNumber} />
          )
        }
      </QueryResult>
      {entries && error && (
        <p className="problem" role="alert">
          {describeProblem(error).text}
        </p>
      )}
      {entries && hasNextPage && (
        <div className="journal-show-more">
          <Button isPending={next.isReadingMore} onPress={next.readMore}>
            Show more entries
          </Button>
          <span className="soft number">
            {entries.length.toLocaleString('en')} of {totalCount.toLocaleString('en')}
          </span>
        </div>
      )}
    </section>
  );
}

/** Holds new entries while the top of the list is not visible. */
function useHoldBelow(hold: (isReading: boolean) => void) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([seen]) => hold(seen?.isIntersecting === false));
    observer.observe(top.current!);
    return () => observer.disconnect();
  }, [hold]);
  return top;
}

function Following({ end }: { end: unknown }) {
  const { status } = useLive();
  if (end !== null) {
    return (
      <p className="problem" role="alert">
        Live updates have stopped. {describeProblem(end).text}
      </p>
    );
  }
  return (
    <span className={`label-chip ${status === 'live' ? 'good' : 'warning'}`}>
      {status === 'live' ? 'Following' : 'Reconnecting'}
    </span>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
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

function countText(count: number, isFiltered: boolean): string {
  const entries = `${count.toLocaleString('en')} ${count === 1 ? 'entry' : 'entries'}`;
  return isFiltered ? `${entries} found` : entries;
}
