/** Caches the access of users. An entry is valid while the journal has the access number with which it was read. */

import { LRUCache } from 'lru-cache';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ConsistentReader, Database, Snapshot, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import { readHead, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { Access, type AccessLevel } from './access.ts';
import { Ancestry } from './ancestry.ts';

export interface AccessSnapshot {
  readonly access: Access;
  /** The last journal entry when the access was read. */
  readonly position: JournalPosition;
}

export interface LatestAccess extends AccessSnapshot {
  readonly position: JournalHead;
}

export interface CachedAccess {
  /** The journal's access number when the access was read. */
  readonly number: number;
  readonly access: Access;
}

/** Counted in folders; see `Access.size`. */
const maxCachedFolders = 1_000_000;

/** A shared read may be older than the head, and is then repeated. A second read is never older, unless the database was restored. */
const maxAttempts = 3;

const findUser = sql<{ id: string }, { isAdministrator: number; disabledAt: number | null }>`
  select is_administrator as "isAdministrator", disabled_at as "disabledAt" from users where id = ${'id'}`;

const findGroupIds = sql<{ userId: string }, { id: string }>`
  select group_id as id from group_members where user_id = ${'userId'}`;

const findGrants = sql<{ userId: string }, { folderId: string; level: AccessLevel }>`
  select folder_id as "folderId", max(level) as level from grants
  where subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'})
  group by folder_id`;

export class AccessCache {
  readonly #database: Database;
  readonly #cache = new LRUCache<string, CachedAccess>({
    maxSize: maxCachedFolders,
    sizeCalculation: ({ access }) => access.size,
  });
  /** Requests that arrive during a read share that read. */
  readonly #pendingReads = new Map<string, Promise<LatestAccess>>();
  #nextHead: Promise<JournalHead> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The user's latest rights. This method, `accessFor()` and `accessIn()` refuse a user who is disabled or deleted. */
  accessOf(userId: string): PromiseOrValue<LatestAccess> {
    return whenDone(
      this.#readLatestHead(),
      (head) => this.#findCached(userId, head) ?? this.#readLatest(userId, head),
    );
  }

  /** The user's rights in a snapshot. Pass the head if you have read it in the snapshot. */
  accessFor(snapshot: Snapshot, userId: string, knownHead?: JournalHead): PromiseOrValue<LatestAccess> {
    return whenDone(
      knownHead ?? readHead(snapshot),
      (head) => this.#findCached(userId, head) ?? this.#readAndCache(snapshot, userId, head),
    );
  }

  /** The user's rights in a transaction, before it changes any access. Pass the head if you have read it in the transaction. */
  accessIn(
    transaction: Transaction,
    userId: string,
    knownHead?: JournalHead,
  ): PromiseOrValue<AccessSnapshot> {
    return whenDone(
      knownHead ?? readHead(transaction),
      (head) =>
        this.#findCached(userId, head) ??
        // Not cached, because the transaction may never be committed.
        whenDone(readViewerAccess(transaction, userId), (access) => ({ access, position: head })),
    );
  }

  /** The cached rights, without a check. They are valid where the journal has the same access number. */
  peek(userId: string): CachedAccess | undefined {
    return this.#cache.get(userId);
  }

  /** Requests that arrive together share one read of the head, which begins when all of them have arrived. */
  #readLatestHead(): PromiseOrValue<JournalHead> {
    const database = this.#database;
    // A read of an embedded database is synchronous, so there is nothing to share.
    if (database.isEmbedded) return readHead(database);
    return (this.#nextHead ??= new Promise(setImmediate).then(() => {
      this.#nextHead = undefined;
      return readHead(database);
    }));
  }

  #findCached(userId: string, head: JournalHead): LatestAccess | undefined {
    const cached = this.#cache.get(userId);
    return cached?.number === head.accessNumber ? { access: cached.access, position: head } : undefined;
  }

  async #readLatest(userId: string, { accessNumber }: JournalHead): Promise<LatestAccess> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const pending = this.#pendingReads.get(userId) ?? this.#readFromSnapshot(userId);
      this.#pendingReads.set(userId, pending);
      const latest = await pending;
      if (latest.position.accessNumber >= accessNumber) return latest;
    }
    throw this.#database.reportStale();
  }

  async #readFromSnapshot(userId: string): Promise<LatestAccess> {
    try {
      return await this.#database.shortSnapshot(async (reader) =>
        this.#readAndCache(reader, userId, await readHead(reader)),
      );
    } finally {
      this.#pendingReads.delete(userId);
    }
  }

  /** The reader must see the state at `head`. */
  async #readAndCache(reader: ConsistentReader, userId: string, head: JournalHead): Promise<LatestAccess> {
    const fresh = await readViewerAccess(reader, userId);
    const old = this.#cache.get(userId);
    // Keeps the object if only the access of other users changed, so that code which holds the object can compare it by identity.
    const access = old?.access.equals(fresh) ? old.access : fresh;
    this.#cache.set(userId, { number: head.accessNumber, access });
    return { access, position: head };
  }
}

async function readViewerAccess(reader: ConsistentReader, userId: string): Promise<Access> {
  const user = await reader.get(findUser, { id: userId });
  if (!user || user.disabledAt !== null) {
    throw cannotLogIn();
  }
  return readAccess(reader, userId, user.isAdministrator === 1);
}

export function cannotLogIn(): Refusal {
  return new Refusal('INVALID_AUTH_TOKEN', 'The user of this auth token is disabled or deleted.');
}

/** Reads the access of any user. `formerPathIds` is the path of a deleted folder that is treated as still present. */
export async function readAccess(
  reader: ConsistentReader,
  userId: string,
  isAdministrator: boolean,
  formerPathIds: readonly string[] = [],
): Promise<Access> {
  const ancestry = await Ancestry.open(reader);
  const { rootId } = ancestry;
  const groupIds = (await reader.all(findGroupIds, { userId })).map(({ id }) => id);
  const facts = { userId, groupIds, isAdministrator, rootId };
  if (isAdministrator) return new Access({ ...facts, grants: [] });
  const rows = await reader.all(findGrants, { userId });
  await ancestry.load(rows.map(({ folderId }) => folderId));
  ancestry.setPath(formerPathIds);
  const grants = rows.map(({ folderId, level }) => ({ pathIds: ancestry.pathFromTop(folderId), level }));
  return new Access({ ...facts, grants });
}
