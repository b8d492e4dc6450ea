/** The schema, as a list of steps that only grows. Each database remembers which steps it has taken. */

import type { Clock } from '../clock.ts';
import { StartError } from '../start-error.ts';
import type { ColumnTypes, Database, Transaction } from './database.ts';
import { sql } from './statement.ts';

interface Migration {
  readonly name: string;
  readonly statements: (types: ColumnTypes) => readonly string[];
}

/** The number of a migration is its place, counted from 1. Never edit one that has been released. */
export const migrations: readonly Migration[] = [
  {
    name: 'accounts, sessions, signing keys and the tree',
    statements: ({ id, text, bytes, integer, tableEnd }) => [
      `create table settings (
        name ${text} primary key,
        value ${text} not null
      ) ${tableEnd}`,
      `create table users (
        id ${id} primary key,
        username ${text} not null,
        username_key ${text} not null unique,
        password_hash ${text} not null,
        is_administrator ${integer} not null check (is_administrator in (0, 1)),
        created_at ${integer} not null,
        disabled_at ${integer},
        last_login_at ${integer}
      ) ${tableEnd}`,
      `create table sessions (
        id ${id} primary key,
        user_id ${id} not null references users (id) on delete cascade,
        refresh_digest ${bytes} not null unique,
        created_at ${integer} not null,
        refreshed_at ${integer} not null,
        refresh_expires_at ${integer} not null,
        revoked_at ${integer},
        revoked_because ${text}
      ) ${tableEnd}`,
      `create index sessions_by_user on sessions (user_id)`,
      `create table spent_refresh_tokens (
        digest ${bytes} primary key,
        session_id ${id} not null references sessions (id) on delete cascade,
        spent_at ${integer} not null,
        sealed_successor ${bytes}
      ) ${tableEnd}`,
      `create index spent_refresh_tokens_by_session on spent_refresh_tokens (session_id)`,
      `create index spent_refresh_tokens_by_time on spent_refresh_tokens (spent_at)`,
      `create index spent_refresh_tokens_sealed on spent_refresh_tokens (spent_at)
        where sealed_successor is not null`,
      `create table signing_keys (
        id ${id} primary key,
        private_key ${bytes} not null,
        created_at ${integer} not null
      ) ${tableEnd}`,
      `create table folders (
        id ${id} primary key,
        parent_id ${id} references folders (id),
        name ${text} not null,
        sort_key ${bytes} not null,
        version ${integer} not null,
        created_at ${integer} not null,
        updated_at ${integer} not null
      ) ${tableEnd}`,
      `create unique index folders_by_name on folders (parent_id, name)`,
      `create index folders_in_order on folders (parent_id, sort_key, id)`,
    ],
  },
];

const lastTaken = sql<
  object,
  { number: number | null }
>`select max(number) as number from espalier_migrations`;
const remember = sql<{ number: number; name: string; now: number }>`
  insert into espalier_migrations (number, name, applied_at) values (${'number'}, ${'name'}, ${'now'})`;

/** Takes the steps that are missing, all or none. Safe when several processes start at once: one does it. */
export async function migrate(database: Database, clock: Clock): Promise<void> {
  await database.transaction(async (transaction) => {
    const taken = await stepsTaken(transaction, database.columnTypes);
    if (taken > migrations.length) {
      throw new StartError(
        `The database is of a newer Espalier (schema ${taken}; this program knows ${migrations.length}). Start the newer program, or restore a backup made by this one.`,
      );
    }
    for (const [place, migration] of migrations.entries()) {
      const number = place + 1;
      if (number <= taken) continue;
      for (const text of migration.statements(database.columnTypes)) await transaction.define(text);
      await transaction.run(remember, { number, name: migration.name, now: clock.now() });
    }
  });
}

async function stepsTaken(transaction: Transaction, types: ColumnTypes): Promise<number> {
  const tables = await transaction.tableNames();
  if (tables.includes('espalier_migrations')) return (await transaction.get(lastTaken, {}))?.number ?? 0;
  if (tables.length > 0) {
    throw new StartError(
      'The database holds the tables of another program. Give Espalier a database of its own.',
    );
  }
  await transaction.define(
    `create table espalier_migrations (
      number ${types.integer} primary key,
      name ${types.text} not null,
      applied_at ${types.integer} not null
    ) ${types.tableEnd}`,
  );
  return 0;
}
