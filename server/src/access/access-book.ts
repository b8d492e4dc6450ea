/** Everybody's access, kept while nothing changes it: one number tells whether what is known is still true. */

import { LRUCache } from 'lru-cache';
import { whenDone, type Database, type PromiseOrValue, type Reader } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { readHead, type JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AccessLevel } from './access-level.ts';
import { Access } from './access.ts';
import { Ancestry } from './ancestry.ts';

export interface AccessBook {
  /**
   * What the user may see and do. Inside a transaction, ask it, and before the transaction changes any access: it is
   * then the state that the change is judged by. Refuses a user who is disabled or gone.
   */
  accessOf(userId: string, transaction?: Reader): PromiseOrValue<Standing>;
}

export interface Standing {
  readonly access: Access;
  /** The journal's last entry then: of what came later, nothing that changes an access is in it. */
  readonly place: JournalPlace;
}

interface Latest extends Standing {
  readonly place: JournalHead;
}

interface Known {
  readonly number: number;
  readonly access: Access;
}

/** Counted in folders that are remembered. */
const mostRemembered = 1_000_000;

const findPerson = sql<{ id: string }, { isAdministrator: number; disabledAt: number | null }>`
  select is_administrator as "isAdministrator", disabled_at as "disabledAt" from users where id = ${'id'}`;

const findGroupIds = sql<{ userId: string }, { id: string }>`
  select group_id as id from group_members where user_id = ${'userId'}`;

const findGrants = sql<{ userId: string }, { folderId: string; level: AccessLevel }>`
  select folder_id as "folderId", max(level) as level from grants
  where subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'})
  group by folder_id`;

export function createAccessBook(database: Database): AccessBook {
  const known = new LRUCache<string, Known>({
    maxSize: mostRemembered,
    sizeCalculation: ({ access }) => access.size,
  });

  /** Those who ask while it is read get the same. */
  const reading = new Map<string, Promise<Latest>>();

  return {
    accessOf(userId, transaction) {
      return whenDone(readHead(transaction ?? database), (place) => {
        const found = known.get(userId);
        if (found?.number === place.accessNumber) return { access: found.access, place };
        // What a transaction saw may never be committed: it is not kept.
        return transaction
          ? whenDone(readViewerAccess(transaction, userId), (access) => ({ access, place }))
          : readLatest(userId, place.accessNumber);
      });
    },
  };

  async function readLatest(userId: string, least: number): Promise<Latest> {
    for (;;) {
      const started = reading.get(userId) ?? readAtOneMoment(userId);
      reading.set(userId, started);
      const latest = await started;
      if (latest.place.accessNumber >= least) return latest;
    }
  }

  /** Nobody's access has changed from before it was read until after. */
  async function readAtOneMoment(userId: string): Promise<Latest> {
    try {
      for (;;) {
        const place = await readHead(database);
        const fresh = await readViewerAccess(database, userId);
        if ((await readHead(database)).accessNumber !== place.accessNumber) continue;
        const old = known.get(userId)?.access;
        // It was somebody else's access that changed: whoever holds this one sees that it is still the same.
        const access = old?.isSame(fresh) ? old : fresh;
        known.set(userId, { number: place.accessNumber, access });
        return { access, place };
      }
    } finally {
      reading.delete(userId);
    }
  }
}

async function readViewerAccess(reader: Reader, userId: string): Promise<Access> {
  const person = await reader.get(findPerson, { id: userId });
  if (!person || person.disabledAt !== null) {
    throw new Refusal('INVALID_AUTH_TOKEN', 'The user of this auth token can no longer log in.');
  }
  return readAccess(reader, userId, person.isAdministrator === 1);
}

/** Read anew, for any user. */
export async function readAccess(reader: Reader, userId: string, isAdministrator: boolean): Promise<Access> {
  const ancestry = await Ancestry.begin(reader);
  const { rootId } = ancestry;
  const groupIds = (await reader.all(findGroupIds, { userId })).map(({ id }) => id);
  const facts = { userId, groupIds, isAdministrator, rootId };
  if (isAdministrator) return new Access({ ...facts, grants: [] });
  const rows = await reader.all(findGrants, { userId });
  await ancestry.load(rows.map(({ folderId }) => folderId));
  const grants = rows.map(({ folderId, level }) => ({ way: ancestry.wayFromTop(folderId), level }));
  return new Access({ ...facts, grants });
}
