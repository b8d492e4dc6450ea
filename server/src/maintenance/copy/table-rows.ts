/** The rows of a table, a page at a time. */

import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../database/database.ts';
import { copiedTables, type CopiedTable } from './tables.ts';
import type { Statement, Part } from '../../database/statement.ts';
import { createHash } from 'crypto';
import type { Row, Value } from './table-rows.ts';

export interface TableWithStatements extends CopiedTable, TableStatements {}

/** Made once: a database prepares each statement once. */
export const tables: readonly TableWithStatements[] = copiedTables.map((table) => ({
  ...table,
  ...statementsFor(table),
}));

const pageRows = 1_000;

/** Each page but the last is full. */
export async function* pages(
  reader: Reader,
  { first, next }: Paging,
): AsyncGenerator<readonly Row[], undefined> {
  let rows = await reader.all(first, { limit: pageRows });
  while (rows.length > 0) {
    yield rows;
    if (rows.length < pageRows) return;
    // Signals come first.
    await setImmediate();
    rows = await reader.all(next, { ...rows.at(-1), limit: pageRows });
  }
}

export async function countOf(reader: Reader, table: TableStatements): Promise<number> {
  return (await reader.get(table.count, {}))!.count;
}

export async function onlyRow(reader: Reader, table: TableWithStatements): Promise<Row> {
  const [row] = await reader.all(table.whole.first, { limit: 1 });
  if (!row) throw new Error(`The table ${table.name} has lost its only row.`);
  return row;
}
export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;
/** Pages of rows in the order of the key: the first, and what comes after a row. */

export interface Paging {
  readonly first: Statement<{ limit: number }, Row>;
  readonly next: Statement<Row & { limit: number }, Row>;
}

export interface TableStatements {
  readonly whole: Paging;
  /** Without inner references to rows that come later: so each row can be inserted when those before it are there. */
  readonly asInserted: Paging;
  readonly count: Statement<object, { count: number }>;
  readonly insert: Statement<Row, never>;
  /** Sets everything but the key. */
  readonly update: Statement<Row, never>;
  /** For the rows that refer to a later one: their key and the reference. */
  readonly references: { readonly ahead: Paging; readonly set: Statement<Row, never> } | undefined;
}

export function statementsFor(table: CopiedTable): TableStatements {
  const { name, key, columns, innerReference, where = 'true' } = table;
  const order = list(key);
  const paging = (selected: string, condition = where): Paging => {
    const select = `select ${selected} from ${name} where ${condition}`;
    const end: Part[] = [` order by ${order} limit `, parameter('limit')];
    return {
      first: { parts: [select, ...end] },
      next: { parts: [`${select} and (${order}) > (`, ...parameters(key), ')', ...end] },
    };
  };
  const updateOf = (changed: readonly string[]): Statement<Row, never> => ({
    parts: [`update ${name} set `, ...equations(changed, ', '), ' where ', ...equations(key, ' and ')],
  });
  const others = columns.filter((column) => column !== innerReference);
  const id = key[0]!;
  const back = `case when ${innerReference} < ${id} then ${innerReference} end as ${innerReference}`;
  return {
    whole: paging(list(columns)),
    asInserted: paging(innerReference ? `${list(others)}, ${back}` : list(columns)),
    count: { parts: [`select count(*) as count from ${name} where ${where}`] },
    insert: { parts: [`insert into ${name} (${list(columns)}) values (`, ...parameters(columns), ')'] },
    update: updateOf(columns.filter((column) => !key.includes(column))),
    references: innerReference
      ? {
          ahead: paging(list([...key, innerReference]), `${innerReference} > ${id}`),
          set: updateOf([innerReference]),
        }
      : undefined,
  };
}
/** Quoted: some of the names are words of SQL. */
function list(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}
function parameter(name: string): Part {
  return { kind: 'parameter', name };
}
function parameters(names: readonly string[]): Part[] {
  return names.flatMap((name, place) => [place === 0 ? '' : ', ', parameter(name)]);
}
function equations(columns: readonly string[], between: string): Part[] {
  return columns.flatMap((column, place) => [
    `${place === 0 ? '' : between}"${column}" = `,
    parameter(column),
  ]);
}
export interface Digested {
  readonly count: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export class RowDigest {
  readonly #columns: readonly string[];
  readonly #hash = createHash('sha256');
  #count = 0;

  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  add(rows: readonly Row[]): void {
    this.#count += rows.length;
    this.#hash.update(rows.map((row) => lineOf(row, this.#columns)).join(''));
  }

  end(): Digested {
    return { count: this.#count, sha256: this.#hash.digest('hex') };
  }
}

export function isSame(one: Digested, other: Digested): boolean {
  return one.count === other.count && one.sha256 === other.sha256;
}

export function lineOf(row: Row, columns: readonly string[]): string {
  return `${JSON.stringify(columns.map((column) => plain(row[column]!)))}\n`;
}
/** No value is a list by itself: one that is holds bytes. */
function plain(value: Value): string | number | null | [base64: string] {
  if (!(value instanceof Uint8Array)) return value;
  return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
}
