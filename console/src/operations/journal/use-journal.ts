/** The journal as a list: pages that start with the latest entry, and new entries above them during live updates. */

import { EspalierError } from '@espalier/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { followSubscription } from '../../graph/follow.ts';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { client } from '../../session/client.ts';
import { useSession } from '../../session/session.tsx';
import { journalFields, type JournalEntry } from '../../ui/journal-sentence.ts';
import { addArrivals, noArrivals, releaseHeld, mergeArrivals, type Arrivals } from './journal-arrivals.ts';
import type { JournalFilter } from './journal-filter.ts';

const pageDocument =
  /* GraphQL */ `
    query JournalPage($filter: JournalFilter, $first: Int, $after: String, $isFirst: Boolean!) {
      cursor @include(if: $isFirst)
      journal(filter: $filter, first: $first, after: $after) {
        totalCount @include(if: $isFirst)
        items {
          ...JournalFields
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ` + journalFields;

const tailDocument =
  /* GraphQL */ `
    subscription JournalTail($filter: JournalFilter, $after: String) {
      journal(filter: $filter, after: $after) {
        cursor
        ...JournalFields
      }
    }
  ` + journalFields;

interface JournalPage {
  /** Only on the first page: the cursor from which the subscription starts. */
  readonly cursor?: string;
  readonly journal: {
    readonly totalCount?: number;
    readonly items: readonly JournalEntry[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

const pageSize = 100;
const noneRead: Arrivals<JournalEntry> = noArrivals;
/** Entries that arrive within this time are rendered together. */
const gatherMs = 150;
/** How long new entries are highlighted. */
const freshMs = 2_500;

/** The state of this hook belongs to one filter. Give the component that uses the hook a `key` for each filter. */
export function useJournal(filter: JournalFilter, isLive: boolean) {
  const about = useMemo((): GraphQueryKey => ['journal', 'list', filter], [filter]);
  const list = useInfiniteQuery({
    queryKey: about,
    queryFn: ({ pageParam: after, signal }) =>
      client.query<JournalPage>(
        pageDocument,
        { filter, first: pageSize, after, isFirst: after === null },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ journal: { pageInfo } }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    // Entries never change, so pages stay cached. The latest are read when the screen opens.
    staleTime: Infinity,
    gcTime: 0,
  });
  const next = useNextPage(about, list);
  const first = list.data?.pages[0];

  const [arrivals, setArrivals] = useState(noneRead);
  const isHeld = useRef(false);
  const readAgain = useCallback(() => {
    setArrivals(noneRead);
    void queries.resetQueries({ queryKey: about, exact: true });
  }, [about]);
  const hold = useCallback((isReading: boolean) => {
    isHeld.current = isReading;
    if (!isReading) setArrivals(releaseHeld);
  }, []);
  useEffect(() => {
    if (arrivals.isTooMany) readAgain();
  }, [arrivals.isTooMany, readAgain]);

  const addEntries = useCallback(
    (entries: readonly JournalEntry[]) =>
      setArrivals((before) => addArrivals(before, entries, isHeld.current)),
    [],
  );
  const end = useTail({ filter, isLive, from: first?.cursor, addEntries, readAgain });

  const read = useMemo(() => list.data?.pages.flatMap(({ journal }) => journal.items), [list.data]);
  const entries = useMemo(() => read && mergeArrivals(arrivals.visible, read), [arrivals.visible, read]);
  const seen = useDelayed(arrivals.visible[0]?.number ?? 0, freshMs);
  return {
    list,
    next,
    entries,
    totalCount: (first?.journal.totalCount ?? 0) + ((entries?.length ?? 0) - (read?.length ?? 0)),
    heldCount: arrivals.held.length,
    /** Entries with higher numbers have just arrived. */
    lastSeenNumber: Math.max(seen, read?.[0]?.number ?? 0),
    hold,
    readAgain,
    /** Why the live updates ended. */
    end,
  };
}

interface Tail {
  readonly filter: JournalFilter;
  readonly isLive: boolean;
  /** Undefined until the first page is loaded. */
  readonly from: string | undefined;
  readonly addEntries: (entries: readonly JournalEntry[]) => void;
  readonly readAgain: () => void;
}

function useTail({ filter, isLive, from, addEntries, readAgain }: Tail): unknown {
  const after = useRef<string | undefined>(undefined);
  const [end, setEnd] = useState<unknown>(null);
  // After the user signs in again, the subscription continues at its last cursor.
  const isSignedIn = useSession().state.kind === 'signedIn';
  useEffect(() => {
    if (!isLive || !isSignedIn || from === undefined) return;
    after.current ??= from;
    setEnd(null);
    const ending = new AbortController();
    let gathered: JournalEntry[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEvent = (entry: JournalEntry & { readonly cursor: string }) => {
      gathered.push(entry);
      timer ??= setTimeout(() => {
        timer = undefined;
        addEntries(gathered);
        gathered = [];
      }, gatherMs);
    };
    const { signal } = ending;
    const variables = { filter };
    followSubscription(client, { document: tailDocument, variables, after, signal, onEvent }).catch(
      (error: unknown) => {
        if (signal.aborted) return;
        if (error instanceof EspalierError && error.code === 'NOT_FOUND') {
          // The cursor was pruned, or the server has another journal, for example after a restore.
          after.current = undefined;
          readAgain();
        } else setEnd(error);
      },
    );
    return () => {
      ending.abort();
      clearTimeout(timer);
      if (gathered.length > 0) addEntries(gathered);
    };
  }, [filter, isLive, isSignedIn, from, addEntries, readAgain]);
  return isLive ? end : null;
}

/** Returns the value once it has not changed for this time, and the previous value until then. */
function useDelayed(value: number, byMs: number): number {
  const [lagging, setLagging] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLagging(value), byMs);
    return () => clearTimeout(timer);
  }, [value, byMs]);
  return lagging;
}
