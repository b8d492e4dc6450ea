/** Followers of the journal: one change after the other, each when it is asked for, until the follower is stopped. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { JournalPlace } from './journal-entry.ts';
import type { JournalFeed, Stopping } from './journal-feed.ts';

/** Iterable for graphql-js, which only checks that it is. */
export interface Followed<Told> extends AsyncIterable<Told, void> {
  /** At once if the next change is in memory. Asked for one at a time. */
  next(): PromiseOrValue<IteratorResult<Told, void>>;
  /** Ends it at once, even while something is awaited. */
  return(): PromiseOrValue<unknown>;
  /** Everything up to here was given, and what comes after the last of it asked for. */
  readonly toldUpTo: JournalPlace;
  /** What comes after the entry of that number is not told any more; of one that is being worked out, all is. */
  stopAfter(number: number): void;
}

/** How far a follower goes. It stands for an AbortSignal, which costs more for waits as frequent as these. */
export class Reach implements Stopping {
  aborted = false;
  onabort: (() => void) | null = null;
  #upTo = Infinity;
  #wake: () => void = () => undefined;

  /** The number of the last entry that is told. */
  get upTo(): number {
    return this.#upTo;
  }

  moveTo(upTo: number): void {
    this.#upTo = upTo;
    this.#wake();
  }

  stop(): void {
    this.aborted = true;
    this.onabort?.();
    this.#wake();
  }

  /** Waits until there is an entry after that number which is to be told, or it is to stop. May return early. */
  waitForChange(feed: JournalFeed, after: number, key?: string): Promise<void> {
    if (after < this.#upTo) return feed.waitFor(after, this, key);
    return this.aborted ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve));
  }

  /** The same, but never returns early. */
  async waitForNext(feed: JournalFeed, after: number): Promise<void> {
    await this.waitForChange(feed, after);
    while (after >= this.#upTo && !this.aborted) await this.waitForChange(feed, after);
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
  return {
    get toldUpTo() {
      return follower.toldUpTo;
    },
    stopAfter: (number) => reach.moveTo(number),
    next: () => told.next(),
    return: () => {
      reach.stop();
      return told.return();
    },
    [Symbol.asyncIterator]: () => told,
  };
}
