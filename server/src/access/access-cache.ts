/** Everybody's access, kept while nothing changes it: one number tells whether what is known is still true. */

import { LRUCache } from 'lru-cache';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ConsistentReader, Database, Snapshot, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { readHead, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AccessLevel } from './access.ts';
import { Access } from './access.ts';
import { Ancestry } from './ancestry.ts';

export interface AccessCache {
  /** What the user may see and do by now. Refuses, as the others do, a user who is disabled or gone. */
  accessOf(userId: string): PromiseOrValue<LatestAccess>;
  /** The user's rights in a snapshot: those of the moment that its data is of. Pass the head if you have read it there. */
  accessFor(snapshot: Snapshot, userId: string, head?: JournalHead): PromiseOrValue<LatestAccess>;
  /**
   * Inside a transaction, before it changes any access: the state that the change is judged by. Pass the head if you
   * have read it there already.
   */
  accessIn(transaction: Transaction, userId: string, head?: JournalHead): PromiseOrValue<AccessSnapshot>;
  /** What was read last of this user's: it holds where the journal has the same access number. */
  peek(userId: string): CachedAccess | undefined;
}

export interface AccessSnapshot {
  readonly access: Access;
  /** The journal's last entry then: of what came later, nothing that changes an access is in it. */
  readonly position: JournalPlace;
}

export interface LatestAccess extends AccessSnapshot {
  readonly position: JournalHead;
}

export interface CachedAccess {
  /** The journal's access number then. */
  readonly number: number;
  readonly access: Access;
}

/** Counted in folders that are remembered. */
const maxCachedFolders = 1_000_000;

/** What others have begun to read may be older than the number; what is begun after that cannot be, unless the database went back. */
const maxAttempts = 3;

const findUser = sql<{ id: string }, { isAdministrator: number; disabledAt: number | null }>`
  select is_administrator as "isAdministrator", disabled_at as "disabledAt" from users where id = ${'id'}`;

const findGroupIds = sql<{ userId: string }, { id: string }>`
  select group_id as id from group_members where user_id = ${'userId'}`;

const findGrants = sql<{ userId: string }, { folderId: string; level: AccessLevel }>`
  select folder_id as "folderId", max(level) as level from grants
  where subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'})
  group by folder_id`;

export function createAccessCache(database: Database): AccessCache {
  const cache = new LRUCache<string, CachedAccess>({
    maxSize: maxCachedFolders,
    sizeCalculation: ({ access }) => access.size,
  });

  /** Those who ask while it is read get the same. */
  const pendingReads = new Map<string, Promise<LatestAccess>>();

  /** Requests that arrive together share a read that begins after all of them. */
  let nextHead: Promise<JournalHead> | undefined;

  return {
    accessOf,
    accessFor: (snapshot, userId, head) =>
      whenDone(
        head ?? readHead(snapshot),
        (position) => findCached(userId, position) ?? readAndCache(snapshot, userId, position),
      ),
    accessIn: (transaction, userId, head) =>
      whenDone(
        head ?? readHead(transaction),
        (position) =>
          findCached(userId, position) ??
          // What a transaction reads may never be committed: it is not cached.
          whenDone(readViewerAccess(transaction, userId), (access) => ({ access, place: position })),
      ),
    peek: (userId) => cache.get(userId),
  };

  function readLatestHead(): PromiseOrValue<JournalHead> {
    // An embedded database answers at once.
    if (database.isEmbedded) return readHead(database);
    return (nextHead ??= new Promise(setImmediate).then(() => {
      nextHead = undefined;
      return readHead(database);
    }));
  }

  function accessOf(userId: string): PromiseOrValue<LatestAccess> {
    return whenDone(
      readLatestHead(),
      (position) => findCached(userId, position) ?? readLatest(userId, position),
    );
  }

  function findCached(userId: string, position: JournalHead): LatestAccess | undefined {
    const found = cache.get(userId);
    return found?.number === position.accessNumber ? { access: found.access, position } : undefined;
  }

  async function readLatest(userId: string, { accessNumber }: JournalHead): Promise<LatestAccess> {
    for (let tries = 0; tries < maxAttempts; tries++) {
      const started = pendingReads.get(userId) ?? readFromSnapshot(userId);
      pendingReads.set(userId, started);
      const latest = await started;
      if (latest.position.accessNumber >= accessNumber) return latest;
    }
    throw database.reportOutdated();
  }

  async function readFromSnapshot(userId: string): Promise<LatestAccess> {
    try {
      return await database.moment(async (reader) => readAndCache(reader, userId, await readHead(reader)));
    } finally {
      pendingReads.delete(userId);
    }
  }

  /** The reader stays at the moment of `place`. */
  async function readAndCache(
    reader: ConsistentReader,
    userId: string,
    position: JournalHead,
  ): Promise<LatestAccess> {
    const fresh = await readViewerAccess(reader, userId);
    const old = cache.get(userId);
    // It was somebody else's access that changed: whoever holds this one sees that it is still the same.
    const access = old?.access.equals(fresh) ? old.access : fresh;
    cache.set(userId, { number: position.accessNumber, access });
    return { access, position };
  }
}

async function readViewerAccess(reader: ConsistentReader, userId: string): Promise<Access> {
  const user = await reader.get(findUser, { id: userId });
  if (!user || user.disabledAt !== null) {
    throw new Refusal('INVALID_AUTH_TOKEN', 'The user of this auth token can no longer log in.');
  }
  return readAccess(reader, userId, user.isAdministrator === 1);
}

/** Read anew, for any user; as if what is at the end of a way of earlier were still there. */
export async function readAccess(
  reader: ConsistentReader,
  userId: string,
  isAdministrator: boolean,
  formerPathIds: readonly string[] = [],
): Promise<Access> {
  const ancestry = await Ancestry.begin(reader);
  const { rootId } = ancestry;
  const groupIds = (await reader.all(findGroupIds, { userId })).map(({ id }) => id);
  const facts = { userId, groupIds, isAdministrator, rootId };
  if (isAdministrator) return new Access({ ...facts, grants: [] });
  const rows = await reader.all(findGrants, { userId });
  await ancestry.load(rows.map(({ folderId }) => folderId));
  ancestry.setPath(formerPathIds);
  const grants = rows.map(({ folderId, level }) => ({ way: ancestry.pathFromTop(folderId), level }));
  return new Access({ ...facts, grants });
}
