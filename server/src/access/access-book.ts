/** Everybody's access, kept while nothing changes it: one number tells whether what is known is still true. */

import { LRUCache } from 'lru-cache';
import {
  whenDone,
  type ConsistentReader,
  type Database,
  type PromiseOrValue,
  type Snapshot,
  type Transaction,
} from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { readHead, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AccessLevel } from './access-level.ts';
import { Access } from './access.ts';
import { Ancestry } from './ancestry.ts';

export interface AccessBook {
  /** What the user may see and do by now. Refuses, as the others do, a user who is disabled or gone. */
  accessOf(userId: string): PromiseOrValue<Latest>;
  /** The user's rights in a snapshot: those of the moment that its data is of. Pass the head if you have read it there. */
  accessFor(snapshot: Snapshot, userId: string, head?: JournalHead): PromiseOrValue<Latest>;
  /**
   * Inside a transaction, before it changes any access: the state that the change is judged by. Pass the head if you
   * have read it there already.
   */
  accessIn(transaction: Transaction, userId: string, head?: JournalHead): PromiseOrValue<Standing>;
  /** What was read last of this user's: it holds where the journal has the same access number. */
  lastKnown(userId: string): KnownAccess | undefined;
}

export interface Standing {
  readonly access: Access;
  /** The journal's last entry then: of what came later, nothing that changes an access is in it. */
  readonly place: JournalPlace;
}

export interface Latest extends Standing {
  readonly place: JournalHead;
}

export interface KnownAccess {
  /** The journal's access number then. */
  readonly number: number;
  readonly access: Access;
}

/** Counted in folders that are remembered. */
const mostRemembered = 1_000_000;

/** What others have begun to read may be older than the number; what is begun after that cannot be, unless the database went back. */
const mostTries = 3;

const findPerson = sql<{ id: string }, { isAdministrator: number; disabledAt: number | null }>`
  select is_administrator as "isAdministrator", disabled_at as "disabledAt" from users where id = ${'id'}`;

const findGroupIds = sql<{ userId: string }, { id: string }>`
  select group_id as id from group_members where user_id = ${'userId'}`;

const findGrants = sql<{ userId: string }, { folderId: string; level: AccessLevel }>`
  select folder_id as "folderId", max(level) as level from grants
  where subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'})
  group by folder_id`;

export function createAccessBook(database: Database): AccessBook {
  const known = new LRUCache<string, KnownAccess>({
    maxSize: mostRemembered,
    sizeCalculation: ({ access }) => access.size,
  });

  /** Those who ask while it is read get the same. */
  const reading = new Map<string, Promise<Latest>>();

  /** Requests that arrive together share a read that begins after all of them. */
  let nextHead: Promise<JournalHead> | undefined;

  return {
    accessOf,
    accessFor: (snapshot, userId, head) =>
      whenDone(
        head ?? readHead(snapshot),
        (place) => ifKnown(userId, place) ?? readAndKeep(snapshot, userId, place),
      ),
    accessIn: (transaction, userId, head) =>
      whenDone(
        head ?? readHead(transaction),
        (place) =>
          ifKnown(userId, place) ??
          // What a transaction reads may never be committed: it is not cached.
          whenDone(readViewerAccess(transaction, userId), (access) => ({ access, place })),
      ),
    lastKnown: (userId) => known.get(userId),
  };

  function readLatestHead(): PromiseOrValue<JournalHead> {
    // An embedded database answers at once.
    if (database.isEmbedded) return readHead(database);
    return (nextHead ??= new Promise(setImmediate).then(() => {
      nextHead = undefined;
      return readHead(database);
    }));
  }

  function accessOf(userId: string): PromiseOrValue<Latest> {
    return whenDone(readLatestHead(), (place) => ifKnown(userId, place) ?? readLatest(userId, place));
  }

  function ifKnown(userId: string, place: JournalHead): Latest | undefined {
    const found = known.get(userId);
    return found?.number === place.accessNumber ? { access: found.access, place } : undefined;
  }

  async function readLatest(userId: string, { accessNumber }: JournalHead): Promise<Latest> {
    for (let tries = 0; tries < mostTries; tries++) {
      const started = reading.get(userId) ?? readAtOneMoment(userId);
      reading.set(userId, started);
      const latest = await started;
      if (latest.place.accessNumber >= accessNumber) return latest;
    }
    throw database.reportOutdated();
  }

  async function readAtOneMoment(userId: string): Promise<Latest> {
    try {
      return await database.moment(async (reader) => readAndKeep(reader, userId, await readHead(reader)));
    } finally {
      reading.delete(userId);
    }
  }

  /** The reader stays at the moment of `place`. */
  async function readAndKeep(reader: ConsistentReader, userId: string, place: JournalHead): Promise<Latest> {
    const fresh = await readViewerAccess(reader, userId);
    const old = known.get(userId);
    // It was somebody else's access that changed: whoever holds this one sees that it is still the same.
    const access = old?.access.isSame(fresh) ? old.access : fresh;
    known.set(userId, { number: place.accessNumber, access });
    return { access, place };
  }
}

async function readViewerAccess(reader: ConsistentReader, userId: string): Promise<Access> {
  const person = await reader.get(findPerson, { id: userId });
  if (!person || person.disabledAt !== null) {
    throw new Refusal('INVALID_AUTH_TOKEN', 'The user of this auth token can no longer log in.');
  }
  return readAccess(reader, userId, person.isAdministrator === 1);
}

/** Read anew, for any user; as if what is at the end of a way of earlier were still there. */
export async function readAccess(
  reader: ConsistentReader,
  userId: string,
  isAdministrator: boolean,
  formerWay: readonly string[] = [],
): Promise<Access> {
  const ancestry = await Ancestry.begin(reader);
  const { rootId } = ancestry;
  const groupIds = (await reader.all(findGroupIds, { userId })).map(({ id }) => id);
  const facts = { userId, groupIds, isAdministrator, rootId };
  if (isAdministrator) return new Access({ ...facts, grants: [] });
  const rows = await reader.all(findGrants, { userId });
  await ancestry.load(rows.map(({ folderId }) => folderId));
  ancestry.noteWay(formerWay);
  const grants = rows.map(({ folderId, level }) => ({ way: ancestry.wayFromTop(folderId), level }));
  return new Access({ ...facts, grants });
}
