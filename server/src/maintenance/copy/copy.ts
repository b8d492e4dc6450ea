/**
 * Copies a whole installation from one database into another, of whatever kinds: accounts, sessions, keys, folders,
 * grants and the journal. The source is only read. The copy counts as whole when both have the same rows at the end.
 */

import type { Clock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { migrations } from '../../database/migrations.ts';
import { StartError } from '../../config/start-error.ts';
import { Destination, issuerOf, selectSettings } from './destination.ts';
import { explainErrors, readSchemaVersion } from './destination.ts';
import { isSame, formatRow, RowDigest, type TableDigest } from './table-rows.ts';
import type { Row, TableWithStatements } from './table-rows.ts';
import { countRows, readOnlyRow, readPages, tables } from './table-rows.ts';

export type CopyStep = 'Copying' | 'Indexing' | 'Comparing';

export interface CopyOptions {
  readonly from: Database;
  /** Asked for when the source is found to be good; closed at the end. */
  readonly openDestination: () => Promise<Database>;
  readonly clock: Clock;
  readonly onProgress?: (step: CopyStep, done: number, total: number) => void;
  /** There is an unfinished copy: it is gone on with from there. */
  readonly onResume?: (rows: number, total: number) => void;
}

export interface ComparedTable {
  readonly name: string;
  readonly source: TableDigest;
  readonly destination: TableDigest;
  readonly isSame: boolean;
}

/** A part of the search index is made at once; its size bounds a transaction. */
const indexedAtOnce = 10_000;

/** Goes on where an interrupted run has stopped. Until all is the same, servers refuse to start on the destination. */
export async function copyInstallation(options: CopyOptions): Promise<readonly ComparedTable[]> {
  const { from, openDestination, clock } = options;
  await explainErrors(from, () => checkSource(from));
  const to = await openDestination();
  try {
    const destination = new Destination(to, clock);
    const counters = (await copyOneMoment(options, destination)) ?? (await startOver(options, destination));
    await setCounters(counters, destination, options);
    await destination.write(async (transaction) => {
      for (const text of to.dialect.afterLoading) await transaction.define(text);
    });
    const compared = await compare(from, to, options);
    if (compared.every((each) => each.isSame)) await destination.release();
    return compared;
  } finally {
    await to.close();
  }
}

async function checkSource(from: Database): Promise<void> {
  const taken = await from.transaction((transaction) => readSchemaVersion('source', transaction));
  if (taken > 0 && taken < migrations.length) {
    throw new StartError(
      `The source has an older schema (${taken}; this program knows ${migrations.length}). Run espalier migrate on it, or start the server on it once.`,
    );
  }
  const settings = taken > 0 ? await from.all(selectSettings, {}) : [];
  if (issuerOf(settings) === undefined) {
    throw new StartError('The source holds no installation: no server was ever started on it.');
  }
  if (settings.some(({ name }) => name === 'copying')) {
    throw new StartError('The source is itself an unfinished copy. Finish that one first.');
  }
}

async function copyOneMoment(
  { from, onProgress, onResume }: CopyOptions,
  destination: Destination,
): Promise<Counters | undefined> {
  return explainErrors(from, () =>
    from.snapshot(async (source) => {
      const there = await destination.claim(await source.all(selectSettings, {}));
      let total = 0;
      for (const table of tables) total += table.hasOneRow ? 0 : await countRows(source, table);
      if (there > 0) onResume?.(there, total);
      let done = 0;
      return copyRows(source, destination, (count) => onProgress?.('Copying', (done += count), total));
    }),
  );
}

async function startOver(options: CopyOptions, destination: Destination): Promise<Counters> {
  await destination.clear();
  const counters = await copyOneMoment(options, destination);
  if (!counters) throw new StartError('The destination does not keep what is written to it.');
  return counters;
}

async function setCounters(
  counters: Counters,
  destination: Destination,
  { onProgress }: CopyOptions,
): Promise<void> {
  for (const table of tables.filter(({ hasOneRow }) => hasOneRow)) {
    const given = counters.get(table.name)!;
    const set = (row: Row) => destination.write((transaction) => transaction.run(table.update, row));
    if (table.name === 'folder_numbers') {
      // SQLite adds the folders between the last number that it knew and the new one to its search index.
      const total = Number(given['last']);
      const { last } = await readOnlyRow(destination.reader, table);
      for (let next = Number(last) + indexedAtOnce; next < total; next += indexedAtOnce) {
        await set({ ...given, last: next });
        onProgress?.('Indexing', next, total);
      }
    }
    await set(given);
  }
}

/** Both as they are now: so it is noticed, too, if the source was written to meanwhile. */
async function compare(from: Database, to: Database, { onProgress }: CopyOptions): Promise<ComparedTable[]> {
  let done = 0;
  let total = 0;
  const digestAll = (database: Database) =>
    explainErrors(database, () =>
      database.snapshot(async (reader) => {
        for (const table of tables) total += await countRows(reader, table);
        const digests: TableDigest[] = [];
        for (const table of tables) {
          const digest = new RowDigest(table.columns);
          for await (const rows of readPages(reader, table.whole)) {
            digest.add(rows);
            onProgress?.('Comparing', (done += rows.length), total);
          }
          digests.push(digest.end());
        }
        return digests;
      }),
    );
  const [sources, destinations] = await Promise.all([digestAll(from), digestAll(to)]);
  return tables.map(({ name }, place) => {
    const [source, destination] = [sources[place]!, destinations[place]!];
    return { name, source, destination, isSame: isSame(source, destination) };
  });
}
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
    if (table.hasOneRow) counters.set(table.name, await readOnlyRow(source, table));
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
  const there = readPages(destination.reader, table.asInserted);
  for await (const rows of readPages(source, table.asInserted)) {
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
    some.every((row, place) => formatRow(row, columns) === formatRow(rows[place]!, columns))
  );
}
/** What could not be inserted because it refers to a row that came later. */

async function copyReferences(
  source: Reader,
  destination: Destination,
  { references }: TableWithStatements,
): Promise<void> {
  if (!references) return;
  for await (const rows of readPages(source, references.ahead)) {
    await destination.write((transaction) => transaction.runEach(references.set, rows));
  }
}
