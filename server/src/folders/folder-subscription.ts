/**
 * Follows the changes of the folders that a viewer sees. Nothing is queued: the next change is judged when it is asked for,
 * with the viewer's rights of that moment. A follower that has fallen too far behind reports RESYNC.
 */

import type { AccessSnapshot } from '../access/access-cache.ts';
import type { Access } from '../access/access.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ConsistentReader, Database } from '../database/database.ts';
import { EndSignal, iterate, type ChangeStream } from '../journal/change-stream.ts';
import type { JournalEntry, JournalPlace } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import type { AccessChanges } from './access-changes.ts';
import { effectOf, withPositions, resyncAt, type Effect, type FolderChange } from './folder-changes.ts';
import { TrackedFolder } from './folder-changes.ts';

export interface SubscriptionServices {
  readonly database: Database;
  readonly accessChanges: AccessChanges;
  readonly feed: JournalFeed;
  /** Runs a small piece of work at the viewer's turn. */
  readonly inTurn: <T>(work: () => Promise<T>, signal: Pick<AbortSignal, 'aborted'>) => Promise<T>;
}

export interface SubscriptionRange {
  /** The last known entry. */
  readonly after: JournalPlace;
  readonly under: string | undefined;
}

export interface SubscriptionOptions extends SubscriptionRange {
  /** The last entry in the snapshot that it starts from. */
  readonly head: JournalPlace;
  /** How many entries it may fall behind. */
  readonly maxBacklog: number;
}

/** Read from the snapshot that the subscription starts from. */
export interface SubscriptionStart {
  readonly place: JournalPlace;
  /** All changes after `after` can still be reported. */
  readonly isKnown: boolean;
  readonly rights: AccessSnapshot;
  readonly tracked: TrackedFolder | undefined;
}

/** The changes of one entry, or the RESYNC in place of several. */
interface Report {
  readonly changes: readonly FolderChange[];
  /** The number of changes that `next` has returned. */
  given: number;
  /** The follower's position after the last change. */
  readonly end: JournalPlace;
}

const over = { done: true, value: undefined } as const;

export class FolderSubscription implements ChangeStream<FolderChange> {
  readonly #services: SubscriptionServices;
  readonly #end = new EndSignal();
  readonly #under: string | undefined;
  readonly #maxBacklog: number;
  /** The rights that the changes sent so far were judged by. */
  #standing: AccessSnapshot;
  #watched: TrackedFolder | undefined;
  #timesReplaced: number;
  /** The last entry that was judged and reported. */
  #place: JournalPlace;
  #report: Report | undefined;
  /** Entries read from the database, for a follower that is behind the entries in memory. */
  #entries: readonly JournalEntry[] = [];
  deliveredUpTo: JournalPlace;

  constructor(
    services: SubscriptionServices,
    { under, after, maxBacklog }: SubscriptionOptions,
    start: SubscriptionStart,
  ) {
    const { place, rights, tracked, isKnown } = start;
    this.#services = services;
    this.#under = under;
    this.#maxBacklog = maxBacklog;
    this.#standing = rights;
    this.#watched = tracked;
    this.#timesReplaced = services.feed.timesReplaced;
    this.#place = place;
    this.deliveredUpTo = isKnown ? place : after;
    if (!isKnown) this.#resyncAt(place);
  }

  next(): PromiseOrValue<IteratorResult<FolderChange, void>> {
    return this.#nextInMemory() ?? this.#nextLater();
  }

  return(): void {
    this.#end.abort();
  }

  stopAfter(number: number): void {
    this.#end.stopAfter(number);
  }

  [Symbol.asyncIterator](): AsyncGenerator<FolderChange, void> {
    return iterate(this);
  }

