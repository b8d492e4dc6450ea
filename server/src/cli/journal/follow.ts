/**
 * Follows a list that starts with its newest entry, as `tail -f` follows a file. Numbers are in the order of commits, so that no
 * entry is missed or printed twice.
 */

import { everyItem, pagesOf, type ReadPage } from '../api/pages.ts';

export interface FollowOptions {
  /** How many existing entries to yield first. */
  readonly first: number;
  /** Waits before the next poll. Throws to stop. */
  readonly pause: () => Promise<unknown>;
  /** Called for a failed poll. Throws the error if the poll must not be retried. */
  readonly onError: (error: unknown) => void;
  /** Called if the server has another journal than before, for example after a restored backup. */
  readonly onReplaced: () => void;
}

const pageSize = 100;

/** Yields the oldest entries first, without end. */
export async function* followJournal<Entry extends { readonly number: number }>(
  read: ReadPage<Entry>,
  { first, pause, onError, onReplaced }: FollowOptions,
): AsyncGenerator<readonly Entry[], never> {
  const start = await everyItem(read, { maxItems: Math.max(first, 1) });
  let last = start[0]?.number ?? 0;
  yield start.slice(0, first).toReversed();
  for (;;) {
    await pause();
    const seen = await readSince(read, last).catch(onError);
    if (seen?.newest === undefined) continue;
    if (seen.newest < last) onReplaced();
    last = seen.newest;
    if (seen.fresh.length > 0) yield seen.fresh;
  }
}

async function readSince<Entry extends { readonly number: number }>(
  read: ReadPage<Entry>,
  last: number,
): Promise<{ readonly fresh: readonly Entry[]; readonly newest: number | undefined }> {
  const found: Entry[] = [];
  let newest: number | undefined;
  for await (const items of pagesOf(read, { pageSize })) {
    newest ??= items[0]?.number;
    const newer = items.filter(({ number }) => number > last);
    found.push(...newer);
    if (newer.length < items.length) break;
  }
  return { fresh: found.toReversed(), newest };
}
