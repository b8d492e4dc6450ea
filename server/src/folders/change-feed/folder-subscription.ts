/**
 * Follows the changes of the folders that a viewer sees. Nothing is queued: each call of `next` determines the next change with the
 * viewer's current rights. A subscription that is too far behind returns RESYNC.
 */

import type { AccessSnapshot } from '../../access/access-cache.ts';
import type { Access } from '../../access/access.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Database } from '../../database/database.ts';
import { EndSignal, iterate, type ChangeStream, type JournalFeed } from '../../journal/journal-feed.ts';
import type { JournalEntry, JournalPosition } from '../../journal/journal-entry.ts';
import { Refusal } from '../../refusal.ts';
import type { AccessChanges } from './access-changes.ts';
import {
  canContinueAfter,
  effectOf,
  resyncAt,
  TrackedFolder,
  withPositions,
  type Effect,
  type FolderChange,
  type FollowedFolders,
} from './folder-changes.ts';
import type { TreeView } from '../tree-view.ts';

interface SubscriptionServices {
  readonly database: Database;
  readonly accessChanges: AccessChanges;
  readonly feed: JournalFeed;
  /** Runs a small task with the viewer's share of the server's time. */
  readonly runFairly: <T>(task: () => Promise<T>, signal: Pick<AbortSignal, 'aborted'>) => Promise<T>;
}

interface SubscriptionOptions extends FollowedFolders {
  /** The last entry in the snapshot that the subscription starts from. */
  readonly head: JournalPosition;
  /** How many entries the subscription may be behind. */
  readonly maxBacklog: number;
}

/** Opens a subscription to the changes after a journal entry. It starts from the snapshot of `view`. */
export async function followFolders(
  services: SubscriptionServices,
  { reader, access }: TreeView,
  options: SubscriptionOptions,
): Promise<ChangeStream<FolderChange>> {
  const { after, head, under } = options;
  const isComplete = await canContinueAfter(reader, access, after, head);
  const { number } = isComplete ? after : head;
  const tracked = await TrackedFolder.at(reader, access, number, under);
  return new FolderSubscription(services, options, { access, tracked, isComplete });
}

/** The changes of one entry, or the RESYNC that replaces the changes of several entries. */
interface Report {
  readonly changes: readonly FolderChange[];
  /** The number of these changes that `next` has returned. */
  returnedCount: number;
  /** The position of the subscription after the last change. */
  readonly end: JournalPosition;
}

const endResult = { done: true, value: undefined } as const;

class FolderSubscription implements ChangeStream<FolderChange> {
  readonly #services: SubscriptionServices;
  readonly #endSignal = new EndSignal();
  readonly #options: SubscriptionOptions;
  /** The rights that determined the changes so far. */
  #rights: AccessSnapshot;
  #trackedFolder: TrackedFolder | undefined;
  #timesReplaced: number;
  /** The last entry whose changes have been reported. */
  #position: JournalPosition;
  #report: Report | undefined;
  /** Entries read from the database, for a subscription that is behind the entries in memory. */
  #entries: readonly JournalEntry[] = [];
  deliveredUpTo: JournalPosition;

  /** `isComplete` is true if all changes after `after` can be reported. */
  constructor(
    services: SubscriptionServices,
    options: SubscriptionOptions,
    start: { access: Access; tracked: TrackedFolder | undefined; isComplete: boolean },
  ) {
    const { after, head } = options;
    this.#services = services;
    this.#options = options;
    this.#rights = { access: start.access, position: head };
    this.#trackedFolder = start.tracked;
    this.#timesReplaced = services.feed.timesReplaced;
    this.#position = start.isComplete ? after : head;
    this.deliveredUpTo = after;
    if (!start.isComplete) this.#resyncAt(head);
  }

  next(): PromiseOrValue<IteratorResult<FolderChange, void>> {
    return this.#nextInMemory() ?? this.#nextLater();
  }

  end(): void {
    this.#endSignal.end();
  }

  endAfter(number: number): void {
    this.#endSignal.endAfter(number);
  }

  [Symbol.asyncIterator](): AsyncGenerator<FolderChange, void> {
    return iterate(this);
  }

  /** Undefined if the subscription has to wait or to read the database. */
  #nextInMemory(): IteratorResult<FolderChange, void> | undefined {
    const { feed } = this.#services;
    for (;;) {
      if (this.#endSignal.aborted) return endResult;
      const change = this.#peekReport();
      if (change && !this.#hasLatestRights) return undefined;
      if (change) return this.#deliver(change);
      const { number } = this.#position;
      const isNear =
        feed.timesReplaced === this.#timesReplaced && feed.last - number <= this.#options.maxBacklog;
      const entry = isNear && number < this.#endSignal.upTo ? this.#entryAfter(number) : undefined;
      if (!entry || !this.#hasLatestRights) return undefined;
      this.#reportEntry(entry, [], this.#rights.access);
    }
  }

  async #nextLater(): Promise<IteratorResult<FolderChange, void>> {
    for (;;) {
      const change = this.#peekReport();
      if (change) {
        // The viewer may have been disabled while the previous change was sent.
        const isOver = !this.#hasLatestRights && (await this.#latestRights()) === 'ended';
        return isOver || this.#endSignal.aborted ? endResult : this.#deliver(change);
      }
      const { feed } = this.#services;
      // If the journal was replaced while the last change was sent, the subscription must not wait.
      if (feed.timesReplaced === this.#timesReplaced) {
        await this.#endSignal.waitUntilWoken(feed, this.#position.number, this.#rights.access.userId);
      }
      const ready = this.#nextInMemory();
      if (ready) return ready;
      if (!this.#report && (await this.#readReport()) === 'ended') return endResult;
    }
  }

  /** The next change of the report. After the last one, the subscription moves to the end of the report. */
  #peekReport(): FolderChange | undefined {
    const report = this.#report;
    if (!report) return undefined;
    if (report.returnedCount < report.changes.length) return report.changes[report.returnedCount];
    this.#report = undefined;
    this.#position = report.end;
    this.deliveredUpTo = report.end;
    return undefined;
  }

  #deliver(value: FolderChange): IteratorResult<FolderChange, void> {
    this.#report!.returnedCount++;
    return { done: false, value };
  }

