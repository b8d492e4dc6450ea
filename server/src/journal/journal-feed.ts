/**
 * Reads new journal entries once for the whole process. Subscriptions wait here and take recent entries from memory; a subscription
 * that is further behind reads from the database at its own pace. There is no queue for each subscription.
 *
 * This is how a change reaches another process or node. On PostgreSQL, the commit sends a notification
 * (`database/postgres/transaction.ts`) and each process receives it (`database/postgres/listener.ts`, which polls if a pooler does
 * not keep sessions). On SQLite, each process polls the file for commits (`database/sqlite/commit-poller.ts`). Both only wake this
 * feed, which then reads the entries after its last number. It also polls every second, so a lost notification delays an entry and
 * never loses it.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database } from '../database/database.ts';
import { readHead } from './journal.ts';
import { readEntries, type JournalEntry, type JournalPosition } from './journal-entry.ts';

/** The changes that a subscription delivers: the caller requests one change at a time, until it ends the stream. */
export interface ChangeStream<Change> extends AsyncIterable<Change, void> {
  /** Synchronous if the next change is in memory. There must be no more than one call at a time. */
  next(): PromiseOrValue<IteratorResult<Change, void>>;
  /** Ends the stream immediately; a pending `next()` then returns `done`. */
  end(): void;
  /** The caller has received all changes up to this position, and has requested the next change. */
  readonly deliveredUpTo: JournalPosition;
  /** Delivers the changes of the entries up to that number, and then waits for `end()`. */
  endAfter(number: number): void;
}

/** Only for graphql-js, which requires an iterable source for a subscription. */
export async function* iterate<Change>(stream: ChangeStream<Change>): AsyncGenerator<Change, void> {
  for (let next = await stream.next(); !next.done; next = await stream.next()) yield next.value;
}

/** Ends a wait: an AbortSignal, or a cheaper equivalent with the same members. It serves one wait at a time. */
interface WaitSignal {
  readonly aborted: boolean;
  onabort: ((...args: never[]) => unknown) | null;
}

/** Ends a stream, immediately or after an entry. Cheaper than an AbortSignal for frequent waits. */
export class EndSignal implements WaitSignal {
  /** The stream has ended. */
  aborted = false;
  onabort: (() => void) | null = null;
  #upTo = Infinity;
  #wake: () => void = () => undefined;

  /** The number of the last entry to deliver. */
  get upTo(): number {
    return this.#upTo;
  }

  endAfter(upTo: number): void {
    this.#upTo = upTo;
    this.#wake();
  }

  end(): void {
    this.aborted = true;
    this.onabort?.();
    this.#wake();
  }

  /**
   * Waits for a later entry or for the end of the stream. After the last entry to deliver, waits for a call of `end()` or `endAfter()`.
   * The promise may resolve without a new entry to deliver.
   */
  waitUntilWoken(feed: JournalFeed, after: number, key?: string): Promise<void> {
    if (after < this.#upTo) return feed.waitForEntry(after, this, key);
    return this.aborted ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve));
  }

  /** Waits for an entry to deliver or for the end of the stream. */
  async waitForDeliverableEntry(feed: JournalFeed, after: number): Promise<void> {
    await this.waitUntilWoken(feed, after);
    while (after >= this.#upTo && !this.aborted) await this.waitUntilWoken(feed, after);
  }
}

interface FeedOptions {
  readonly database: Database;
  /** Called when a read fails, once for each outage. The read is retried. */
  readonly onError: (error: unknown) => void;
}

const batchSize = 200;
/** Trimming leaves this number of recent entries in memory. It begins when there are more than twice as many. */
const trimmedLength = 500;
/** The batch size for a subscription that is further behind. Each such subscription has its own batch, and an entry may have 10 kB. */
const batchSizeBehind = 20;
const pollMs = 1_000;
/** A woken subscription takes about ten microseconds, so a batch takes about a millisecond. */
const maxWokenAtOnce = 100;

export class JournalFeed {
  /** The number of the last entry that this process has seen. */
  last: number;
  /** How many times the journal was replaced by a journal with other entries, because the database has lost its last commits. */
  timesReplaced = 0;
  /** Access that was read before the entry with this number must be read again. */
  lastAccessChange: number;
  isClosed = false;

  readonly #options: FeedOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((entry: JournalEntry) => void | Promise<void>)[] = [];
  readonly #gapListeners: (() => void)[] = [];
  /** Waiting subscriptions by the function that wakes them. */
  readonly #waiting = new Map<() => void, { readonly after: number; readonly key: string | undefined }>();
  /** Subscriptions that must be woken, by key. Keys are served in the order of the map. */
  readonly #dueByKey = new Map<string, (() => void)[]>();
  #recentEntries: JournalEntry[] = [];
  #lastNonce: number;
  #isWaking = false;
  #isReading = false;
  #hasFailed = false;
  #mustReadAgain = false;

  static async open(options: FeedOptions): Promise<JournalFeed> {
    return new JournalFeed(options, await readHead(options.database));
  }

  private constructor(options: FeedOptions, { number, nonce }: JournalPosition) {
    this.#options = options;
    this.last = number;
    this.lastAccessChange = number;
    this.#lastNonce = nonce;
    this.#timer = setInterval(this.poll, pollMs).unref();
    options.database.onCommit(this.poll);
  }

