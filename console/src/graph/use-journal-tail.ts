/** Follows new journal entries that pass a filter, and invalidates a query when one arrives. */

import { EspalierError } from '@espalier/client';
import { useEffect, useRef } from 'react';
import { client } from '../session/client.ts';
import { useSession } from '../session/session.tsx';
import { followSubscription } from './follow.ts';
import { queries, type GraphQueryKey } from './use-graph.ts';

interface TailFilter {
  readonly folderId?: string;
  readonly kinds?: readonly string[];
}

interface TailEntry {
  readonly cursor: string;
  readonly folderId: string | null;
}

interface JournalTailOptions {
  /** Only administrators may follow the journal, so this must be false for other users. */
  readonly isEnabled: boolean;
  readonly filter: TailFilter;
  /** The query to read again after an entry. */
  readonly staleQuery: GraphQueryKey;
  /** Selects the relevant entries. By default, all entries that pass the filter. */
  readonly isRelevant?: (entry: TailEntry) => boolean;
}

const tailDocument = /* GraphQL */ `
  subscription JournalTail($filter: JournalFilter, $after: String) {
    journal(filter: $filter, after: $after) {
      cursor
      folderId
    }
  }
`;

/** All entries within this interval cause a single read. */
const batchMs = 150;

export function useJournalTail(tail: JournalTailOptions): void {
  const latest = useRef(tail);
  useEffect(() => {
    latest.current = tail;
  });
  const { isEnabled } = tail;
  const filterText = JSON.stringify(tail.filter);
  const isSignedIn = useSession().state.kind === 'signedIn';
  useEffect(() => {
    if (!isEnabled || !isSignedIn) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const invalidate = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: latest.current.staleQuery });
    };
    const onEntry = (entry: TailEntry) => {
      if (latest.current.isRelevant?.(entry) ?? true) timer ??= setTimeout(invalidate, batchMs);
    };
    void followJournal(JSON.parse(filterText) as TailFilter, controller.signal, onEntry, invalidate);
    return () => {
      controller.abort();
      if (timer === undefined) return;
      clearTimeout(timer);
      invalidate();
    };
  }, [isEnabled, isSignedIn, filterText]);
}

/** Ignores a final error: new entries then no longer refresh the displayed data, which may become stale. */
async function followJournal(
  filter: TailFilter,
  signal: AbortSignal,
  onEntry: (entry: TailEntry) => void,
  invalidate: () => void,
): Promise<void> {
  const isCursorUnknown = (error: unknown) => error instanceof EspalierError && error.code === 'NOT_FOUND';
  try {
    const after = { current: undefined };
    await followSubscription(client, {
      document: tailDocument,
      variables: { filter },
      after,
      signal,
      onEvent: onEntry,
    });
  } catch (error) {
    if (signal.aborted || !isCursorUnknown(error)) return;
    // The entry of the cursor was pruned or is too far behind, or the server has another journal, for example after a restore.
    invalidate();
    await followJournal(filter, signal, onEntry, invalidate);
  }
}
