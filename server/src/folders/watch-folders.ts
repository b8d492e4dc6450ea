/**
 * Following the changes of the folders that somebody sees, from a place of the journal on. Nothing is queued: the next
 * change is worked out when it is asked for, with the viewer's access of that moment. Who comes too late for that, or
 * has fallen too far behind, is told to read anew.
 */

import type { AccessBook, Standing } from '../access/access-book.ts';
import { hasAccessChanged, hasAccessChangedTwice } from '../access/access-history.ts';
import type { Access } from '../access/access.ts';
import type { ConsistentReader, Database, PromiseOrValue } from '../database/database.ts';
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
import {
  effectOf,
  effectsOfAccess,
  placed,
  resyncAt,
  type Effect,
  type FolderChange,
} from './folder-changes.ts';
import type { TreeView } from './folders.ts';
import { WatchedFolder } from './watched-folder.ts';

export interface WatchServices {
  readonly database: Database;
  readonly accessBook: AccessBook;
  readonly feed: JournalFeed;
  /** Runs a small piece of work at the viewer's turn. */
  readonly inTurn: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
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
  { reader, access }: TreeView,
  head: JournalPlace,
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
  }
  return { under, changes, place, hasMore: true };
}

/** Where whoever has no cursor begins. */
async function beforeOldest(reader: ConsistentReader, head: JournalPlace): Promise<JournalPlace> {
  const oldest = await readOldest(reader);
  return oldest === undefined ? head : { number: oldest - 1, nonce: 0 };
}

/** Streams the changes after a journal entry, until it is told to return. It starts from the snapshot of `view`. */
export async function watchFolders(
  services: WatchServices,
  { reader, access }: TreeView,
  options: WatchOptions,
): Promise<Followed<FolderChange>> {
  const { after, head, under } = options;
  const isKnown = await isStillKnown(reader, access, after, head);
  const place = isKnown ? after : head;
  const watched = await watchedAt(reader, access, place.number, under);
  const start = { place, watched, isKnown, standing: { access, place: head } };
  return follow((reach) => new FolderWatch(services, options, start, reach));
}

export interface WatchOptions extends WatchedPlace {
  /** The last entry in the snapshot that it starts from. */
  readonly head: JournalPlace;
  /** How many entries it may fall behind. */
  readonly maxBacklog: number;
}

/** Read from the snapshot that the subscription starts from. */
interface WatchStart {
  readonly place: JournalPlace;
  /** All changes after `after` can still be reported. */
  readonly isKnown: boolean;
  readonly standing: Standing;
  readonly watched: WatchedFolder | undefined;
}

class FolderWatch implements Follower<FolderChange> {
  readonly #services: WatchServices;
  readonly #reach: Reach;
  readonly #under: string | undefined;
  readonly #start: WatchStart;
  readonly #maxBacklog: number;
  /** The rights that the changes sent so far were judged by. */
  #standing: Standing;
  #watched: WatchedFolder | undefined;
  toldUpTo: JournalPlace;

  constructor(services: WatchServices, options: WatchOptions, start: WatchStart, reach: Reach) {
    this.#services = services;
    this.#reach = reach;
    this.#under = options.under;
    this.#start = start;
    this.toldUpTo = options.after;
    this.#maxBacklog = options.maxBacklog;
    this.#standing = start.standing;
    this.#watched = start.watched;
  }

