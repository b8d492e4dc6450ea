/**
 * Copies an installation from one database into another: accounts, sessions, keys, folders, grants and the journal. The
 * source is only read. The copy is complete when both databases have the same rows at the end.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { migrations } from '../../database/migrations.ts';
import { StartError } from '../../config/start-error.ts';
import { Destination, explainErrors, issuerOf, readSchemaVersion, selectSettings } from './destination.ts';
import {
  countCopiedRows,
  countRows,
  digestRows,
  formatRow,
  readOnlyRow,
  readPages,
  tables,
  type Row,
  type TableDigest,
  type Table,
} from './tables.ts';

type CopyStep = 'Copying' | 'Indexing' | 'Comparing';

interface CopyOptions {
  readonly from: Database;
  /** Called after the source was checked. `copyInstallation` closes the database at the end. */
  readonly openDestination: () => Promise<Database>;
  readonly clock: Clock;
  readonly onProgress?: (step: CopyStep, done: number, total: number) => void;
  /** Called if the copy continues an unfinished copy. */
  readonly onResume?: (rows: number, total: number) => void;
}

export interface ComparedTable {
  readonly name: string;
  readonly source: TableDigest;
  readonly destination: TableDigest;
  readonly isSame: boolean;
}

/** The number of folders that one transaction adds to the search index. */
const indexBatch = 10_000;

/** Resumes an interrupted copy. Servers refuse to start on the destination until both databases are the same. */
export async function copyInstallation(options: CopyOptions): Promise<readonly ComparedTable[]> {
  const { from, openDestination, clock } = options;
  await explainErrors(from, () => checkSource(from));
  const to = await openDestination();
  try {
    const destination = new Destination(to, clock);
    const counters = (await copySnapshot(options, destination)) ?? (await startOver(options, destination));
    await setCounters(counters, destination, options);
    await destination.write(async (transaction) => {
      for (const text of to.dialect.afterLoading) await transaction.define(text);
    });
    const comparedTables = await compare(from, to, options);
    if (comparedTables.every((each) => each.isSame)) await destination.release();
    return comparedTables;
  } finally {
    await to.close();
  }
}

async function checkSource(from: Database): Promise<void> {
  const version = await from.transaction((transaction) => readSchemaVersion('source', transaction));
  if (version > 0 && version < migrations.length) {
    throw new StartError(
      `The source has an older schema (${version} of ${migrations.length} migrations). Run 'espalier migrate' on the source, or start the server on it once.`,
    );
  }
  const settings = version > 0 ? await from.all(selectSettings, {}) : [];
  if (issuerOf(settings) === undefined) {
    throw new StartError('The source contains no installation, because no server was ever started on it.');
  }
  if (settings.some(({ name }) => name === 'copying')) {
    throw new StartError('The source is an unfinished copy. Finish that copy first.');
  }
}

async function copySnapshot(
  { from, onProgress, onResume }: CopyOptions,
  destination: Destination,
): Promise<Counters | undefined> {
  return explainErrors(from, () =>
    from.snapshot(async (source) => {
      const copiedBefore = await destination.claim(await source.all(selectSettings, {}));
      const total = await countCopiedRows(source);
      if (copiedBefore > 0) onResume?.(copiedBefore, total);
      let done = 0;
      return copyRows(source, destination, (count) => onProgress?.('Copying', (done += count), total));
    }),
  );
}

async function startOver(options: CopyOptions, destination: Destination): Promise<Counters> {
  await destination.clear();
  const counters = await copySnapshot(options, destination);
  if (!counters) throw new StartError('The destination does not return the rows that were written to it.');
  return counters;
}

async function setCounters(
  counters: Counters,
  destination: Destination,
  { onProgress }: CopyOptions,
): Promise<void> {
  for (const [table, counter] of counters) {
    const set = (row: Row) => destination.write((transaction) => transaction.run(table.update, row));
    if (table.name === 'folder_numbers') {
      // A trigger of SQLite adds the folders between the old and the new number to its search index.
      const total = Number(counter['last']);
      const { last } = await readOnlyRow(destination.reader, table);
      for (let next = Number(last) + indexBatch; next < total; next += indexBatch) {
        await set({ ...counter, last: next });
        onProgress?.('Indexing', next, total);
      }
    }
    await set(counter);
  }
}

/** Compares the current rows, so that a change of the source since the copy is detected. */
async function compare(from: Database, to: Database, { onProgress }: CopyOptions): Promise<ComparedTable[]> {
  let done = 0;
  let total = 0;
  const digestAll = (database: Database) =>
    explainErrors(database, () =>
      database.snapshot(async (reader) => {
        for (const table of tables) {
          const count = await countRows(reader, table);
          total += count;
        }
        const digests: TableDigest[] = [];
        for (const table of tables) {
          const pages = readPages(reader, table.fullRows);
          const onRows = (count: number) => onProgress?.('Comparing', (done += count), total);
          digests.push(await digestRows(pages, table.columns, onRows));
        }
        return digests;
      }),
    );
  const [sources, destinations] = await Promise.all([digestAll(from), digestAll(to)]);
  return tables.map(({ name }, index) => {
    const [source, destination] = [sources[index]!, destinations[index]!];
    return { name, source, destination, isSame: isDeepStrictEqual(source, destination) };
  });
}

/** The row of each table that has only one row. */
type Counters = ReadonlyMap<Table, Row>;

/**
 * Copies table by table, in key order. Rows that an interrupted copy has left are comparedTables with the source, and not written
 * again. Returns the counters, which are written last, or undefined if existing rows differ from the source.
 */
async function copyRows(
  source: Reader,
  destination: Destination,
  onRows: (count: number) => void,
): Promise<Counters | undefined> {
  const counters = new Map<Table, Row>();
  for (const table of tables) {
    if (table.hasOneRow) counters.set(table, await readOnlyRow(source, table));
    else if (!(await copyTable(source, destination, table, onRows))) return undefined;
  }
  return counters;
}

async function copyTable(
  source: Reader,
  destination: Destination,
  table: Table,
  onRows: (count: number) => void,
): Promise<boolean> {
  const existing = readPages(destination.reader, table.rowsToInsert);
  for await (const rows of readPages(source, table.rowsToInsert)) {
    const { value: copied = [] } = await existing.next();
    if (!isPrefix(copied, rows, table)) return false;
    const missing = rows.slice(copied.length);
    if (missing.length > 0) {
      await destination.write((transaction) => transaction.runEach(table.insert, missing));
    }
    onRows(rows.length);
  }
  const { value: more = [] } = await existing.next();
  if (more.length > 0) return false;
  await copyReferences(source, destination, table);
  return true;
}

function isPrefix(some: readonly Row[], rows: readonly Row[], { columns }: Table): boolean {
  return (
    some.length <= rows.length &&
    some.every((row, index) => formatRow(row, columns) === formatRow(rows[index]!, columns))
  );
}

/** Sets the references to later rows. The insert had to leave them null. */
async function copyReferences(
  source: Reader,
  destination: Destination,
  { references }: Table,
): Promise<void> {
  if (!references) return;
  for await (const rows of readPages(source, references.laterRows)) {
    await destination.write((transaction) => transaction.runEach(references.set, rows));
  }
}
