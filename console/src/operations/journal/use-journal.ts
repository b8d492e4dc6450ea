/** The journal as a list: pages from the latest on, and above them what is done meanwhile, if it is followed. */

import { EspalierError } from '@espalier/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { followSubscription } from '../../graph/follow.ts';
import { queries, type GraphQueryKey } from '../../graph/use-graph.ts';
import { useNextPage } from '../../graph/use-pages.ts';
import { client } from '../../session/client.ts';
import { useSession } from '../../session/session.tsx';
import { journalFields, type JournalEntry } from '../../ui/journal-sentence.ts';
import { arrive, noArrivals, release, withArrivals, type Arrivals } from './journal-arrivals.ts';
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
  /** Of the first page: where to follow from. */
  readonly cursor?: string;
  readonly journal: {
    readonly totalCount?: number;
    readonly items: readonly JournalEntry[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

const pageSize = 100;
const noneRead: Arrivals<JournalEntry> = noArrivals;
/** What comes in quick succession is shown together. */
const gatherMs = 150;
/** How long what is new looks so. */
const freshMs = 2_500;

/** All of its state is of one filter: give the component that uses it a key. */
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
    // Entries do not change: what was read of them stays, and the latest are read when the screen is opened.
    staleTime: Infinity,
    gcTime: 0,
  });
  const next = useNextPage(about, list);
  const first = list.data?.pages[0];

  const [arrivals, setArrivals] = useState(noneRead);
  const isHeld = useRef(false);
  const readAnew = useCallback(() => {
    setArrivals(noneRead);
    void queries.resetQueries({ queryKey: about, exact: true });
  }, [about]);
  const hold = useCallback((isReading: boolean) => {
    isHeld.current = isReading;
    if (!isReading) setArrivals(release);
  }, []);
  useEffect(() => {
    if (arrivals.isTooMany) readAnew();
  }, [arrivals.isTooMany, readAnew]);

  const take = useCallback(
    (entries: readonly JournalEntry[]) => setArrivals((before) => arrive(before, entries, isHeld.current)),
    [],
  );
  const end = useTail({ filter, isLive, from: first?.cursor, take, readAnew });

  const read = useMemo(() => list.data?.pages.flatMap(({ journal }) => journal.items), [list.data]);
  const entries = useMemo(() => read && withArrivals(arrivals.shown, read), [arrivals.shown, read]);
  const seen = useLagging(arrivals.shown[0]?.number ?? 0, freshMs);
  return {
    list,
    next,
    entries,
    totalCount: (first?.journal.totalCount ?? 0) + ((entries?.length ?? 0) - (read?.length ?? 0)),
    heldCount: arrivals.held.length,
    /** The entries above this number have just arrived. */
    freshAbove: Math.max(seen, read?.[0]?.number ?? 0),
    hold,
    readAnew,
    /** Why it is not followed any more. */
    end,
  };
}

interface Tail {
  readonly filter: JournalFilter;
  readonly isLive: boolean;
  /** Once the first page is there. */
  readonly from: string | undefined;
  readonly take: (entries: readonly JournalEntry[]) => void;
  readonly readAnew: () => void;
}

function useTail({ filter, isLive, from, take, readAnew }: Tail): unknown {
  const after = useRef<string | undefined>(undefined);
  const [end, setEnd] = useState<unknown>(null);
  // Whoever signs in again goes on where they were.
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
        take(gathered);
        gathered = [];
      }, gatherMs);
    };
    const { signal } = ending;
    const variables = { filter };
    followSubscription(client, { document: tailDocument, variables, after, signal, onEvent }).catch(
      (error: unknown) => {
        if (signal.aborted) return;
        if (error instanceof EspalierError && error.code === 'NOT_FOUND') {
          // The place is forgotten by now, or the server has another journal, as after a restore.
          after.current = undefined;
          readAnew();
        } else setEnd(error);
      },
    );
    return () => {
      ending.abort();
      clearTimeout(timer);
      if (gathered.length > 0) take(gathered);
    };
  }, [filter, isLive, isSignedIn, from, take, readAnew]);
  return isLive ? end : null;
}

/** The value as it was so long ago. */
function useLagging(value: number, byMs: number): number {
  const [lagging, setLagging] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLagging(value), byMs);
    return () => clearTimeout(timer);
  }, [value, byMs]);
  return lagging;
}