  async *told(): AsyncGenerator<FolderChange, void> {
    const { feed, inTurn } = this.#services;
    const { signal } = this.#reach;
    const overIfAborted = (error: unknown) => {
      if (signal.aborted) return 'over' as const;
      throw error;
    };
    let { timesReplaced } = feed;
    let { place } = this.#start;
    if (!this.#start.isKnown) yield resyncAt(place);
    this.toldUpTo = place;

    for (;;) {
      // It may have been replaced while the last change was on its way; then there is nothing to wait for.
      if (feed.timesReplaced === timesReplaced) {
        await this.#reach.waitForNext(feed, place.number, this.#standing.access.userId);
      }
      if (signal.aborted) return;
      let isLost = feed.timesReplaced !== timesReplaced || feed.last - place.number > this.#maxBacklog;
      ({ timesReplaced } = feed);
      const entries = isLost ? undefined : await feed.read(place.number);
      for (const entry of entries ?? []) {
        const previous = place;
        // With rights that still hold, nothing is read: a turn would cost more than the work.
        const told = this.#isLatest
          ? placed(entry, previous, this.#effectsOf(entry, []))
          : await inTurn(() => this.#changesAfterAccess(entry, previous), signal).catch(overIfAborted);
        if (told === 'over') return;
        isLost = told === 'lost';
        if (told === 'lost') break;
        for (const change of told) {
          // While the change before was on its way, the viewer may have been disabled.
          if (!this.#isLatest && (await this.#atOneMoment(() => true)) === 'over') return;
          yield change;
          if (signal.aborted) return;
        }
        place = entry;
        this.toldUpTo = entry;
        // Too much has happened while these were sent: look again.
        if (feed.last - place.number > this.#maxBacklog || place.number >= this.#reach.upTo) break;
      }
      if (!entries || isLost) {
        const latest = await this.#atOneMoment(async (reader, standing) => {
          this.#watched = await watchedAt(reader, standing.access, standing.place.number, this.#under);
          return standing;
        });
        if (latest === 'over') return;
        this.#standing = latest;
        place = latest.place;
        yield resyncAt(place);
        this.toldUpTo = place;
      }
    }
  }

  /** No entry that the feed has read since has changed anyone's access. */
  get #isLatest(): boolean {
    return this.#services.feed.accessChangedAt <= this.#standing.place.number;
  }

  /**
   * Runs `work` in a snapshot, with the viewer's rights in it. Resolves with 'over' when the viewer can no longer log in:
   * nothing more is sent, and the subscription waits for its connection to end.
   */
  async #atOneMoment<T>(
    work: (reader: ConsistentReader, standing: Standing) => PromiseOrValue<T>,
  ): Promise<T | 'over'> {
    const { database, accessBook, feed } = this.#services;
    const { userId } = this.#standing.access;
    try {
      return await database.moment(async (snapshot) =>
        work(snapshot, await accessBook.accessFor(snapshot, userId)),
      );
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN')) throw error;
      await feed.waitFor(Infinity, this.#reach.signal);
      return 'over';
    }
  }

  /** First what another access does to what the viewer knows, and then what the entry did. */
  #changesAfterAccess(
    entry: JournalEntry,
    previous: JournalPlace,
  ): Promise<readonly FolderChange[] | 'lost' | 'over'> {
    return this.#atOneMoment(async (reader, latest) => {
      const before = this.#standing;
      this.#standing = latest;
      if (await isSightLost(reader, before, latest, entry)) return 'lost';
      const change = {
        before: before.access,
        after: latest.access,
        number: previous.number,
        under: this.#under,
      };
      return placed(entry, previous, this.#effectsOf(entry, await effectsOfAccess(reader, change)));
    });
  }

  #effectsOf(entry: JournalEntry, ofAccess: readonly Effect[]): readonly Effect[] {
    const { access } = this.#standing;
    const onWatched = this.#watched?.follow(entry, access);
    const effects: Effect[] = [];
    for (const effect of [...ofAccess, effectOf(entry, access, this.#under), onWatched]) {
      const isTwice = effects.some(
        ({ kind, folderId }) => kind === effect?.kind && folderId === effect.folderId,
      );
      if (effect && !isTwice) effects.push(effect);
    }
    return effects;
  }
}

/**
 * Whether the viewer's access has changed more than once by now, with entries in between that are not yet reported: what
 * the viewer read meanwhile, because of earlier changes, may show folders that neither access covers.
 */
async function isSightLost(
  reader: ConsistentReader,
  before: Standing,
  latest: Standing,
  { number }: JournalEntry,
): Promise<boolean> {
  if (latest.place.number <= number) return false;
  const accesses = [before.access, latest.access];
  const stretch = { after: Math.max(before.place.number, number - 1), upTo: latest.place.number };
  return hasAccessChangedTwice(reader, accesses, stretch);
}

async function watchedAt(
  reader: ConsistentReader,
  { rootId }: Access,
  number: number,
  under: string | undefined,
): Promise<WatchedFolder | undefined> {
  return under === undefined ? undefined : WatchedFolder.at(reader, { rootId, number }, under);
}

/** Whether all that happened to the viewer's folders after an entry can still be told. */
async function isStillKnown(
  reader: ConsistentReader,
  access: Access,
  after: JournalPlace,
  head: JournalPlace,
): Promise<boolean> {
  if (after.number > head.number) return false;
  const isEntry = after.number === head.number ? after.nonce === head.nonce : await isKept(reader, after);
  const stretch = { after: after.number, upTo: head.number };
  return isEntry && !(await hasAccessChanged(reader, access, stretch));
}
