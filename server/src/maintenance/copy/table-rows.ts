/** Statements that read and write the rows of any table in pages, and a digest of rows that is the same on every database. */

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../database/database.ts';
import type { Part, Statement } from '../../database/statement.ts';
import { copiedTables, type CopiedTable } from './tables.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** Reads the rows in key order: the first page, and the page after a row. */
interface Paging {
  readonly first: Statement<{ limit: number }, Row>;
  readonly next: Statement<Row & { limit: number }, Row>;
}

interface TableStatements {
  readonly whole: Paging;
  /** Reads null for a self-reference to a later row, so that each row can be inserted after the rows before it. */
  readonly asInserted: Paging;
  readonly count: Statement<object, { count: number }>;
  readonly insert: Statement<Row, never>;
  /** Sets every column except the key. */
  readonly update: Statement<Row, never>;
  /** For rows that refer to a later row: reads and sets the key and the reference. */
  readonly references: { readonly ahead: Paging; readonly set: Statement<Row, never> } | undefined;
}

export interface TableWithStatements extends CopiedTable, TableStatements {}

/** Created once, because a database prepares each statement object once. */
export const tables: readonly TableWithStatements[] = copiedTables.map((table) => ({
  ...table,
  ...statementsFor(table),
}));

const pageRows = 1_000;

/** Every page except the last is full. */
export async function* readPages(
  reader: Reader,
  { first, next }: Paging,
): AsyncGenerator<readonly Row[], undefined> {
  let rows = await reader.all(first, { limit: pageRows });
  while (rows.length > 0) {
    yield rows;
    if (rows.length < pageRows) return;
    // Lets the process handle signals.
    await setImmediate();
    rows = await reader.all(next, { ...rows.at(-1), limit: pageRows });
  }
}

export async function countRows(reader: Reader, table: TableStatements): Promise<number> {
  return (await reader.get(table.count, {}))!.count;
}

export async function readOnlyRow(reader: Reader, table: TableWithStatements): Promise<Row> {
  const [row] = await reader.all(table.whole.first, { limit: 1 });
  if (!row) throw new Error(`The table ${table.name} has lost its only row.`);
  return row;
}

function statementsFor(table: CopiedTable): TableStatements {
  const { name, key, columns, selfReference, where = 'true' } = table;
  const order = quote(key);
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
  const others = columns.filter((column) => column !== selfReference);
  const id = key[0]!;
  const back = `case when ${selfReference} < ${id} then ${selfReference} end as ${selfReference}`;
  return {
    whole: paging(quote(columns)),
    asInserted: paging(selfReference ? `${quote(others)}, ${back}` : quote(columns)),
    count: { parts: [`select count(*) as count from ${name} where ${where}`] },
    insert: { parts: [`insert into ${name} (${quote(columns)}) values (`, ...parameters(columns), ')'] },
    update: updateOf(columns.filter((column) => !key.includes(column))),
    references: selfReference
      ? {
          ahead: paging(quote([...key, selfReference]), `${selfReference} > ${id}`),
          set: updateOf([selfReference]),
        }
      : undefined,
  };
}

/** Some column names are SQL keywords. */
function quote(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

function parameter(name: string): Part {
  return { kind: 'parameter', name };
}

function parameters(names: readonly string[]): Part[] {
  return names.flatMap((name, index) => [index === 0 ? '' : ', ', parameter(name)]);
}

function equations(columns: readonly string[], separator: string): Part[] {
  return columns.flatMap((column, index) => [
    `${index === 0 ? '' : separator}"${column}" = `,
    parameter(column),
  ]);
}

export interface TableDigest {
  readonly count: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The SHA-256 of one line of JSON for each row, in key order. */
export class RowDigest {
  readonly #columns: readonly string[];
  readonly #hash = createHash('sha256');
  #count = 0;

  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  add(rows: readonly Row[]): void {
    this.#count += rows.length;
    this.#hash.update(rows.map((row) => formatRow(row, this.#columns)).join(''));
  }

  end(): TableDigest {
    return { count: this.#count, sha256: this.#hash.digest('hex') };
  }
}

export function isSame(one: TableDigest, other: TableDigest): boolean {
  return one.count === other.count && one.sha256 === other.sha256;
}

export function formatRow(row: Row, columns: readonly string[]): string {
  return `${JSON.stringify(columns.map((column) => toJson(row[column]!)))}\n`;
}

/** Bytes become an array with their base64: no other value is an array. */
function toJson(value: Value): string | number | null | [base64: string] {
  if (!(value instanceof Uint8Array)) return value;
  return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
}
