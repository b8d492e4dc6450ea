/** What is done from now on, of what a filter lets through: makes what was read of it before be read again. */

import { EspalierError } from '@espalier/client';
import { useEffect, useRef } from 'react';
import { client } from '../session/client.ts';
import { useSession } from '../session/session.tsx';
import { follow } from './follow.ts';
import { queries, type GraphQueryKey } from './use-graph.ts';

interface TailFilter {
  readonly folderId?: string;
  readonly kinds?: readonly string[];
}

interface TailEntry {
  readonly cursor: string;
  readonly folderId: string | null;
}

interface Tail {
  /** Only administrators may follow the journal. */
  readonly isEnabled: boolean;
  readonly filter: TailFilter;
  /** What is to be read again after an entry. */
  readonly staleQuery: GraphQueryKey;
  /** Whether an entry matters, if not all do that the filter lets through. */
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

/** What comes in quick succession is read once. */
const gatherMs = 150;

export function useJournalTail(tail: Tail): void {
  const latest = useRef(tail);
  useEffect(() => {
    latest.current = tail;
  });
  const { isEnabled } = tail;
  const asked = JSON.stringify(tail.filter);
  const isSignedIn = useSession().state.kind === 'signedIn';
  useEffect(() => {
    if (!isEnabled || !isSignedIn) return;
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAgain = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: latest.current.staleQuery });
    };
    const tell = (entry: TailEntry) => {
      if (latest.current.isRelevant?.(entry) ?? true) timer ??= setTimeout(readAgain, gatherMs);
    };
    void followAlways(JSON.parse(asked) as TailFilter, ending.signal, tell, readAgain);
    return () => {
      ending.abort();
      if (timer === undefined) return;
      clearTimeout(timer);
      readAgain();
    };
  }, [isEnabled, isSignedIn, asked]);
}

/** The answers stay right when it is refused; they are only not told anew by themselves. */
async function followAlways(
  filter: TailFilter,
  signal: AbortSignal,
  tell: (entry: TailEntry) => void,
  readAgain: () => void,
): Promise<void> {
  const isForgotten = (error: unknown) => error instanceof EspalierError && error.code === 'NOT_FOUND';
  try {
    const after = { current: undefined };
    await follow(client, { document: tailDocument, variables: { filter }, after, signal, tell });
  } catch (error) {
    if (signal.aborted || !isForgotten(error)) return;
    // The place is forgotten by now, or the server has another journal, as after a restore.
    readAgain();
    await followAlways(filter, signal, tell, readAgain);
  }
}
