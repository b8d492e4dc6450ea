/** What follows the journal: one thing after the other, each when it is asked for, until it is told to stop. */

import type { JournalPlace } from './journal-entry.ts';

/** Ends at once when it is told to return, even while something is awaited. */
export interface Followed<Told> extends AsyncIterableIterator<Told, void> {
  return(): Promise<IteratorResult<Told, void>>;
  /** Everything up to here was given, and what comes after the last of it asked for. */
  readonly toldUpTo: JournalPlace;
}

/** Whatever works out what is told, until its signal says to stop. */
export interface Follower<Told> {
  told(): AsyncGenerator<Told, void>;
  readonly toldUpTo: JournalPlace;
}

export function follow<Told>(start: (signal: AbortSignal) => Follower<Told>): Followed<Told> {
  const stopping = new AbortController();
  const follower = start(stopping.signal);
  const told = follower.told();
  const stream: Followed<Told> = {
    get toldUpTo() {
      return follower.toldUpTo;
    },
    next: () => told.next(),
    return: () => {
      stopping.abort();
      return told.return();
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
