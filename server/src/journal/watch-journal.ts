/**
 * Following the journal itself: each entry that fits a filter, in order, from a place on. Nothing is queued: the next
 * entry is read when it is asked for. Who has fallen too far behind is told so, and reads the list anew.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { follow, type Followed, type Follower, type Reach } from './follow.ts';
import { isKept, type JournalEntry, type JournalPlace } from './journal-entry.ts';
import type { JournalFeed } from './journal-feed.ts';
import { fitsFilter, type JournalFilter } from './journal-list.ts';

export interface ToldEntry {
  readonly entry: JournalEntry;
  /** Whoever knows of the entry may go on after it. */
  readonly place: JournalPlace;
}

export interface JournalWatchOptions {
  /** The last known entry, which is kept. */
  readonly after: JournalPlace;
  readonly filter: JournalFilter;
  /** So many entries it may be behind. */
  readonly maxBacklog: number;
  /** Whether the viewer may still be told; false when they can no longer log in. Throws what else ends it. */
  readonly mayBeTold: () => PromiseOrValue<boolean>;
}

/** Refuses a place from which not everything can be told. */
export async function requireKept(
  reader: Reader,
  after: JournalPlace,
  { head, maxBacklog }: { readonly head: JournalPlace; readonly maxBacklog: number },
): Promise<void> {
  const isNear = after.number <= head.number && head.number - after.number <= maxBacklog;
  const isKnown =
    isNear && (after.number === head.number ? after.nonce === head.nonce : await isKept(reader, after));
  if (!isKnown) throw isLost();
}

export function watchJournal(feed: JournalFeed, options: JournalWatchOptions): Followed<ToldEntry> {
  return follow((reach) => new JournalWatch(feed, options, reach));
}

class JournalWatch implements Follower<ToldEntry> {
  readonly #feed: JournalFeed;
  readonly #options: JournalWatchOptions;
  readonly #reach: Reach;
  readonly #timesReplaced: number;
  toldUpTo: JournalPlace;

  constructor(feed: JournalFeed, options: JournalWatchOptions, reach: Reach) {
    this.#feed = feed;
    this.#options = options;
    this.#reach = reach;
    this.#timesReplaced = feed.timesReplaced;
    this.toldUpTo = options.after;
  }

  async *told(): AsyncGenerator<ToldEntry, void> {
    const { filter } = this.#options;
    for (;;) {
      if (!this.#isReplaced) await this.#reach.waitForNext(this.#feed, this.toldUpTo.number);
      if (!(await this.#goesOn())) return;
      for (const entry of await this.#read()) {
        if (fitsFilter(entry, filter)) {
          if (!(await this.#goesOn())) return;
          yield { entry, place: entry };
          if (this.#reach.aborted) return;
        }
        this.toldUpTo = entry;
        if (entry.number >= this.#reach.upTo) break;
      }
    }
  }

  get #isReplaced(): boolean {
    return this.#feed.timesReplaced !== this.#timesReplaced;
  }

  async #read(): Promise<readonly JournalEntry[]> {
    const isBehind = this.#feed.last - this.toldUpTo.number > this.#options.maxBacklog;
    const entries = this.#isReplaced || isBehind ? undefined : await this.#feed.read(this.toldUpTo.number);
    if (!entries) throw isLost();
    return entries;
  }

  /** Who can no longer log in hears nothing more, and waits for the connection to end. */
  async #goesOn(): Promise<boolean> {
    if (this.#reach.aborted) return false;
    if (await this.#options.mayBeTold()) return !this.#reach.aborted;
    await this.#feed.waitFor(Infinity, this.#reach);
    return false;
  }
}

function isLost(): Refusal {
  return new Refusal(
    'NOT_FOUND',
    'Not everything that followed this cursor can be told any more. Read the journal anew, and follow it from there.',
  );
}
