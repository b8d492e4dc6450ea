/** SQLite without anything around it: as durable as ours, with our schema. */

import BetterSqlite, { type Database } from 'better-sqlite3';

export function openBareSqlite(file: string): Database {
  const connection = new BetterSqlite(file);
  connection.pragma('journal_mode = wal');
  connection.pragma('synchronous = full');
  return connection;
}

/** All that is committed, in a file of its own; whoever uses the database may go on. */
export function copySqlite(file: string, to: string): void {
  const connection = new BetterSqlite(file, { readonly: true });
  connection.prepare('vacuum into ?').run(to);
  connection.close();
}

export function readRows<Row>(file: string, query: string, ...values: unknown[]): Row[] {
  const connection = new BetterSqlite(file, { readonly: true });
  try {
    return connection.prepare(query).all(...values) as Row[];
  } finally {
    connection.close();
  }
}

export function writeRow(file: string, statement: string, values: readonly unknown[]): void {
  const connection = openBareSqlite(file);
  try {
    connection.prepare(statement).run(...values);
  } finally {
    connection.close();
  }
}
