/**
 * Following the changes of the folders that somebody sees, from a place of the journal on. Nothing is queued: the next
 * change is worked out when it is asked for, with the viewer's access of that moment. Who comes too late for that, or
 * has fallen too far behind, is told to read anew.
 */

import type { AccessBook, Standing } from '../access/access-book.ts';
import { hasAccessChanged } from '../access/access-history.ts';
import type { Access } from '../access/access.ts';
import type { Database } from '../database/database.ts';
import { readEntries, readOldest, type JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import {
  effectOf,
  effectsOfAccess,
  numbered,
  resyncAt,
  type Effect,
  type FolderChange,
} from './folder-changes.ts';
import { readFolder, viewTree } from './folders.ts';

export interface WatchServices {
  readonly database: Database;
  readonly accessBook: AccessBook;
  readonly feed: JournalFeed;
}

export interface WatchedPlace {
  /** The number of the last known entry; undefined for one of a journal that is no more. */
  readonly after: number | undefined;
  readonly under: string | undefined;
}

/** A change, and the access with which it may be looked at. */
export interface SeenChange {
  readonly change: FolderChange;
  readonly access: Access;
}

/** Ends at once when it is told to return, even while a change is awaited. */
export type FolderStream = AsyncGenerator<SeenChange, void>;

export interface ChangePage {
  readonly changes: readonly FolderChange[];
  /** Where the next page begins. */
  readonly number: number;
  readonly hasMore: boolean;
}

const batch = 200;
const mostScannedPerPage = 10_000;

/** The changes after a place, as far as there are. What is looked through and not seen counts, too. */
export async function readChanges(
  database: Database,
  { access, place }: Standing,
  { after, under }: WatchedPlace,
  first: number,
): Promise<ChangePage> {
  if (!(await isStillKnown(database, access, after, place))) {
    return { changes: [resyncAt(place)], number: place, hasMore: false };
  }
  const sight = { before: access, after: access, under };
  const changes: FolderChange[] = [];
  let number = after!;
  for (let scanned = 0; scanned < mostScannedPerPage; scanned += batch) {
    const entries = await readEntries(database, number, batch);
    for (const entry of entries) {
      // What came after the access was read is judged by an access read after it.
      if (entry.number > place) return { changes, number, hasMore: true };
      const effect = effectOf(entry, sight);
      if (effect && changes.length === first) return { changes, number, hasMore: true };
      if (effect) changes.push(...numbered(entry, [effect]));
      number = entry.number;
    }
    if (entries.length < batch) return { changes, number, hasMore: false };
    await new Promise(setImmediate);
  }
  return { changes, number, hasMore: true };
}

/** What comes after a place; it goes on until it is told to return. */
export function watchFolders(services: WatchServices, options: WatchOptions): FolderStream {
  const stopping = new AbortController();
  const changes = new FolderWatch(services, options, stopping.signal).changes();
  const end = () => {
    stopping.abort();
    return changes.return();
  };
  return {
    next: () => changes.next(),
    return: end,
    throw: end,
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => void (await end()),
  };
}

export interface WatchOptions extends WatchedPlace {
  readonly standing: Standing;
  /** So many entries it may be behind. */
  readonly maxBacklog: number;
}

class FolderWatch {
  readonly #services: WatchServices;
  readonly #signal: AbortSignal;
  readonly #under: string | undefined;
  readonly #after: number | undefined;
  readonly #maxBacklog: number;
  /** What the changes that were sent so far were seen with. */
  #standing: Standing;
  #isUnderSeen = true;

  constructor(services: WatchServices, options: WatchOptions, signal: AbortSignal) {
    this.#services = services;
    this.#signal = signal;
    this.#under = options.under;
    this.#after = options.after;
    this.#maxBacklog = options.maxBacklog;
    this.#standing = options.standing;
  }

  async *changes(): AsyncGenerator<SeenChange, void> {
    const { feed, database } = this.#services;
    const { access, place } = this.#standing;
    const isKnown = await isStillKnown(database, access, this.#after, place);
    let number = isKnown ? this.#after! : place;
    if (!isKnown) yield { change: resyncAt(place), access };

    for (;;) {
      await feed.waitFor(number, this.#signal);
      if (this.#signal.aborted) return;
      const isBehind = feed.last - number > this.#maxBacklog;
      const entries = isBehind ? undefined : await feed.read(number);
      if (!entries) {
        const latest = await this.#accessNow();
        if (!latest) return;
        await this.#effectOnUnder(latest.access);
        number = Math.max(feed.last, latest.place);
        yield { change: resyncAt(number), access: latest.access };
        continue;
      }
      for (const entry of entries) {
        const before = this.#standing.access;
        const latest = await this.#accessNow();
        if (!latest) return;
        for (const change of await this.#changesOf(entry, before, latest.access)) {
          yield { change, access: latest.access };
          if (this.#signal.aborted) return;
        }
        number = entry.number;
        // Too much has happened while these were sent: look again.
        if (feed.last - number > this.#maxBacklog) break;
      }
      await new Promise(setImmediate);
    }
  }

  /** Undefined when it is over: who can no longer log in hears nothing more, and waits for the connection to end. */
  async #accessNow(): Promise<Standing | undefined> {
    const { accessBook, feed } = this.#services;
    if (feed.accessChangedAt <= this.#standing.place) return this.#standing;
    try {
      return (this.#standing = await accessBook.accessOf(this.#standing.access.userId));
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN')) throw error;
      await feed.waitFor(Infinity, this.#signal);
      return undefined;
    }
  }

  async #changesOf(entry: JournalEntry, before: Access, after: Access): Promise<FolderChange[]> {
    const sight = { before, after, under: this.#under };
    const effects: Effect[] = [];
    const add = (effect: Effect | undefined) => {
      const isTold = effects.some(
        ({ kind, folderId }) => kind === effect?.kind && folderId === effect.folderId,
      );
      if (effect && !isTold) effects.push(effect);
    };
    if (before !== after) (await effectsOfAccess(this.#services.database, sight)).forEach(add);
    if (before !== after || entry.changesAccess) add(await this.#effectOnUnder(after));
    add(effectOf(entry, sight));
    return numbered(entry, effects);
  }

  /** The folder itself may come and go with one above it. */
  async #effectOnUnder(access: Access): Promise<Effect | undefined> {
    const folderId = this.#under;
    if (folderId === undefined) return undefined;
    const wasSeen = this.#isUnderSeen;
    const isSeen = Boolean(await readFolder(viewTree(this.#services.database, access), folderId));
    this.#isUnderSeen = isSeen;
    return isSeen === wasSeen ? undefined : { kind: isSeen ? 'CREATE' : 'DELETE', folderId };
  }
}

/** Whether all that happened to the viewer's folders after a number can still be told. */
async function isStillKnown(
  database: Database,
  access: Access,
  after: number | undefined,
  place: number,
): Promise<boolean> {
  if (after === undefined || after > place) return false;
  if (after === place) return true;
  const oldest = await readOldest(database);
  if (oldest === undefined || oldest > after + 1) return false;
  return !(await hasAccessChanged(database, access, after));
}
