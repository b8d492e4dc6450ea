/**
 * Reads new journal entries once for the whole node. Followers wait here and take recent entries from memory; a follower that
 * is further behind reads from the database at its own pace. There is no queue for each follower.
 */

import type { Database } from '../database/database.ts';
import { readHead } from './journal.ts';
import { readEntries, readNext, type JournalEntry } from './journal-entry.ts';

export interface JournalFeed {
  /** The number of the last entry that this node has seen. */
  readonly last: number;
  /** How often the journal was replaced by one with other entries: the database has lost its last commits. */
  readonly timesReplaced: number;
  /** The number of the last entry that changed the access of users. */
  readonly accessChangedAt: number;
  /** The next entry, if it is in memory. */
  nextInMemory(after: number): JournalEntry | undefined;
  /** Some of the entries that follow, in order; undefined if the next one was pruned. */
  read(after: number): Promise<readonly JournalEntry[] | undefined>;
  /**
   * Waits until there is an entry after that number, or it is stopped. Followers with a key, for example a user
   * id, are woken some at a time and fairly by key; without one, at once.
   */
  waitFor(after: number, stopping: Stopping, key?: string): Promise<void>;
  /** Checks for new entries now, without waiting for a notification of the database. */
  readonly poll: () => void;
  /** Calls the listener with each later entry, in order. Followers get an entry after its listeners are done. */
  onEntry(listener: (entry: JournalEntry) => void | Promise<void>): void;
  /** Called when entries were pruned before this node has read them: caches must be read again. */
  onGap(listener: () => void): void;
  readonly isClosed: boolean;
  close(): void;
}

/** Ends a wait: an AbortSignal or a cheaper equivalent. It serves one wait at a time. */
export interface Stopping {
  readonly aborted: boolean;
  onabort: ((...args: never[]) => unknown) | null;
}

export interface FeedOptions {
  readonly database: Database;
  /** A failed read is retried. */
  readonly onError: (error: unknown) => void;
}

const batch = 200;
/** At least this number of recent entries is in memory, and at most twice as many. */
const minInMemory = 500;
/** For a follower that is further behind. Each such follower has its own batch, and an entry may have 10 kB. */
const batchBehind = 20;
const pollMs = 1_000;
/** Checking a follower takes about ten microseconds. */
const maxWokenAtOnce = 100;

