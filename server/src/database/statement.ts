/**
 * SQL text with named parameters, written once for all databases. A statement is created once, at module level, and each
 * connection prepares it once. Each dialect writes the parts that differ.
 */

export type Part =
  | string
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'list'; readonly name: string; readonly of: 'ids' | 'texts' }
  | ListPart
  | RowsPart
  | { readonly kind: 'for-update' }
  | { readonly kind: 'for-key-share' }
  | { readonly kind: 'children'; readonly of: string }
  | { readonly kind: 'hex'; readonly column: string }
  | { readonly kind: 'json-rows'; readonly columns: string }
  | {
      readonly kind: 'possible-matches';
      readonly text: string;
      readonly after: string;
      readonly limit: string;
    };

/** The types of columns, as `Dialect` names them. */
export interface RowsPart {
  readonly kind: 'rows';
  readonly name: string;
  readonly columns: Readonly<Record<string, 'id' | 'text' | 'integer'>>;
}

type ListPart = { readonly kind: 'list-for-each'; readonly name: string } & ListForEach;

/** Selects rows and columns of a table whose primary key is `id`. */
interface ListForEach {
  readonly table: string;
  /** The selected expressions, as SQL. */
  readonly columns: readonly string[];
  /** Refers to the id of the list parameter as `each.value`. */
  readonly where: Statement;
  readonly orderBy: Statement;
  /** The SQL after `limit`. */
  readonly limit: Statement;
  /** Set it if `limit` skips many rows: the ids then come from an index, and skipped rows are not read. */
  readonly skipsMany?: boolean;
}

export interface Statement<Parameters = unknown, Row = unknown> {
  readonly parts: readonly Part[];
  /** For types only; never set at run time. */
  readonly types?: { parameters: Parameters; row: Row };
}

/**
 * Interpolated strings are the names of parameters: sql<{ id: string }, Folder>`select … where id = ${'id'}`.
 * Interpolated statements and parts become part of the text.
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

/** The values of a list parameter as a table `each`, with the columns `value` and `position` (from 0). */
export function list(name: string, of: 'ids' | 'texts' = 'ids'): Part {
  return { kind: 'list', name, of };
}

/** The objects of a list parameter as a table `each` with these columns. For example: sql`select each."parentId" from ${rows('names', …)}`. */
export function rows(name: string, columns: RowsPart['columns']): Part {
  return { kind: 'rows', name, columns };
}

/** Returns a function that writes the value of a `rows` parameter: the objects as JSON, with only these columns. */
export function toJsonRows(columns: RowsPart['columns']): (rows: readonly object[]) => string {
  const names = Object.keys(columns);
  return (all) => JSON.stringify(all, names);
}

/**
 * A whole statement that reads a list for each id of a list parameter. Each row has the `position` of an id and its `list`, in
 * which each item is an array of the columns. PostgreSQL returns each list as one JSON value, because many small rows cost
 * several times as much. SQLite runs the statement once for each id.
 */
export function listForEach(name: string, list: ListForEach): Part {
  return { kind: 'list-for-each', name, ...list };
}

/** A row of a `listForEach` statement. */
export interface ListOfEach<Columns = readonly unknown[]> {
  readonly position: number;
  readonly list: readonly Columns[];
}

/** SQL expressions by the names that they have in a row. */
export type ColumnsOf<Row> = Readonly<Record<keyof Row, string>>;

/** Selects columns under the names that they have in a row. */
export function selectAs(columns: Readonly<Record<string, string>>): Statement {
  const selected = Object.entries(columns).map(([name, column]) => `${column} as "${name}"`);
  return { parts: [selected.join(', ')] };
}

/** Maps each id of the list parameter to its rows. The map has no entry for an empty list. */
export function readListsOfEach<Row extends object>(
  ids: readonly string[],
  lists: readonly ListOfEach[],
  columns: ColumnsOf<Row>,
): Map<string, Row[]> {
  const names = Object.keys(columns);
  const toRow = (values: readonly unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
    return row as Row;
  };
  const rows = new Map<string, Row[]>();
  for (const { position, list: found } of lists) {
    if (found.length > 0) rows.set(ids[position]!, found.map(toRow));
  }
  return rows;
}

/** A row of a statement that returns a count for each id of a list parameter. */
export interface CountOfEach {
  readonly id: string;
  readonly count: number;
}

export function readCounts(rows: readonly CountOfEach[]): Map<string, number> {
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Undefined if the statement has no `listForEach`. */
export function findListPart({ parts }: Statement): ListPart | undefined {
  return parts.find((part): part is ListPart => typeof part === 'object' && part.kind === 'list-for-each');
}

/** Returns the query for one list, which all dialects share. The query names the columns `c0`, `c1` and so on. */
export function writeListQuery(part: ListForEach, write: (statement: Statement) => string): string {
  const { table, columns, where, orderBy, limit, skipsMany } = part;
  const selected = columns.map((column, index) => `${column} as c${index}`).join(', ');
  const limited = (selection: string) =>
    `select ${selection} from ${table} where ${write(where)} order by ${write(orderBy)} limit ${write(limit)}`;
  if (!skipsMany) return limited(selected);
  return `select ${selected} from ${table} where ${table}.id in (${limited(`${table}.id`)}) order by ${write(orderBy)}`;
}

/**
 * A table `possible` with the column `number`: the numbers of folders whose folded name or title may contain `text`, which has at
 * least three characters. It has at most `limit` numbers, in ascending order, all greater than `after`. The index may return too
 * many folders, so the caller must compare the texts with `text`.
 */
export function possibleMatches(names: { text: string; after: string; limit: string }): Part {
  return { kind: 'possible-matches', ...names };
}

/**
 * The table `folders`, to be cross-joined after the table `of`, for the children of its rows:
 * sql`from visible cross join ${childrenOf('visible')} where folders.parent_id = visible.id`. Both databases then look up
 * the children of each row in an index. Otherwise, PostgreSQL would overestimate the rows of a recursive query and hash all folders.
 */
export function childrenOf(of: string): Part {
  return { kind: 'children', of };
}

/** Bytes as uppercase hexadecimal digits, which sort like the bytes. A driver reads texts much faster than bytes. */
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

/** Ends a select in a transaction: locks the rows until the transaction ends. */
export const forUpdate: Part = { kind: 'for-update' };

/** Ends a select in a transaction: the rows cannot be deleted until the transaction ends. */
export const forKeyShare: Part = { kind: 'for-key-share' };

/** Only a canonical UUID is a row id. Check texts from clients with this function: PostgreSQL fails on a text that is not a UUID. */
export function isRowId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}

/** No row has these ids: `firstId` sorts before all other ids, and `lastId` after them. */
export const firstId = '00000000-0000-0000-0000-000000000000';
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
