/**
 * SQL as text with named parameters, written once for every database. A statement is made once, at module level, and
 * each database prepares it once; what differs between dialects is a part that the dialect writes itself.
 */

export type Part =
  | string
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'list'; readonly name: string; readonly of: 'ids' | 'texts' }
  | ListPart
  | { readonly kind: 'for-update' }
  | { readonly kind: 'children'; readonly of: string }
  | { readonly kind: 'hex'; readonly column: string }
  | { readonly kind: 'json-rows'; readonly columns: string }
  | {
      readonly kind: 'possible-matches';
      readonly text: string;
      readonly after: string;
      readonly limit: string;
    };

type ListPart = { readonly kind: 'list-for-each'; readonly name: string } & ListForEach;

/** Which rows of a table, which has a primary key `id`, and what of them. */
export interface ListForEach {
  readonly table: string;
  /** What is selected of a row, as SQL. */
  readonly columns: readonly string[];
  /** Refers to the id of the list parameter as `each.value`. */
  readonly where: Statement;
  readonly orderBy: Statement;
  /** What follows `limit`. */
  readonly limit: Statement;
  /** It passes over many: an index tells which they are, and no row of theirs is read. */
  readonly passesOver?: boolean;
}

export interface Statement<Parameters = unknown, Row = unknown> {
  readonly parts: readonly Part[];
  /** Types only; never there at run time. */
  readonly types?: { parameters: Parameters; row: Row };
}

/**
 * Interpolated strings are the names of parameters: sql<{ id: string }, Folder>`select … where id = ${'id'}`.
 * Interpolated statements and parts are written in place.
 */
export function sql<Parameters = object, Row = never>(
  texts: TemplateStringsArray,
  ...values: readonly (string | Part | Statement)[]
): Statement<Parameters, Row> {
  const parts: Part[] = [texts[0]!];
  values.forEach((value, index) => {
    if (typeof value === 'string') parts.push({ kind: 'parameter', name: value });
    else if ('parts' in value) parts.push(...value.parts);
    else parts.push(value);
    parts.push(texts[index + 1]!);
  });
  return { parts };
}

/** A table `each` with the column `value` and, in the list's order, `place`; from a parameter that is a list of ids. */
export function list(name: string): Part {
  return { kind: 'list', name, of: 'ids' };
}

/** The same, of any texts. */
export function textList(name: string): Part {
  return { kind: 'list', name, of: 'texts' };
}

/**
 * A whole statement: for each id of a list parameter a row with its `place` there and a `list` of rows, each an array of
 * the columns. PostgreSQL returns each list as one JSON value, because many small rows cost several times as much. SQLite
 * reads each list by itself.
 */
export function listForEach(name: string, list: ListForEach): Part {
  return { kind: 'list-for-each', name, ...list };
}

/** A row of such a statement. */
export interface ListOfEach<Columns = readonly unknown[]> {
  readonly position: number;
  readonly list: readonly Columns[];
}

/** The rows of such a statement with several columns, by the ids of the list parameter. An empty list is not in the map. */
export function readListsOfEach<Columns extends readonly unknown[], Row>(
  ids: readonly string[],
  lists: readonly ListOfEach[],
  toRow: (columns: Columns) => Row,
): Map<string, Row[]> {
  const rows = new Map<string, Row[]>();
  for (const { position, list: found } of lists) {
    if (found.length > 0) rows.set(ids[position]!, (found as readonly Columns[]).map(toRow));
  }
  return rows;
}

/** Whether a statement is such a one. */
export function findListPart({ parts }: Statement): ListPart | undefined {
  return parts.find((part): part is ListPart => typeof part === 'object' && part.kind === 'list-for-each');
}

/** The inner part of it, which the dialects have in common: the rows, with their columns as `c0`, `c1` and so on. */
export function writeListQuery(part: ListForEach, write: (statement: Statement) => string): string {
  const { table, columns, where, orderBy, limit, passesOver } = part;
  const selected = columns.map((column, place) => `${column} as c${place}`).join(', ');
  const bounded = (what: string) =>
    `select ${what} from ${table} where ${write(where)} order by ${write(orderBy)} limit ${write(limit)}`;
  if (!passesOver) return bounded(selected);
  return `select ${selected} from ${table} where ${table}.id in (${bounded(`${table}.id`)}) order by ${write(orderBy)}`;
}

/**
 * A table `possible` with the column `number`: in ascending order the numbers of at most `limit` folders after the
 * number `after` whose folded name or title may hold `text`, which has at least three characters. An index answers,
 * and may name too many: the caller compares.
 */
export function possibleMatches(names: { text: string; after: string; limit: string }): Part {
  return { kind: 'possible-matches', ...names };
}

/**
 * The table `folders`, to be cross-joined after the table `of`, for the children of its rows:
 * sql`from visible cross join ${childrenOf('visible')} where folders.parent_id = visible.id`. Both databases then look up
 * the children of each row in an index. PostgreSQL would else hash all folders, because it overestimates recursion.
 */
export function childrenOf(of: string): Part {
  return { kind: 'children', of };
}

/** Bytes as hexadecimal digits in capital letters, which sort like the bytes: a driver reads texts much faster. */
export function hexOf(column: string): Part {
  return { kind: 'hex', column };
}

/** Columns of a table, for a select. */
export function columnsOf(table: string, names: readonly string[]): Statement {
  return { parts: [listColumns(table, names)] };
}

/** All selected rows as one JSON value, each an array of columns of a table: a driver reads it faster than many rows. */
export function jsonRows(table: string, names: readonly string[]): Part {
  return { kind: 'json-rows', columns: listColumns(table, names) };
}

function listColumns(table: string, names: readonly string[]): string {
  return names.map((name) => `${table}.${name}`).join(', ');
}

/** At the end of a select in a transaction: until it is over, no other one changes the rows, nor gets past this. */
export const forUpdate: Part = { kind: 'for-update' };
/** Ids of rows. A database may keep them as text or as UUIDs: it is never asked for what cannot be one. */
/** Ids are compared as they are written: anything but the canonical form names nothing. */
export function isRowId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}
/** Ids that no row has: in their order, before and after all others. */

export const firstId = '00000000-0000-0000-0000-000000000000';
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