  /** Calls the listener with each later entry, in order. Subscriptions get an entry after its listeners are done. */
  onEntry(listener: (entry: JournalEntry) => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener when caches are invalid: entries were pruned before this process has read them, or the journal was replaced. */
  onGap(listener: () => void): void {
    this.#gapListeners.push(listener);
  }

  /** The next entry, if it is in memory. */
  nextInMemory(after: number): JournalEntry | undefined {
    const oldest = this.#recentEntries[0]?.number;
    return oldest === undefined ? undefined : this.#recentEntries[after - oldest + 1];
  }

  /** Returns the next entries, in order; possibly not all of them. Undefined if the next entry was pruned or lost. */
  async read(after: number): Promise<readonly JournalEntry[] | undefined> {
    const oldest = this.#recentEntries[0]?.number;
    if (oldest !== undefined && after >= oldest - 1) {
      const start = after - oldest + 1;
      return this.#recentEntries.slice(start, start + batchSize);
    }
    const { database } = this.#options;
    const entries = await readEntries(database, after, batchSizeBehind);
    const first = entries[0]?.number;
    if (first === undefined) {
      const head = await readHead(database);
      // At the head, there are no new entries. Before the head, the next entry was pruned or lost, and the caller would wait forever.
      return after >= Math.max(head.number, this.last) ? [] : undefined;
    }
    // Omits entries that this process has not read, because an unread change of access may precede them.
    return first === after + 1 ? entries.filter(({ number }) => number <= this.last) : undefined;
  }

  /**
   * Waits until there is an entry after that number, or until the signal is aborted. Subscriptions with a key, for example a user
   * id, are woken in batches and fairly by key. Subscriptions without a key are woken immediately.
   */
  waitForEntry(after: number, signal: WaitSignal, key?: string): Promise<void> {
    if (after < this.last || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        this.#waiting.delete(resume);
        signal.onabort = null;
        resolve();
      };
      this.#waiting.set(resume, { after, key });
      signal.onabort = resume;
    });
  }

  /** Checks for new entries now, without waiting for a notification of the database. */
  readonly poll = (): void => void this.#catchUp();

  close(): void {
    this.isClosed = true;
    clearInterval(this.#timer);
  }

  async #catchUp(): Promise<void> {
    this.#mustReadAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#mustReadAgain && !this.isClosed) {
        this.#mustReadAgain = false;
        const entries = await this.#readNewest();
        if (entries.length === 0) continue;
        const pending = entries.flatMap((entry) => this.#listeners.map((listener) => listener(entry)));
        await Promise.allSettled(pending.filter((each) => each !== undefined));
        this.#append(entries);
        this.#mustReadAgain = entries.length >= batchSize;
        this.#wake();
      }
      this.#hasFailed = false;
    } catch (error) {
      // Reported once for each outage.
      if (!this.isClosed && !this.#hasFailed) this.#options.onError(error);
      this.#hasFailed = true;
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns no entries if the journal was replaced, and starts again at its head. */
  async #readNewest(): Promise<readonly JournalEntry[]> {
    // Starts with the last known entry, which shows whether it is the same journal.
    const found = await readEntries(this.#options.database, this.last - 1, batchSize + 1);
    if (await this.#isReplaced(found[0])) {
      await this.#restart();
      return [];
    }
    return found[0]?.number === this.last ? found.slice(1) : found;
  }

  async #isReplaced(first: JournalEntry | undefined): Promise<boolean> {
    if (first?.number === this.last) return first.nonce !== this.#lastNonce;
    // The last known entry was pruned or never existed.
    return first === undefined && (await readHead(this.#options.database)).number < this.last;
  }

  /** Called after a restore, or after a failover to a database server without the last commits: all cached entries are wrong. */
  async #restart(): Promise<void> {
    ({ number: this.last, nonce: this.#lastNonce } = await readHead(this.#options.database));
    this.timesReplaced++;
    this.#forget(this.last);
    this.#wake(() => true);
  }

  #forget(lastAccessChange: number): void {
    this.#recentEntries = [];
    this.lastAccessChange = lastAccessChange;
    this.#gapListeners.forEach((listener) => listener());
  }

  #append(entries: readonly JournalEntry[]): void {
    // There is a gap if this process was suspended for so long that entries were pruned.
    if (entries[0]!.number !== this.last + 1) this.#forget(entries[0]!.number);
    for (const entry of entries) {
      this.#recentEntries.push(entry);
      ({ number: this.last, nonce: this.#lastNonce } = entry);
      if (entry.changesAccess) this.lastAccessChange = entry.number;
    }
    if (this.#recentEntries.length > 2 * trimmedLength)
      this.#recentEntries = this.#recentEntries.slice(-trimmedLength);
  }

  #wake(isDue = (after: number) => after < this.last): void {
    for (const [resume, { after, key }] of this.#waiting) {
      if (!isDue(after)) continue;
      this.#waiting.delete(resume);
      if (key === undefined) resume();
      else if (this.#dueByKey.has(key)) this.#dueByKey.get(key)!.push(resume);
      else this.#dueByKey.set(key, [resume]);
    }
    if (!this.#isWaking) this.#wakeBatch();
  }

  /** Wakes one subscription of each key in turn. After `maxWokenAtOnce` subscriptions, the event loop serves other work. */
  #wakeBatch(): void {
    let wokenCount = 0;
    for (const [key, resumes] of this.#dueByKey) {
      if (wokenCount++ === maxWokenAtOnce) break;
      this.#dueByKey.delete(key);
      resumes.shift()!();
      // The loop visits this key again after the other keys.
      if (resumes.length > 0) this.#dueByKey.set(key, resumes);
    }
    this.#isWaking = this.#dueByKey.size > 0;
    if (this.#isWaking) setImmediate(() => this.#wakeBatch());
  }
}
