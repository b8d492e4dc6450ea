/** A stream of changes that follows the journal: the consumer requests one change at a time, until it ends the stream. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { JournalPosition } from './journal-entry.ts';
import type { JournalFeed, Stopping } from './journal-feed.ts';

/** It is iterable only because graphql-js requires that of a subscription's source. */
export interface ChangeStream<Change> extends AsyncIterable<Change, void> {
  /** Synchronous if the next change is in memory. There must be no more than one call at a time. */
  next(): PromiseOrValue<IteratorResult<Change, void>>;
  /** Ends the stream at once; a pending `next` then returns done. */
  return(): void;
  /** The consumer has received all changes up to here, and has requested the next one. */
  readonly deliveredUpTo: JournalPosition;
  /** Delivers the changes of the entries up to that number, and then waits for `return`. */
  stopAfter(number: number): void;
}

/** How far a stream goes. It takes the place of an AbortSignal, which costs more for such frequent waits. */
export class EndSignal implements Stopping {
  aborted = false;
  onabort: (() => void) | null = null;
  #upTo = Infinity;
  #wake: () => void = () => undefined;

  /** The number of the last entry to deliver. */
  get upTo(): number {
    return this.#upTo;
  }

  stopAfter(upTo: number): void {
    this.#upTo = upTo;
    this.#wake();
  }

  abort(): void {
    this.aborted = true;
    this.onabort?.();
    this.#wake();
  }

  /** Waits until there is a later entry to deliver, or the stream ends. May return early. */
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

export async function* iterate<Change>(stream: ChangeStream<Change>): AsyncGenerator<Change, void> {
  for (let next = await stream.next(); !next.done; next = await stream.next()) yield next.value;
}
