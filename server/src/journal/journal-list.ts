/** Lists the journal for administrators: the newest entry first, with an optional filter. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { sql, textList, type Statement } from '../database/statement.ts';
import { selectEntry, toEntry, type EntryRow, type JournalEntry, type JournalKind } from './journal-entry.ts';

export interface JournalFilter {
  /** The user who made the change. */
  readonly byUserId?: string | undefined;
  /** The user whom the change affects. */
  readonly userId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly kinds?: readonly JournalKind[] | undefined;
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
}

const conditions: Readonly<Record<keyof JournalFilter, Statement>> = {
  byUserId: sql`by_user_id = ${'byUserId'}`,
  userId: sql`user_id = ${'userId'}`,
  groupId: sql`group_id = ${'groupId'}`,
  folderId: sql`folder_id = ${'folderId'}`,
  kinds: sql`kind in (select value from ${textList('kinds')})`,
  from: sql`at >= ${'from'}`,
  until: sql`at < ${'until'}`,
};

/** Applies the conditions to an entry in memory. */
export function fitsFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  const { byUserId, userId, groupId, folderId, kinds, from, until } = filter;
  return (
    (byUserId === undefined || entry.byUserId === byUserId) &&
    (userId === undefined || entry.userId === userId) &&
    (groupId === undefined || entry.groupId === groupId) &&
    (folderId === undefined || entry.folderId === folderId) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (from === undefined || entry.at >= from) &&
    (until === undefined || entry.at < until)
  );
}

type Name = keyof JournalFilter;
const names = Object.keys(conditions) as Name[];

/** One set for each combination of conditions, so that the database can use the best index. */
const statements = new Map(choicesOf(names).map((chosen) => [chosen.join(), statementsOf(chosen)]));

export function listJournal(
  reader: Reader,
  filter: JournalFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before: number | undefined; limit: number },
): PromiseOrValue<readonly JournalEntry[]> {
  const rows = reader.all(statementsFor(filter).page, { ...filter, before, limit });
  return whenDone(rows, (found) => found.map(toEntry));
}

export function countJournal(reader: Reader, filter: JournalFilter): PromiseOrValue<number> {
  return whenDone(reader.get(statementsFor(filter).count, filter), (row) => row!.count);
}

function statementsFor(filter: JournalFilter) {
  return statements.get(names.filter((name) => filter[name] !== undefined).join())!;
}

function statementsOf(chosen: readonly Name[]) {
  const fits = chosen.reduce<Statement>((all, name) => sql`${all} and ${conditions[name]}`, sql``);
  return {
    page: sql<JournalFilter & { before: number; limit: number }, EntryRow>`
      ${selectEntry} where number < ${'before'} ${fits} order by number desc limit ${'limit'}`,
    count: sql<JournalFilter, { count: number }>`
      select count(*) as count from journal where number > 0 ${fits}`,
  };
}

function choicesOf(all: readonly Name[]): Name[][] {
  return all.reduce<Name[][]>(
    (choices, name) => [...choices, ...choices.map((choice) => [...choice, name])],
    [[]],
  );
}
