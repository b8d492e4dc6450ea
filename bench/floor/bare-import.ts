/** What an import takes at the least: one synced transaction that inserts the same rows into the same schema. */

import { openBareSqlite, readRows } from './bare-sqlite.ts';

export interface ImportInput {
  /** Holds what ours has imported. */
  readonly from: string;
  /** A copy of it from before. */
  readonly into: string;
  /** Of the last folder, and the last journal entry, that were there before. */
  readonly afterFolder: number;
  readonly afterEntry: number;
  readonly parentId: string;
}

export interface ImportUse {
  readonly cpuMicroseconds: number;
  readonly elapsedMs: number;
  readonly folders: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Only the transaction is counted: the rows are read before. */
export function importRows({ from, into, afterFolder, afterEntry, parentId }: ImportInput): ImportUse {
  const folders = readRows<Row>(from, 'select * from folders where number > ? order by number', afterFolder);
  const entries = readRows<Row>(from, 'select * from journal where number > ?', afterEntry);
  const columns = Object.keys(folders[0]!);
  const folderValues = folders.map((row) => Object.values(row));
  const entryValues = entries.map((row) => Object.values(row));
  const own = folders.filter((row) => row['parent_id'] === parentId).length;
  const last = folders.at(-1)!['number'];
  const connection = openBareSqlite(into);
  const insert = connection.prepare(insertInto('folders', columns));
  const record = connection.prepare(insertInto('journal', Object.keys(entries[0]!)));
  const setNumber = connection.prepare('update folder_numbers set last = ?');
  const count = connection.prepare('update folders set child_count = child_count + ? where id = ?');
  const advance = connection.prepare('update journal_counter set number = ?, nonce = ?');

  const start = performance.now();
  const before = process.cpuUsage();
  connection.exec('begin immediate');
  for (const values of folderValues) insert.run(values);
  setNumber.run(last);
  count.run(own, parentId);
  for (const values of entryValues) record.run(values);
  advance.run(entries.at(-1)!['number'], entries.at(-1)!['nonce']);
  connection.exec('commit');
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = performance.now() - start;
  connection.close();
  return { cpuMicroseconds: user + system, elapsedMs, folders: folders.length };
}

function insertInto(table: string, columns: readonly string[]): string {
  const marks = columns.map(() => '?').join(', ');
  return `insert into ${table} (${columns.join(', ')}) values (${marks})`;
}
