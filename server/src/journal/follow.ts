/** What follows the journal: one thing after the other, each when it is asked for, until it is told to stop. */

import type { JournalPlace } from './journal-entry.ts';
import type { JournalFeed } from './journal-feed.ts';

/** Ends at once when it is told to return, even while something is awaited. */
export interface Followed<Told> extends AsyncIterableIterator<Told, void> {
  return(): Promise<IteratorResult<Told, void>>;
  /** Everything up to here was given, and what comes after the last of it asked for. */
  readonly toldUpTo: JournalPlace;
  /** What comes after the entry of that number is not told any more; of one that is being worked out, all is. */
  stopAfter(number: number): void;
}

/** How far a follower goes. */
export class Reach {
  readonly #stopping = new AbortController();
  #upTo = Infinity;
  #wake: () => void = () => undefined;

  /** Aborted when it is to stop at once. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The number of the last entry that is told. */
  get upTo(): number {
    return this.#upTo;
  }

  moveTo(upTo: number): void {
    this.#upTo = upTo;
    this.#wake();
  }

  stop(): void {
    // With a reason: otherwise Node makes an error with a stack.
    this.#stopping.abort('stopped');
    this.#wake();
  }

  /** Waits until there is an entry after that number which is to be told, or it is to stop. */
  async waitForNext(feed: JournalFeed, after: number, key?: string): Promise<void> {
    if (after < this.#upTo) await feed.waitFor(after, this.signal, key);
    while (after >= this.#upTo && !this.signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Whatever works out what is told, as far as its reach goes. */
export interface Follower<Told> {
  told(): AsyncGenerator<Told, void>;
  readonly toldUpTo: JournalPlace;
}

export function follow<Told>(start: (reach: Reach) => Follower<Told>): Followed<Told> {
  const reach = new Reach();
  const follower = start(reach);
  const told = follower.told();
  const stream: Followed<Told> = {
    get toldUpTo() {
      return follower.toldUpTo;
    },
    stopAfter: (number) => reach.moveTo(number),
    next: () => told.next(),
    return: () => {
      reach.stop();
      return told.return();
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