export async function openJournalFeed({ database, onError }: FeedOptions): Promise<JournalFeed> {
  const waiting = new Map<() => void, { readonly after: number; readonly key: string | undefined }>();
  /** Followers that an entry is due for, by key. The order of the map is the order of service. */
  const due = new Map<string, (() => void)[]>();
  let isWaking = false;
  const listeners: ((entry: JournalEntry) => void | Promise<void>)[] = [];
  const gapListeners: (() => void)[] = [];
  let recent: JournalEntry[] = [];
  let { number: last, nonce: lastNonce } = await readHead(database);
  let accessChangedAt = last;
  let timesReplaced = 0;
  let isReading = false;
  let hasFailed = false;
  let hasMore = false;
  let isClosed = false;

  async function catchUp(): Promise<void> {
    hasMore = true;
    if (isReading) return;
    isReading = true;
    try {
      while (hasMore && !isClosed) {
        hasMore = false;
        const entries = await readNewest();
        if (entries.length === 0) continue;
        const pending = entries.flatMap((entry) => listeners.map((listener) => listener(entry)));
        await Promise.allSettled(pending.filter((each) => each !== undefined));
        append(entries);
        hasMore = entries.length >= batch;
        wake();
      }
      hasFailed = false;
    } catch (error) {
      // Reported once for each outage.
      if (!isClosed && !hasFailed) onError(error);
      hasFailed = true;
    } finally {
      isReading = false;
    }
  }

  /** Returns no entries if the journal was replaced, and starts again at its head. */
  async function readNewest(): Promise<readonly JournalEntry[]> {
    const next = await readNext(database, { number: last, nonce: lastNonce }, batch);
    if (next.length > 0) return next;
    // Starts with the last known entry, which shows whether it is the same journal.
    const found = await readEntries(database, last - 1, batch + 1);
    if (await isReplaced(found[0])) {
      await restart();
      return [];
    }
    return found[0]?.number === last ? found.slice(1) : found;
  }

  async function isReplaced(first: JournalEntry | undefined): Promise<boolean> {
    if (first?.number === last) return first.nonce !== lastNonce;
    // The last known entry was pruned or never existed.
    return first === undefined && (await readHead(database)).number < last;
  }

  /** After a failover to a server without the last commits, or a restore: all cached entries are wrong. */
  async function restart(): Promise<void> {
    ({ number: last, nonce: lastNonce } = await readHead(database));
    timesReplaced++;
    recent = [];
    accessChangedAt = last;
    gapListeners.forEach((listener) => listener());
    wake(() => true);
  }

  function append(entries: readonly JournalEntry[]): void {
    // This node was suspended for so long that entries were pruned.
    if (entries[0]!.number !== last + 1) {
      recent = [];
      accessChangedAt = entries[0]!.number;
      gapListeners.forEach((listener) => listener());
    }
    for (const entry of entries) {
      recent.push(entry);
      ({ number: last, nonce: lastNonce } = entry);
      if (entry.changesAccess) accessChangedAt = entry.number;
    }
    if (recent.length > 2 * minInMemory) recent = recent.slice(-minInMemory);
  }

  function wake(isDue = (after: number) => after < last): void {
    for (const [resume, { after, key }] of waiting) {
      if (!isDue(after)) continue;
      waiting.delete(resume);
      if (key === undefined) resume();
      else if (due.has(key)) due.get(key)!.push(resume);
      else due.set(key, [resume]);
    }
    if (!isWaking) wakeSome();
  }

  /** Wakes one follower of each key after the other, and after some of them lets the event loop serve others. */
  function wakeSome(): void {
    let woken = 0;
    for (const [key, resumes] of due) {
      if (woken++ === maxWokenAtOnce) break;
      due.delete(key);
      resumes.shift()!();
      // This loop reaches it again, after the others.
      if (resumes.length > 0) due.set(key, resumes);
    }
    isWaking = due.size > 0;
    if (isWaking) setImmediate(wakeSome);
  }

  const poll = () => void catchUp();
  const timer = setInterval(poll, pollMs).unref();
  database.watch(poll);

  return {
    get last() {
      return last;
    },
    get timesReplaced() {
      return timesReplaced;
    },
    get accessChangedAt() {
      return accessChangedAt;
    },
    nextInMemory(after) {
      const oldest = recent[0]?.number;
      return oldest === undefined ? undefined : recent[after - oldest + 1];
    },
    async read(after) {
      const oldest = recent[0]?.number;
      if (oldest !== undefined && after >= oldest - 1) {
        const start = after - oldest + 1;
        return recent.slice(start, start + batch);
      }
      const entries = await readEntries(database, after, batchBehind);
      const first = entries[0]?.number;
      if (first === undefined) {
        const head = await readHead(database);
        // Entries that this node has read are gone: the database went back, and the follower would wait forever.
        return after >= Math.max(head.number, last) ? [] : undefined;
      }
      // Entries that this node has not read yet may follow a change of access that it has not read either.
      return first === after + 1 ? entries.filter(({ number }) => number <= last) : undefined;
    },
    waitFor(after, stopping, key) {
      if (after < last || stopping.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const resume = () => {
          waiting.delete(resume);
          stopping.onabort = null;
          resolve();
        };
        waiting.set(resume, { after, key });
        stopping.onabort = resume;
      });
    },
    poll,
    onEntry(listener) {
      listeners.push(listener);
    },
    onGap(listener) {
      gapListeners.push(listener);
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
