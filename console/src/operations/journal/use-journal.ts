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
const initialArrivals: Arrivals<JournalEntry> = noArrivals;
/** Entries that arrive within this time are rendered together. */
const batchMs = 150;
/** How long new entries are highlighted. */
const highlightMs = 2_500;

/** The state of this hook belongs to one filter. Give the component that uses the hook a `key` for each filter. */
export function useJournal(filter: JournalFilter, isLive: boolean) {
  const listKey = useMemo((): GraphQueryKey => ['journal', 'list', filter], [filter]);
  const list = useInfiniteQuery({
    queryKey: listKey,
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
  const next = useNextPage(listKey, list);
  const first = list.data?.pages[0];

  const [arrivals, setArrivals] = useState(initialArrivals);
  const isHeld = useRef(false);
  const readAgain = useCallback(() => {
    setArrivals(initialArrivals);
    void queries.resetQueries({ queryKey: listKey, exact: true });
  }, [listKey]);
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
  const tailError = useTail({ filter, isLive, from: first?.cursor, addEntries, readAgain });

  const loadedEntries = useMemo(() => list.data?.pages.flatMap(({ journal }) => journal.items), [list.data]);
  const entries = useMemo(
    () => loadedEntries && mergeArrivals(arrivals.visibleEntries, loadedEntries),
    [arrivals.visibleEntries, loadedEntries],
  );
  const seenNumber = useDelayed(arrivals.visibleEntries[0]?.number ?? 0, highlightMs);
  return {
    list,
    next,
    entries,
    totalCount: (first?.journal.totalCount ?? 0) + ((entries?.length ?? 0) - (loadedEntries?.length ?? 0)),
    heldCount: arrivals.heldEntries.length,
    /** Entries with higher numbers have just arrived. */
    lastSeenNumber: Math.max(seenNumber, loadedEntries?.[0]?.number ?? 0),
    hold,
    readAgain,
    /** Why the live updates ended. */
    tailError,
  };
}

interface TailOptions {
  readonly filter: JournalFilter;
  readonly isLive: boolean;
  /** Undefined until the first page is loaded. */
  readonly from: string | undefined;
  readonly addEntries: (entries: readonly JournalEntry[]) => void;
  readonly readAgain: () => void;
}

function useTail({ filter, isLive, from, addEntries, readAgain }: TailOptions): unknown {
  const after = useRef<string | undefined>(undefined);
  const [tailError, setTailError] = useState<unknown>(null);
  // After the user signs in again, the subscription continues at its last cursor.
  const isSignedIn = useSession().state.kind === 'signedIn';
  useEffect(() => {
    if (!isLive || !isSignedIn || from === undefined) return;
    after.current ??= from;
    setTailError(null);
    const controller = new AbortController();
    let batch: JournalEntry[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEvent = (entry: JournalEntry & { readonly cursor: string }) => {
      batch.push(entry);
      timer ??= setTimeout(() => {
        timer = undefined;
        addEntries(batch);
        batch = [];
      }, batchMs);
    };
    const { signal } = controller;
    const variables = { filter };
    followSubscription(client, { document: tailDocument, variables, after, signal, onEvent }).catch(
      (error: unknown) => {
        if (signal.aborted) return;
        if (error instanceof EspalierError && error.code === 'NOT_FOUND') {
          // The cursor was pruned, or the server has another journal, for example after a restore.
          after.current = undefined;
          readAgain();
        } else setTailError(error);
      },
    );
    return () => {
      controller.abort();
      clearTimeout(timer);
      if (batch.length > 0) addEntries(batch);
    };
  }, [filter, isLive, isSignedIn, from, addEntries, readAgain]);
  return isLive ? tailError : null;
}

/** Returns the value once it has not changed for this time, and the previous value until then. */
function useDelayed(value: number, byMs: number): number {
  const [delayedValue, setDelayedValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayedValue(value), byMs);
    return () => clearTimeout(timer);
  }, [value, byMs]);
  return delayedValue;
}
