/**
 * What a change of a viewer's access does to the folders that the viewer sees. It is read once for all subscriptions of
 * the viewer, and kept until the next entry of the journal.
 */

import type { AccessCache, LatestAccess, AccessSnapshot } from '../access/access-cache.ts';
import { hasAccessChangedTwice } from '../access/access-history.ts';
import type { ConsistentReader, Database } from '../database/database.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { effectsOfAccess, type Effect } from './folder-changes.ts';

export interface AccessChangesServices {
  readonly database: Database;
  readonly accessCache: AccessCache;
  readonly feed: JournalFeed;
}

/** The first entry that a subscription judges after a change of access. */
export interface ChangedAt {
  /** The rights that the changes before were judged by. */
  readonly before: AccessSnapshot;
  readonly entry: JournalEntry;
  /** Limits the changes to this folder and the folders inside it. */
  readonly under: string | undefined;
}

export interface AccessEffects {
  readonly latest: LatestAccess;
  /** 'lost' if the effects cannot be determined. The viewer then gets RESYNC. */
  readonly effects: readonly Effect[] | 'lost';
}

interface SharedRead {
  readonly before: AccessSnapshot | undefined;
  readonly found: Promise<unknown>;
}

export class AccessChanges {
  readonly #services: AccessChangesServices;
  readonly #known = new Map<string, SharedRead>();
  #last = 0;
  #timesReplaced = 0;

  constructor(services: AccessChangesServices) {
    this.#services = services;
  }

  /** Undefined if no subscription of the viewer has asked for it yet. */
  find({ before, entry, under }: ChangedAt): Promise<AccessEffects> | undefined {
    this.#dropOld();
    const known = this.#known.get(keyOf({ before, entry, under }));
    return known?.before?.access === before.access ? (known.found as Promise<AccessEffects>) : undefined;
  }

  read(changed: ChangedAt): Promise<AccessEffects> {
    const { before, entry, under } = changed;
    const { userId } = before.access;
    const read = () =>
      this.#atOneMoment(userId, async (reader, latest): Promise<AccessEffects> => {
        if (await isSightLost(reader, changed, latest)) return { latest, effects: 'lost' };
        const change = { before: before.access, after: latest.access, number: entry.number - 1, under };
        return { latest, effects: await effectsOfAccess(reader, change) };
      });
    return this.find(changed) ?? this.#share(keyOf(changed), before, read);
  }

  /** The viewer's rights by now. Refuses a user who can no longer log in. */
  latest(userId: string): Promise<LatestAccess> {
    this.#dropOld();
    const known = this.#known.get(userId);
    const read = () => this.#atOneMoment(userId, (_, latest) => Promise.resolve(latest));
    return known ? (known.found as Promise<LatestAccess>) : this.#share(userId, undefined, read);
  }

  #share<T>(key: string, before: AccessSnapshot | undefined, read: () => Promise<T>): Promise<T> {
    const known = { before, found: read() };
    this.#known.set(key, known);
    known.found.catch(() => {
      if (this.#known.get(key) === known) this.#known.delete(key);
    });
    return known.found;
  }

  #atOneMoment<T>(
    userId: string,
    work: (reader: ConsistentReader, latest: LatestAccess) => Promise<T>,
  ): Promise<T> {
    const { database, accessCache } = this.#services;
    return database.shortSnapshot(async (snapshot) =>
      work(snapshot, await accessCache.accessFor(snapshot, userId)),
    );
  }

  #dropOld(): void {
    const { last, timesReplaced } = this.#services.feed;
    if (last === this.#last && timesReplaced === this.#timesReplaced) return;
    this.#last = last;
    this.#timesReplaced = timesReplaced;
    this.#known.clear();
  }
}

/** Rights that were read before the entry are all the same to it. */
function keyOf({ before, entry, under }: ChangedAt): string {
  const after = Math.max(before.position.number, entry.number - 1);
  return `${before.access.userId} ${after} ${entry.number} ${under}`;
}

/**
 * Whether the viewer's access has changed more than once by now, with entries in between that are not yet reported: what
 * the viewer read meanwhile, because of earlier changes, may show folders that neither access covers.
 */
async function isSightLost(
  reader: ConsistentReader,
  { before, entry: { number } }: ChangedAt,
  latest: LatestAccess,
): Promise<boolean> {
  if (latest.position.number <= number) return false;
  const accesses = [before.access, latest.access];
  const stretch = { after: Math.max(before.position.number, number - 1), upTo: latest.position.number };
  return hasAccessChangedTwice(reader, accesses, stretch);
}
