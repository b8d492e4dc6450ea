/** The rows of a table, a page at a time. */

import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../database/database.ts';
import { statementsFor, type Paging, type Row, type TableStatements } from './table-statements.ts';
import { copiedTables, type CopiedTable } from './tables.ts';

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
