/**
 * How a change of a viewer's access affects the folders that the viewer sees. The effects are read once for all subscriptions of the
 * viewer, and cached until the next journal entry.
 */

import type { AccessCache, LatestAccess, AccessSnapshot } from '../../access/access-cache.ts';
import { rightsIdOf, type Access } from '../../access/access.ts';
import { hasAccessChangedTwice } from '../../access/access-history.ts';
import type { ConsistentReader, Database } from '../../database/database.ts';
import type { JournalEntry } from '../../journal/journal-entry.ts';
import type { JournalFeed } from '../../journal/journal-feed.ts';
import type { RightsHolder } from '../../journal/journal.ts';
import { effectsOfAccess, type Effect } from './folder-changes.ts';

interface AccessChangesServices {
  readonly database: Database;
  readonly accessCache: AccessCache;
  readonly feed: JournalFeed;
}

/** The first entry that a subscription reports after a change of access. */
interface AccessChangeEntry {
  /** The rights before the change. */
  readonly before: AccessSnapshot;
  readonly entry: JournalEntry;
  /** Limits the changes to this folder and the folders inside it. */
  readonly under: string | undefined;
}

interface AccessEffects {
  readonly latest: LatestAccess;
  /** 'lost' if the effects cannot be determined. The viewer then gets RESYNC. */
  readonly effects: readonly Effect[] | 'lost';
}

export class AccessChanges {
  readonly #services: AccessChangesServices;
  /** The effects by the keys of `keyOf()`. */
  readonly #effects = new Map<string, { readonly before: Access; readonly found: Promise<AccessEffects> }>();
  /** The latest rights by `rightsIdOf()`. */
  readonly #latest = new Map<string, Promise<LatestAccess>>();
  #last = 0;
  #timesReplaced = 0;

  constructor(services: AccessChangesServices) {
    this.#services = services;
  }

  /** Undefined if no subscription of the viewer has read the effects yet. */
  find(accessChange: AccessChangeEntry): Promise<AccessEffects> | undefined {
    this.#dropOld();
    const shared = this.#effects.get(keyOf(accessChange));
    return shared?.before === accessChange.before.access ? shared.found : undefined;
  }

  read(accessChange: AccessChangeEntry): Promise<AccessEffects> {
    const cached = this.find(accessChange);
    if (cached) return cached;
    const { entry, under } = accessChange;
    const before = accessChange.before.access;
    const found = this.#readSnapshot(before, async (reader, latest): Promise<AccessEffects> => {
      if (await isHistoryLost(reader, accessChange, latest)) return { latest, effects: 'lost' };
      const change = { before, after: latest.access, number: entry.number - 1, under };
      return { latest, effects: await effectsOfAccess(reader, change) };
    });
    share(this.#effects, keyOf(accessChange), { before, found }, found);
    return found;
  }

  /** The viewer's latest rights. Refuses a user who can no longer log in. */
  latest(holder: RightsHolder): Promise<LatestAccess> {
    this.#dropOld();
    const rightsId = rightsIdOf(holder);
    const cached = this.#latest.get(rightsId);
    if (cached) return cached;
    const found = this.#readSnapshot(holder, (_, latest) => Promise.resolve(latest));
    share(this.#latest, rightsId, found, found);
    return found;
  }

  #readSnapshot<T>(
    holder: RightsHolder,
    work: (reader: ConsistentReader, latest: LatestAccess) => Promise<T>,
  ): Promise<T> {
    const { database, accessCache } = this.#services;
    return database.shortSnapshot(async (snapshot) =>
      work(snapshot, await accessCache.accessFor(snapshot, holder)),
    );
  }

  #dropOld(): void {
    const { last, timesReplaced } = this.#services.feed;
    if (last === this.#last && timesReplaced === this.#timesReplaced) return;
    this.#last = last;
    this.#timesReplaced = timesReplaced;
    this.#effects.clear();
    this.#latest.clear();
  }
}

/** Caches a read for other subscriptions, unless it fails. */
function share<T>(cache: Map<string, T>, key: string, shared: T, found: Promise<unknown>): void {
  cache.set(key, shared);
  found.catch(() => {
    if (cache.get(key) === shared) cache.delete(key);
  });
}

/** All rights that were read before the entry lead to the same effects, so they share a key. */
function keyOf({ before, entry, under }: AccessChangeEntry): string {
  const after = Math.max(before.position.number, entry.number - 1);
  return `${rightsIdOf(before.access)} ${after} ${entry.number} ${under}`;
}

/**
 * Whether the viewer's access has changed more than once, with unreported entries in between. Between these changes, the viewer may
 * have read folders that neither the old nor the latest access includes.
 */
async function isHistoryLost(
  reader: ConsistentReader,
  { before, entry: { number } }: AccessChangeEntry,
  latest: LatestAccess,
): Promise<boolean> {
  if (latest.position.number <= number) return false;
  const accesses = [before.access, latest.access];
  const range = { after: Math.max(before.position.number, number - 1), upTo: latest.position.number };
  return hasAccessChangedTwice(reader, accesses, range);
}
