/**
 * The line in which every change of the tree, of rights and of accounts stands, and what is written down of each. A
 * change first takes its turn, and only then looks at what it is about to change: so two of them never decide on the
 * same old state. Its entry is numbered by the counter that it holds until it is committed: the order of the numbers is
 * the order of the commits, and none is missing.
 */

import { whenDone, type PromiseOrValue, type Reader, type Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalKind } from './journal-entry.ts';

export interface NewEntry {
  readonly kind: JournalKind;
  readonly at: number;
  /** Who did it; null for the server itself. */
  readonly byUserId: string | null;
  readonly folderId?: string;
  readonly userId?: string;
  readonly groupId?: string;
  readonly sessionId?: string;
  /** From the root to the folder: where it is by now, or was last. */
  readonly way?: readonly string[];
  /** Where it was before, if that is elsewhere. */
  readonly oldWay?: readonly string[];
  readonly before?: Details;
  readonly after?: Details;
  /** Who may see or do what is different from now on: what is known of anybody's rights is read anew. */
  readonly changesAccess?: boolean;
}

export type Details = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where the journal has got to. */
export interface JournalPlace {
  /** Of the last entry. */
  readonly number: number;
  /** Differs after every change of who may see or do what. */
  readonly accessNumber: number;
}

const standInLine = sql<object>`update journal_counter set number = number`;

const advance = sql<{ changesAccess: number }>`
  update journal_counter set number = number + 1, access_number = access_number + ${'changesAccess'}`;

const insert = sql<{
  at: number;
  kind: string;
  changesAccess: number;
  byUserId: string | null;
  folderId: string | null;
  userId: string | null;
  groupId: string | null;
  sessionId: string | null;
  way: string | null;
  oldWay: string | null;
  before: string | null;
  after: string | null;
}>`
  insert into journal (number, at, kind, changes_access, by_user_id, folder_id, user_id, group_id, session_id, way,
    old_way, before, after)
  select number, ${'at'}, ${'kind'}, ${'changesAccess'}, ${'byUserId'}, ${'folderId'}, ${'userId'}, ${'groupId'},
    ${'sessionId'}, ${'way'}, ${'oldWay'}, ${'before'}, ${'after'}
  from journal_counter`;

const selectPlace = sql<object, JournalPlace>`
  select number, access_number as "accessNumber" from journal_counter`;

/** The first statement of every change: it waits until those before it are committed. */
export function takeTurn(transaction: Transaction): PromiseOrValue<unknown> {
  return transaction.run(standInLine, {});
}

/** Part of every change, in its own transaction: what is not committed was never written down. */
export function record(transaction: Transaction, entry: NewEntry): PromiseOrValue<unknown> {
  const { kind, at, byUserId, folderId, userId, groupId, sessionId, way, oldWay, before, after } = entry;
  const changesAccess = entry.changesAccess ? 1 : 0;
  return whenDone(transaction.run(advance, { changesAccess }), () =>
    transaction.run(insert, {
      at,
      kind,
      changesAccess,
      byUserId,
      folderId: folderId ?? null,
      userId: userId ?? null,
      groupId: groupId ?? null,
      sessionId: sessionId ?? null,
      way: toText(way),
      oldWay: toText(oldWay),
      before: toText(before),
      after: toText(after),
    }),
  );
}

export function readPlace(reader: Reader): PromiseOrValue<JournalPlace> {
  return whenDone(reader.get(selectPlace, {}), (place) => place!);
}

function toText(value: object | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
