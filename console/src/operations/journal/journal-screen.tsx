/** The journal: filtered, updated live, and downloadable as CSV. */

import { useEffect, useMemo, useRef, useState } from 'react';
import { useLive } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { setQuery, useLocation } from '../../router.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { Switch } from '../../ui/fields.tsx';
import { maxArrivals } from './journal-arrivals.ts';
import { JournalDownload } from './journal-download.tsx';
import { createJournalCall, readFilter, toQuery, type JournalFilter } from './journal-filter.ts';
import { JournalFilters } from './journal-filters.tsx';
import { JournalTable } from './journal-table.tsx';
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
  const [isOpen, setOpen] = useState(() => !matchMedia('(max-width: 760px)').matches);
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
  const { list, next, entries, totalCount, heldCount, lastSeenNumber, hold, readAgain, tailError } =
    useJournal(filter, isLive);
  const [page, setPage] = useState(0);
  // A new key shows the first page.
  const [resetCount, setResetCount] = useState(0);
  const top = useHoldWhileReading(hold, page > 0);
  const isFiltered = Object.keys(filter).length > 0;
  const showLatest = () => {
    setPage(0);
    setResetCount(resetCount + 1);
    top.current?.scrollIntoView({ block: 'center' });
  };
  return (
    <section className="journal-list" aria-label="Entries">
      <div className="journal-count">
        <p className="soft number" role="status">
          {entries && countText(totalCount, isFiltered)}
        </p>
        <IconButton label="Show the latest entries" icon="refresh" onPress={readAgain} />
        {isLive && <TailStatus error={tailError} />}
      </div>
      <div ref={top} className="journal-top" />
      {heldCount > 0 && (
        <div className="journal-paused">
          <Button size="small" tone="primary" onPress={showLatest}>
            Paused: {heldCount > maxArrivals ? 'many' : heldCount.toLocaleString('en')} new
          </Button>
        </div>
      )}
      <JournalTable
        key={resetCount}
        list={{
          ...next,
          data: entries && { items: entries, totalCount },
          error: list.error,
          refetch: list.refetch,
          hasMore: list.hasNextPage,
        }}
        isFiltered={isFiltered}
        lastSeenNumber={lastSeenNumber}
        onPageTurned={setPage}
      />
    </section>
  );
}

/** Holds new entries while the top of the list is not visible. */
function useHoldWhileReading(hold: (isReading: boolean) => void, isLaterPage: boolean) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([seen]) =>
      hold(isLaterPage || seen?.isIntersecting === false),
    );
    observer.observe(top.current!);
    return () => observer.disconnect();
  }, [hold, isLaterPage]);
  return top;
}

function TailStatus({ error }: { error: unknown }) {
  const { status } = useLive();
  if (error !== null) {
    return (
      <p className="problem" role="alert">
        Live updates have stopped. {describeProblem(error).text}
      </p>
    );
  }
  return (
    <span className={`label-chip ${status === 'live' ? 'good' : 'warning'}`}>
      {status === 'live' ? 'Following' : 'Reconnecting'}
    </span>
  );
}

function countText(count: number, isFiltered: boolean): string {
  const entries = `${count.toLocaleString('en')} ${count === 1 ? 'entry' : 'entries'}`;
  return isFiltered ? `${entries} found` : entries;
}
