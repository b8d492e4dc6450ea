/** Caches the access of users and API keys. An entry is valid while the journal has the access number with which it was read. */

import { LRUCache } from 'lru-cache';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ConsistentReader, Database, Snapshot, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import { readHead, type JournalHead, type RightsHolder } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { Access, accessLevels, rightsIdOf, type AccessLevel, type ApiKeyLimits } from './access.ts';
import { Ancestry } from './ancestry.ts';
import { limitGrants, readKeyLimits } from './api-key-limits.ts';

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

const { MANAGE } = accessLevels;

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

  /** The holder's latest rights. This method, `accessFor()` and `accessIn()` refuse a disabled or deleted user and a revoked API key. */
  accessOf(holder: RightsHolder): PromiseOrValue<LatestAccess> {
    return whenDone(
      this.#readLatestHead(),
      (head) => this.#findCached(holder, head) ?? this.#readLatest(holder, head),
    );
  }

  /** The holder's rights in a snapshot. Pass the head if you have read it in the snapshot. */
  accessFor(snapshot: Snapshot, holder: RightsHolder, knownHead?: JournalHead): PromiseOrValue<LatestAccess> {
    return whenDone(
      knownHead ?? readHead(snapshot),
      (head) => this.#findCached(holder, head) ?? this.#readAndCache(snapshot, holder, head),
    );
  }

  /** The holder's rights in a transaction, before it changes any access. Pass the head if you have read it in the transaction. */
  accessIn(
    transaction: Transaction,
    holder: RightsHolder,
    knownHead?: JournalHead,
  ): PromiseOrValue<AccessSnapshot> {
    return whenDone(
      knownHead ?? readHead(transaction),
      (head) =>
        this.#findCached(holder, head) ??
        // Not cached, because the transaction may never be committed.
        whenDone(readViewerAccess(transaction, holder), (access) => ({ access, position: head })),
    );
  }

  /** The cached rights, without a check. They are valid where the journal has the same access number. */
  peek(holder: RightsHolder): CachedAccess | undefined {
    return this.#cache.get(rightsIdOf(holder));
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

  #findCached(holder: RightsHolder, head: JournalHead): LatestAccess | undefined {
    const cached = this.#cache.get(rightsIdOf(holder));
    return cached?.number === head.accessNumber ? { access: cached.access, position: head } : undefined;
  }

  async #readLatest(holder: RightsHolder, { accessNumber }: JournalHead): Promise<LatestAccess> {
    const rightsId = rightsIdOf(holder);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const pending = this.#pendingReads.get(rightsId) ?? this.#readFromSnapshot(holder);
      this.#pendingReads.set(rightsId, pending);
      const latest = await pending;
      if (latest.position.accessNumber >= accessNumber) return latest;
    }
    throw this.#database.reportStale();
  }

  async #readFromSnapshot(holder: RightsHolder): Promise<LatestAccess> {
    try {
      return await this.#database.shortSnapshot(async (reader) =>
        this.#readAndCache(reader, holder, await readHead(reader)),
      );
    } finally {
      this.#pendingReads.delete(rightsIdOf(holder));
    }
  }

  /** The reader must see the state at `head`. */
  async #readAndCache(
    reader: ConsistentReader,
    holder: RightsHolder,
    head: JournalHead,
  ): Promise<LatestAccess> {
    const fresh = await readViewerAccess(reader, holder);
    const rightsId = rightsIdOf(holder);
    const old = this.#cache.get(rightsId);
    // Keeps the object if only the access of other users changed, so that code which holds the object can compare it by identity.
    const access = old?.access.equals(fresh) ? old.access : fresh;
    this.#cache.set(rightsId, { number: head.accessNumber, access });
    return { access, position: head };
  }
}

/** Refuses a disabled or deleted user and a revoked API key. The deleted folder with the path `formerPathIds` is treated as still present. */
export async function readViewerAccess(
  reader: ConsistentReader,
  { userId, apiKeyId }: RightsHolder,
  formerPathIds: readonly string[] = [],
): Promise<Access> {
  const user = await reader.get(findUser, { id: userId });
  if (!user || user.disabledAt !== null) {
    throw cannotLogIn();
  }
  const limits = apiKeyId === undefined ? undefined : await readKeyLimits(reader, apiKeyId);
  return readAccess(reader, { userId, isAdministrator: user.isAdministrator === 1, limits, formerPathIds });
}

export function cannotLogIn(): Refusal {
  return new Refusal('INVALID_AUTH_TOKEN', 'The user of this auth token or API key is disabled or deleted.');
}

interface AccessToRead {
  readonly userId: string;
  /** Whether the user is an administrator. */
  readonly isAdministrator: boolean;
  /** The limits of an API key of the user. */
  readonly limits?: ApiKeyLimits | undefined;
  /** The path of a deleted folder that is treated as still present. */
  readonly formerPathIds?: readonly string[];
}

/** Reads the access of any user, or of an API key of the user. */
export async function readAccess(
  reader: ConsistentReader,
  { userId, isAdministrator: isUserAdministrator, limits, formerPathIds = [] }: AccessToRead,
): Promise<Access> {
  const ancestry = await Ancestry.open(reader);
  const { rootId } = ancestry;
  const groupIds = (await reader.all(findGroupIds, { userId })).map(({ id }) => id);
  const isAdministrator = isUserAdministrator && limits?.isAdministrator !== false;
  const facts = { userId, apiKey: limits, groupIds, isAdministrator, rootId };
  if (isAdministrator) return new Access({ ...facts, grants: [] });
  const rows = isUserAdministrator
    ? [{ folderId: rootId, level: MANAGE }]
    : await reader.all(findGrants, { userId });
  await ancestry.load(rows.map(({ folderId }) => folderId));
  ancestry.setPath(formerPathIds);
  const grants = rows.map(({ folderId, level }) => ({ pathIds: ancestry.pathFromTop(folderId), level }));
  if (!limits) return new Access({ ...facts, grants });
  return new Access({ ...facts, grants: await limitGrants(reader, { grants, limits, ancestry }) });
}