  /** Undefined if it has to be waited for, or cannot be judged without the database. */
  #nextInMemory(): IteratorResult<FolderChange, void> | undefined {
    const { feed } = this.#services;
    for (;;) {
      if (this.#end.aborted) return over;
      const change = this.#takeReported();
      if (change && !this.#isLatest) return undefined;
      if (change) return this.#give(change);
      const { number } = this.#place;
      const isNear = feed.timesReplaced === this.#timesReplaced && feed.last - number <= this.#maxBacklog;
      const entry = isNear && number < this.#end.upTo ? this.#entryAfter(number) : undefined;
      if (!entry || !this.#isLatest) return undefined;
      this.#reportEntry(entry, []);
    }
  }

  async #nextLater(): Promise<IteratorResult<FolderChange, void>> {
    for (;;) {
      const change = this.#takeReported();
      if (change) {
        // While the change before was on its way, the viewer may have been disabled.
        const isOver = !this.#isLatest && (await this.#latestRights()) === 'over';
        return isOver || this.#end.aborted ? over : this.#give(change);
      }
      const { feed } = this.#services;
      // It may have been replaced while the last change was on its way; then there is nothing to wait for.
      if (feed.timesReplaced === this.#timesReplaced) {
        await this.#end.waitForChange(feed, this.#place.number, this.#standing.access.userId);
      }
      const ready = this.#nextInMemory();
      if (ready) return ready;
      if (!this.#report && (await this.#readReport()) === 'over') return over;
    }
  }

  /** The change to be given next. When all were taken, the follower has come to the end of the report. */
  #takeReported(): FolderChange | undefined {
    const report = this.#report;
    if (!report) return undefined;
    if (report.given < report.changes.length) return report.changes[report.given];
    this.#report = undefined;
    this.#place = report.end;
    this.deliveredUpTo = report.end;
    return undefined;
  }

  #give(value: FolderChange): IteratorResult<FolderChange, void> {
    this.#report!.given++;
    return { done: false, value };
  }

  #reportEntry(entry: JournalEntry, ofAccess: readonly Effect[]): void {
    this.#report = {
      changes: withPositions(entry, this.#place, this.#effectsOf(entry, ofAccess)),
      given: 0,
      end: entry,
    };
  }

  #resyncAt(place: JournalPlace): void {
    this.#report = { changes: [resyncAt(place)], given: 0, end: place };
  }

  /** Reads the next report from the database, for a follower that is behind, or after a change of access. */
  async #readReport(): Promise<'over' | undefined> {
    const { feed } = this.#services;
    const { number } = this.#place;
    const isLost = feed.timesReplaced !== this.#timesReplaced || feed.last - number > this.#maxBacklog;
    this.#timesReplaced = feed.timesReplaced;
    if (!isLost && number >= Math.min(feed.last, this.#end.upTo)) return undefined;
    if (isLost) return this.#readAnew();
    let entry = this.#entryAfter(number);
    if (!entry) {
      const read = await feed.read(number);
      if (!read) return this.#readAnew();
      this.#entries = read;
      entry = read[0];
      if (!entry) return undefined;
    }
    const effects = this.#isLatest ? [] : await this.#effectsOfAccess(entry);
    if (effects === 'lost') return this.#readAnew();
    if (effects === 'over') return effects;
    this.#reportEntry(entry, effects);
    return undefined;
  }
  /** No entry that the feed has read since has changed anyone's access. */
  get #isLatest(): boolean {
    return this.#services.feed.accessChangedAt <= this.#standing.position.number;
  }

  /** Resolves with 'over' when the viewer can no longer log in: the subscription waits for its connection to end. */
  async #unlessOver<T>(read: () => Promise<T>): Promise<T | 'over'> {
    try {
      return await read();
    } catch (error) {
      if (this.#end.aborted) return 'over';
      if (!(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN')) throw error;
      await this.#services.feed.waitFor(Infinity, this.#end);
      return 'over';
    }
  }

  /** What another access does to what the viewer knows, before the entry is judged with it. */
  async #effectsOfAccess(entry: JournalEntry): Promise<readonly Effect[] | 'lost' | 'over'> {
    const { accessChanges, inTurn } = this.#services;
    const changed = { before: this.#standing, entry, under: this.#under };
    const found = await this.#unlessOver(
      () => accessChanges.find(changed) ?? inTurn(() => accessChanges.read(changed), this.#end),
    );
    if (found === 'over') return found;
    this.#standing = found.latest;
    return found.effects;
  }

  #latestRights(): Promise<AccessSnapshot | 'over'> {
    return this.#unlessOver(() => this.#services.accessChanges.latest(this.#standing.access.userId));
  }

  async #readAnew(): Promise<'over' | undefined> {
    const latest = await this.#latestRights();
    if (latest === 'over') return latest;
    const { access, position } = latest;
    if (this.#under !== undefined) {
      this.#watched = await this.#services.database.moment((reader) =>
        trackFolder(reader, access, position.number, this.#under),
      );
    }
    this.#standing = latest;
    this.#entries = [];
    this.#resyncAt({ number: position.number, nonce: position.nonce });
    return undefined;
  }

  #entryAfter(number: number): JournalEntry | undefined {
    return (
      this.#services.feed.nextInMemory(number) ?? this.#entries.find((entry) => entry.number === number + 1)
    );
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

export async function trackFolder(
  reader: ConsistentReader,
  { rootId }: Access,
  number: number,
  under: string | undefined,
): Promise<TrackedFolder | undefined> {
  return under === undefined ? undefined : TrackedFolder.at(reader, { rootId, number }, under);
}
