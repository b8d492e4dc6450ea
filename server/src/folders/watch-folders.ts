/**
 * Following the changes of the folders that somebody sees, from a place of the journal on. Nothing is queued: the next
 * change is worked out when it is asked for, with the viewer's access of that moment. Who comes too late for that, or
 * has fallen too far behind, is told to read anew.
 */

import type { AccessBook, Standing } from '../access/access-book.ts';
import { hasAccessChanged, hasAccessChangedTwice } from '../access/access-history.ts';
import type { Access } from '../access/access.ts';
import type { Database, PromiseOrValue, Reader } from '../database/database.ts';
import { follow, type Followed, type Follower, type Reach } from '../journal/follow.ts';
import {
  isKept,
  readEntries,
  readOldest,
  type JournalEntry,
  type JournalPlace,
} from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import type { Turns } from '../turns.ts';
import {
  effectOf,
  effectsOfAccess,
  placed,
  resyncAt,
  type Effect,
  type FolderChange,
} from './folder-changes.ts';
import { WatchedFolder } from './watched-folder.ts';

export interface WatchServices {
  readonly database: Database;
  readonly accessBook: AccessBook;
  readonly feed: JournalFeed;
  readonly turns: Turns;
}

export interface WatchedPlace {
  /** The last known entry. */
  readonly after: JournalPlace;
  readonly under: string | undefined;
}

export interface ChangePage {
  readonly under: string | undefined;
  readonly changes: readonly FolderChange[];
  /** Where the next page begins. */
  readonly place: JournalPlace;
  readonly hasMore: boolean;
}

const batch = 200;
const mostScannedPerPage = 10_000;

/**
 * The changes after a place, or all that are kept, as far as there are. What is looked through and not seen counts
 * towards the page, too.
 */
export async function readChanges(
  reader: Reader,
  { access, place: head }: Standing,
  { after, under }: Partial<WatchedPlace>,
  first: number,
): Promise<ChangePage> {
  const resync = { under, changes: [resyncAt(head)], place: head, hasMore: false };
  const start = after ?? (await beforeOldest(reader, head));
  const isKnown = after
    ? await isStillKnown(reader, access, after, head)
    : !(await hasAccessChanged(reader, access, { after: start.number, upTo: head.number }));
  if (!isKnown) return resync;
  const changes: FolderChange[] = [];
  const watched = await watchedAt(reader, access, start.number, under);
  let place = start;
  for (let scanned = 0; scanned < mostScannedPerPage; scanned += batch) {
    const entries = await readEntries(reader, place.number, batch);
    // Some may have been forgotten just now.
    const isGone = place.number < head.number && entries[0]?.number !== place.number + 1;
    if (isGone) return resync;
    for (const entry of entries) {
      // What came after the access was read is judged by an access read after it.
      if (entry.number > head.number) return { under, changes, place, hasMore: true };
      const effectOnWatched = watched?.follow(entry, access);
      const effect = effectOf(entry, access, under) ?? effectOnWatched;
      if (effect && changes.length === first) return { under, changes, place, hasMore: true };
      if (effect) changes.push(...placed(entry, place, [effect]));
      place = entry;
    }
    if (entries.length < batch) return { under, changes, place, hasMore: false };
    await new Promise(setImmediate);
  }
  return { under, changes, place, hasMore: true };
}

/** Where whoever has no cursor begins. */
async function beforeOldest(reader: Reader, head: JournalPlace): Promise<JournalPlace> {
  const oldest = await readOldest(reader);
  return oldest === undefined ? head : { number: oldest - 1, nonce: 0 };
}

/** What comes after a place; it goes on until it is told to return. */
export function watchFolders(services: WatchServices, options: WatchOptions): Followed<FolderChange> {
  return follow((reach) => new FolderWatch(services, options, reach));
}

export interface WatchOptions extends WatchedPlace {
  readonly standing: Standing;
  /** So many entries it may be behind. */
  readonly maxBacklog: number;
}

class FolderWatch implements Follower<FolderChange> {
  readonly #services: WatchServices;
  readonly #reach: Reach;
  readonly #under: string | undefined;
  readonly #after: JournalPlace;
  readonly #maxBacklog: number;
  /** What the changes that were sent so far were seen with. */
  #standing: Standing;
  #watched: WatchedFolder | undefined;
  toldUpTo: JournalPlace;

  constructor(services: WatchServices, options: WatchOptions, reach: Reach) {
    this.#services = services;
    this.#reach = reach;
    this.#under = options.under;
    this.#after = options.after;
    this.toldUpTo = options.after;
    this.#maxBacklog = options.maxBacklog;
    this.#standing = options.standing;
  }