  #reportEntry(entry: JournalEntry, accessEffects: readonly Effect[], before: Access): void {
    this.#report = {
      changes: withPositions(entry, this.#position, this.#effectsOf(entry, accessEffects, before)),
      returnedCount: 0,
      end: entry,
    };
  }

  #resyncAt(position: JournalPosition): void {
    this.#report = { changes: [resyncAt(position)], returnedCount: 0, end: position };
  }

  /** Reads the next report from the database, for a subscription that is behind, or after a change of access. */
  async #readReport(): Promise<'ended' | undefined> {
    const { feed } = this.#services;
    const { number } = this.#position;
    const mustResync =
      feed.timesReplaced !== this.#timesReplaced || feed.last - number > this.#options.maxBacklog;
    this.#timesReplaced = feed.timesReplaced;
    if (!mustResync && number >= Math.min(feed.last, this.#endSignal.upTo)) return undefined;
    if (mustResync) return this.#resync();
    let entry = this.#entryAfter(number);
    if (!entry) {
      const read = await feed.read(number);
      if (!read) return this.#resync();
      this.#entries = read;
      entry = read[0];
      if (!entry) return undefined;
    }
    const before = this.#rights.access;
    const effects = this.#hasLatestRights ? [] : await this.#effectsOfAccess(entry);
    if (effects === 'lost') return this.#resync();
    if (effects === 'ended') return effects;
    this.#reportEntry(entry, effects, before);
    return undefined;
  }

  /** Whether the rights are still the latest: no later entry that the feed has read changes anyone's access. */
  get #hasLatestRights(): boolean {
    return this.#services.feed.lastAccessChange <= this.#rights.position.number;
  }

  /**
   * Resolves with 'ended' if the subscription has ended. If the viewer can no longer log in, it first waits until the subscription
   * is ended. The connection then closes with the reason, instead of completing the subscription.
   */
  async #readUnlessEnded<T>(read: () => Promise<T>): Promise<T | 'ended'> {
    try {
      return await read();
    } catch (error) {
      if (this.#endSignal.aborted) return 'ended';
      if (!(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN')) throw error;
      await this.#services.feed.waitForEntry(Infinity, this.#endSignal);
      return 'ended';
    }
  }

  /** The effects of the viewer's new access, which come before the changes of the entry. */
  async #effectsOfAccess(entry: JournalEntry): Promise<readonly Effect[] | 'lost' | 'ended'> {
    const { accessChanges, runFairly } = this.#services;
    const accessChange = { before: this.#rights, entry, under: this.#options.under };
    const found = await this.#readUnlessEnded(
      () =>
        accessChanges.find(accessChange) ??
        runFairly(() => accessChanges.read(accessChange), this.#endSignal),
    );
    if (found === 'ended') return found;
    this.#rights = found.latest;
    return found.effects;
  }

  #latestRights(): Promise<AccessSnapshot | 'ended'> {
    return this.#readUnlessEnded(() => this.#services.accessChanges.latest(this.#rights.access));
  }

  async #resync(): Promise<'ended' | undefined> {
    const latest = await this.#latestRights();
    if (latest === 'ended') return latest;
    const { access, position } = latest;
    if (this.#options.under !== undefined) {
      this.#trackedFolder = await this.#services.database.shortSnapshot((reader) =>
        TrackedFolder.at(reader, access, position.number, this.#options.under),
      );
    }
    this.#rights = latest;
    this.#entries = [];
    this.#resyncAt({ number: position.number, nonce: position.nonce });
    return undefined;
  }

  #entryAfter(number: number): JournalEntry | undefined {
    return (
      this.#services.feed.nextInMemory(number) ?? this.#entries.find((entry) => entry.number === number + 1)
    );
  }

  #effectsOf(entry: JournalEntry, accessEffects: readonly Effect[], before: Access): readonly Effect[] {
    const { access } = this.#rights;
    const trackedEffect = this.#trackedFolder?.apply(entry, access);
    const effects: Effect[] = [];
    for (const effect of [
      ...accessEffects,
      effectOf(entry, access, this.#options.under, before),
      trackedEffect,
    ]) {
      const isRepeated = effects.some(
        ({ kind, folderId }) => kind === effect?.kind && folderId === effect.folderId,
      );
      if (effect && !isRepeated) effects.push(effect);
    }
    return effects;
  }
}
