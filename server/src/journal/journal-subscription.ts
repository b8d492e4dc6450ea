/**
 * A subscription to the journal, which delivers each entry that matches a filter, in order. A subscription has no queue: `next()`
 * takes the next entry from a batch that it read from the feed. A subscription that is too far behind fails, and the client
 * must read the journal again.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import {
  fitsFilter,
  hasEntry,
  type JournalEntry,
  type JournalFilter,
  type JournalPosition,
} from './journal-entry.ts';
import { EndSignal, iterate, type ChangeStream, type JournalFeed } from './journal-feed.ts';

export interface JournalEvent {
  readonly entry: JournalEntry;
  /** The position after which a client that received the entry can continue. */
  readonly position: JournalPosition;
}

interface JournalSubscriptionOptions {
  /** The last entry that the client has received. */
  readonly after: JournalPosition;
  readonly filter: JournalFilter;
  /** How many entries the subscription may fall behind. */
  readonly maxBacklog: number;
  /**
   * Returns false if the viewer can no longer log in. Throws FORBIDDEN if the viewer is no longer an administrator. An error
   * of this function ends the stream with that error.
   */
  readonly isStillAllowed: () => PromiseOrValue<boolean>;
}

/**
 * Rejects a cursor whose entry was pruned or belongs to another journal. Also rejects a cursor that is after the head, or
 * more than `maxBacklog` entries behind it.
 */
export async function requireEntriesAvailable(
  reader: Reader,
  after: JournalPosition,
  { head, maxBacklog }: { readonly head: JournalPosition; readonly maxBacklog: number },
): Promise<void> {
  const isNear = after.number <= head.number && head.number - after.number <= maxBacklog;
  const isAvailable =
    isNear && (after.number === head.number ? after.nonce === head.nonce : await hasEntry(reader, after));
  if (!isAvailable) throw entriesLostRefusal();
}

const endResult = { done: true, value: undefined } as const;

export class JournalSubscription implements ChangeStream<JournalEvent> {
  readonly #feed: JournalFeed;
  readonly #options: JournalSubscriptionOptions;
  readonly #endSignal = new EndSignal();
  readonly #timesReplaced: number;
  /** The current batch of entries. */
  #entries: readonly JournalEntry[] = [];
  /** The index of the next entry of the batch. */
  #nextIndex = 0;
  /** The entry that `next()` returned last. */
  #lastEntry: JournalEntry | undefined;
  deliveredUpTo: JournalPosition;

  constructor(feed: JournalFeed, options: JournalSubscriptionOptions) {
    this.#feed = feed;
    this.#options = options;
    this.#timesReplaced = feed.timesReplaced;
    this.deliveredUpTo = options.after;
  }

  async next(): Promise<IteratorResult<JournalEvent, void>> {
    if (this.#lastEntry && !this.#endSignal.aborted) this.deliveredUpTo = this.#lastEntry;
    this.#lastEntry = undefined;
    for (;;) {
      if (this.#endSignal.aborted) return endResult;
      const isReady =
        this.#nextIndex < this.#entries.length && this.deliveredUpTo.number < this.#endSignal.upTo;
      if (!isReady) {
        if (!this.#isReplaced)
          await this.#endSignal.waitForDeliverableEntry(this.#feed, this.deliveredUpTo.number);
        if (!(await this.#mayDeliver())) return endResult;
        this.#entries = await this.#read();
        this.#nextIndex = 0;
        continue;
      }
      const entry = this.#entries[this.#nextIndex++]!;
      if (fitsFilter(entry, this.#options.filter)) {
        if (!(await this.#mayDeliver())) return endResult;
        this.#lastEntry = entry;
        return { done: false, value: { entry, position: entry } };
      }
      this.deliveredUpTo = entry;
    }
  }

  end(): void {
    this.#endSignal.end();
  }

  endAfter(number: number): void {
    this.#endSignal.endAfter(number);
  }

  [Symbol.asyncIterator](): AsyncGenerator<JournalEvent, void> {
    return iterate(this);
  }

  get #isReplaced(): boolean {
    return this.#feed.timesReplaced !== this.#timesReplaced;
  }

  async #read(): Promise<readonly JournalEntry[]> {
    const isBehind = this.#feed.last - this.deliveredUpTo.number > this.#options.maxBacklog;
    const entries =
      this.#isReplaced || isBehind ? undefined : await this.#feed.read(this.deliveredUpTo.number);
    if (!entries) throw entriesLostRefusal();
    return entries;
  }

  /**
   * For a viewer who can no longer log in, the stream delivers nothing more and waits for the connection to end. The connection
   * then closes with the reason, instead of completing the subscription.
   */
  async #mayDeliver(): Promise<boolean> {
    if (this.#endSignal.aborted) return false;
    if (await this.#options.isStillAllowed()) return !this.#endSignal.aborted;
    await this.#feed.waitForEntry(Infinity, this.#endSignal);
    return false;
  }
}

function entriesLostRefusal(): Refusal {
  return new Refusal(
    'NOT_FOUND',
    'Some changes after this cursor are no longer available. Read the journal again, and subscribe from its new cursor.',
  );
}