  async *told(): AsyncGenerator<FolderChange, void> {
    const { feed, turns, database } = this.#services;
    const { signal } = this.#reach;
    const { access, place: head } = this.#standing;
    let { timesReplaced } = feed;
    const isKnown = await turns.take(() => isStillKnown(database, access, this.#after, head));
    let place: JournalPlace = isKnown ? this.#after : head;
    this.#watched = await watchedAt(database, access, place.number, this.#under);
    if (!isKnown) yield resyncAt(place);
    this.toldUpTo = place;

    for (;;) {
      // It may have been replaced while the last change was on its way; then there is nothing to wait for.
      if (feed.timesReplaced === timesReplaced) await this.#reach.waitForNext(feed, place.number);
      if (signal.aborted) return;
      let isLost = feed.timesReplaced !== timesReplaced || feed.last - place.number > this.#maxBacklog;
      ({ timesReplaced } = feed);
      const entries = isLost ? undefined : await feed.read(place.number);
      for (const entry of entries ?? []) {
        const previous = place;
        const told = await turns.take(() => this.#changesOf(entry, previous));
        if (told === 'over') return;
        isLost = told === 'lost';
        if (told === 'lost') break;
        for (const change of told) {
          // While the change before was on its way, the viewer may have been disabled.
          if (!(await this.#accessNow())) return;
          yield change;
          if (signal.aborted) return;
        }
        place = entry;
        this.toldUpTo = entry;
        // Too much has happened while these were sent: look again.
        if (feed.last - place.number > this.#maxBacklog || place.number >= this.#reach.upTo) break;
      }
      if (!entries || isLost) {
        const latest = await this.#readAccess();
        if (!latest) return;
        this.#standing = latest;
        place = latest.place;
        this.#watched = await watchedAt(database, latest.access, place.number, this.#under);
        yield resyncAt(place);
        this.toldUpTo = place;
      }
    }
  }

  #accessNow(): PromiseOrValue<Standing | undefined> {
    const isLatest = this.#services.feed.accessChangedAt <= this.#standing.place.number;
    return isLatest ? this.#standing : this.#readAccess();
  }

  /** Undefined when it is over: who can no longer log in hears nothing more, and waits for the connection to end. */
  async #readAccess(): Promise<Standing | undefined> {
    const { accessBook, feed } = this.#services;
    try {
      return await accessBook.accessOf(this.#standing.access.userId);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN')) throw error;
      await feed.waitFor(Infinity, this.#reach.signal);
      return undefined;
    }
  }

  /**
   * Whether the viewer's access has changed more than once by now, with entries in between that are still to be told:
   * what they read meanwhile, because of changes told before, may show what was never to be seen with either access.
   */
  async #isSightLost(before: Standing, latest: Standing, { number }: JournalEntry): Promise<boolean> {
    if (before === latest || latest.place.number <= number) return false;
    const accesses = [before.access, latest.access];
    const stretch = { after: Math.max(before.place.number, number - 1), upTo: latest.place.number };
    return hasAccessChangedTwice(this.#services.database, accesses, stretch);
  }

  /** First what another access does to what the viewer knows, and then what the entry did. */
  async #changesOf(
    entry: JournalEntry,
    previous: JournalPlace,
  ): Promise<readonly FolderChange[] | 'lost' | 'over'> {
    const before = this.#standing;
    const latest = await this.#accessNow();
    if (!latest) return 'over';
    this.#standing = latest;
    if (await this.#isSightLost(before, latest, entry)) return 'lost';
    const change = {
      before: before.access,
      after: latest.access,
      number: previous.number,
      under: this.#under,
    };
    const effects: Effect[] = [];
    const add = (effect: Effect | undefined) => {
      const isTold = effects.some(
        ({ kind, folderId }) => kind === effect?.kind && folderId === effect.folderId,
      );
      if (effect && !isTold) effects.push(effect);
    };
    (await effectsOfAccess(this.#services.database, change)).forEach(add);
    const onWatched = this.#watched?.follow(entry, latest.access);
    add(effectOf(entry, latest.access, this.#under));
    add(onWatched);
    return placed(entry, previous, effects);
  }
}

async function watchedAt(
  reader: Reader,
  { rootId }: Access,
  number: number,
  under: string | undefined,
): Promise<WatchedFolder | undefined> {
  return under === undefined ? undefined : WatchedFolder.at(reader, { rootId, number }, under);
}

/** Whether all that happened to the viewer's folders after an entry can still be told. */
async function isStillKnown(
  reader: Reader,
  access: Access,
  after: JournalPlace,
  head: JournalPlace,
): Promise<boolean> {
  if (after.number > head.number) return false;
  const isEntry = after.number === head.number ? after.nonce === head.nonce : await isKept(reader, after);
  const stretch = { after: after.number, upTo: head.number };
  return isEntry && !(await hasAccessChanged(reader, access, stretch));
}
