/** Reads and prunes the history of sign-ins. Lists have the newest first. Each list is read from an index, whatever its filter. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { KeyedSlice } from '../accounts/users.ts';
import type { Database, Reader } from '../database/database.ts';
import {
  firstId,
  isRowId,
  lastId,
  list,
  selectAs,
  sql,
  type ColumnsOf,
  type Statement,
} from '../database/statement.ts';
import { pruneInBatches, pruneStatements } from '../journal/prune.ts';
import {
  signInMethods,
  signInResults,
  type SignIn,
  type SignInMethod,
  type SignInResult,
} from './sign-in-buffer.ts';

/** Selects the sign-ins that meet all conditions. */
export interface SignInFilter {
  readonly userId?: string | undefined;
  readonly methods?: readonly SignInMethod[] | undefined;
  readonly results?: readonly SignInResult[] | undefined;
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
}

/** The position of a sign-in in a list. */
type SignInPosition = Pick<SignIn, 'at' | 'id'>;

const columns: ColumnsOf<SignIn> = {
  id: 'id',
  at: 'at',
  lastAt: 'last_at',
  count: 'count',
  userId: 'user_id',
  sessionId: 'session_id',
  username: 'username',
  method: 'method',
  result: 'result',
  address: 'address',
  agent: 'agent',
  detail: 'detail',
};
const selectSignIn = sql`select ${selectAs(columns)} from sign_ins`;

type Period = SignInPosition & { readonly from: number };
type PageParameters = Period & { readonly limit: number };
type UserParameters = {
  readonly userId: string;
  readonly methods: readonly string[];
  readonly results: readonly string[];
};

const isInPeriod = sql`at >= ${'from'} and (at, id) < (${'at'}, ${'id'})`;
const newestFirst = sql`order by at desc, id desc limit ${'limit'}`;

const findPage = sql<PageParameters, SignIn>`${selectSignIn} where ${isInPeriod} ${newestFirst}`;
const countAll = sql<Period, { count: number }>`select count(*) as count from sign_ins where ${isInPeriod}`;

// The concatenation hides the columns from the planner, so that it uses the index on the user.
const isOfUser = sql`user_id = ${'userId'} and ${isInPeriod}
  and method || '' in (select value from ${list('methods', 'texts')})
  and result || '' in (select value from ${list('results', 'texts')})`;
const findPageOfUser = sql<PageParameters & UserParameters, SignIn>`
  ${selectSignIn} where ${isOfUser} ${newestFirst}`;
const countOfUser = sql<Period & UserParameters, { count: number }>`
  select count(*) as count from sign_ins where ${isOfUser}`;

/** A method with a result, which is the beginning of an index. */
interface Kind {
  readonly method: SignInMethod;
  readonly result: SignInResult;
}

/** By the number of kinds. */
const kindStatements = new Map<number, ReturnType<typeof createKindStatements>>();

export function listSignIns(
  reader: Reader,
  filter: SignInFilter,
  { after, limit }: KeyedSlice<SignInPosition>,
): PromiseOrValue<SignIn[]> {
  const parameters = { ...periodOf(filter, after), limit };
  const { userId } = filter;
  if (userId !== undefined) {
    return reader.all(findPageOfUser, { ...parameters, ...userParameters(userId, filter) });
  }
  const kinds = kindsOf(filter);
  if (!kinds) return reader.all(findPage, parameters);
  if (kinds.length === 0) return [];
  return reader.all(statementsFor(kinds).page, { ...parameters, ...kindParameters(kinds) });
}

export function countSignIns(reader: Reader, filter: SignInFilter): PromiseOrValue<number> {
  return whenDone(countRow(reader, filter), (row) => row?.count ?? 0);
}

function countRow(reader: Reader, filter: SignInFilter): PromiseOrValue<{ count: number } | undefined> {
  const period = periodOf(filter, undefined);
  const { userId } = filter;
  if (userId !== undefined) return reader.get(countOfUser, { ...period, ...userParameters(userId, filter) });
  const kinds = kindsOf(filter);
  if (!kinds) return reader.get(countAll, period);
  if (kinds.length === 0) return undefined;
  return reader.get(statementsFor(kinds).count, { ...period, ...kindParameters(kinds) });
}

/** The end of the period is a position in the list. */
function periodOf({ from = 0, until }: SignInFilter, after: SignInPosition | undefined): Period {
  const end = until === undefined ? { at: Number.MAX_SAFE_INTEGER, id: lastId } : { at: until, id: firstId };
  const isBeforeEnd = after && (after.at < end.at || (after.at === end.at && after.id < end.id));
  return { from, ...(isBeforeEnd ? { at: after.at, id: after.id } : end) };
}

function userParameters(userId: string, { methods, results }: SignInFilter): UserParameters {
  // A text that cannot be an id becomes the id of no row.
  return {
    userId: isRowId(userId) ? userId : firstId,
    methods: methods ?? signInMethods,
    results: results ?? signInResults,
  };
}

/** Undefined if the filter selects all values. */
function kindsOf({ methods, results }: SignInFilter): readonly Kind[] | undefined {
  if (!methods && !results) return undefined;
  return [...new Set(methods ?? signInMethods)].flatMap((method) =>
    [...new Set(results ?? signInResults)].map((result) => ({ method, result })),
  );
}

function kindParameters(kinds: readonly Kind[]): Readonly<Record<string, string>> {
  const entries = kinds.flatMap(({ method, result }, index) => [
    [`method${index}`, method],
    [`result${index}`, result],
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function statementsFor({ length }: readonly Kind[]) {
  let found = kindStatements.get(length);
  if (!found) kindStatements.set(length, (found = createKindStatements(length)));
  return found;
}

/** Reads a page of each kind from its part of the index, and merges the pages. */
function createKindStatements(length: number) {
  const indexes = Array.from({ length }, (_, index) => index);
  const isKind = (index: number) =>
    sql`method = ${`method${index}`} and result = ${`result${index}`} and ${isInPeriod}`;
  const joinWith = (separator: string, parts: readonly Statement[]): Statement => ({
    parts: parts.flatMap((part, index) => [index === 0 ? '' : separator, ...part.parts]),
  });
  const page = (index: number): Statement => ({
    parts: [
      'select * from (',
      ...sql`select * from sign_ins where ${isKind(index)} ${newestFirst}`.parts,
      `) as kind${index}`,
    ],
  });
  const pages = joinWith(' union all ', indexes.map(page));
  const counts = joinWith(
    ' + ',
    indexes.map((index) => sql`(select count(*) from sign_ins where ${isKind(index)})`),
  );
  return {
    page: sql<PageParameters, SignIn>`select ${selectAs(columns)} from (${pages}) as pages ${newestFirst}`,
    count: sql<Period, { count: number }>`select ${counts} as count`,
  };
}

const dayMs = 86_400_000;
const oldSignIns = pruneStatements<{ before: number }>(
  sql`delete from sign_ins`,
  sql`id`,
  sql`from sign_ins where at < ${'before'}`,
);
const maxBatches = 20;

/** Deletes sign-ins that are older than `signInDays`. */
export function pruneSignIns(
  database: Database,
  now: number,
  { signInDays }: { readonly signInDays: number },
): Promise<void> {
  const parameters = { before: now - signInDays * dayMs, batch: 1_000 };
  return pruneInBatches(database, oldSignIns, parameters, maxBatches);
}
