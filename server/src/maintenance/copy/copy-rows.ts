/**
 * Copies the rows of one moment, table by table and in the order of their keys: so what an interrupted copying has left
 * is the beginning of each table, and is gone through again, but not written again.
 */

import type { Reader } from '../../database/database.ts';
import type { Destination } from './destination.ts';
import { lineOf } from './row-digest.ts';
import type { Row } from './table-statements.ts';
import { onlyRow, pages, tables, type TableWithStatements } from './table-rows.ts';

/** The rows of the tables that have one, by the name of the table. */
export type Counters = ReadonlyMap<string, Row>;

/**
 * Answers with the counters, which are written last; undefined if what is there already is not of the source as it is
 * now.
 */
export async function copyRows(
  source: Reader,
  destination: Destination,
  onRows: (count: number) => void,
): Promise<Counters | undefined> {
  const counters = new Map<string, Row>();
  for (const table of tables) {
    if (table.hasOneRow) counters.set(table.name, await onlyRow(source, table));
    else if (!(await copyTable(source, destination, table, onRows))) return undefined;
  }
  return counters;
}

async function copyTable(
  source: Reader,
  destination: Destination,
  table: TableWithStatements,
  onRows: (count: number) => void,
): Promise<boolean> {
  const there = pages(destination.reader, table.asInserted);
  for await (const rows of pages(source, table.asInserted)) {
    const { value: copied = [] } = await there.next();
    if (!isBeginning(copied, rows, table)) return false;
    const missing = rows.slice(copied.length);
    if (missing.length > 0) {
      await destination.write((transaction) => transaction.runEach(table.insert, missing));
    }
    onRows(rows.length);
  }
  const { value: more = [] } = await there.next();
  if (more.length > 0) return false;
  await copyReferences(source, destination, table);
  return true;
}

function isBeginning(some: readonly Row[], rows: readonly Row[], { columns }: TableWithStatements): boolean {
  return (
    some.length <= rows.length &&
    some.every((row, place) => lineOf(row, columns) === lineOf(rows[place]!, columns))
  );
}

/** What could not be inserted because it refers to a row that came later. */
async function copyReferences(
  source: Reader,
  destination: Destination,
  { references }: TableWithStatements,
): Promise<void> {
  if (!references) return;
  for await (const rows of pages(source, references.ahead)) {
    await destination.write((transaction) => transaction.runEach(references.set, rows));
  }
}
