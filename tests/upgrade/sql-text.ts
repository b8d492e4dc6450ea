/**
 * Dumps a PostgreSQL database as SQL text: the statements of the migrations, then the rows. Does not need `pg_dump`,
 * which the tests do not install.
 */

import pg from 'pg';
import { missingSteps, openWithoutMigrating } from '../../server/src/database/open-database.ts';

/** `empty` is the URL of an empty database. */
export async function dumpAsSql(url: string, emptyUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await tablesInOrder(client);
    const rows: string[] = [];
    for (const table of tables) rows.push(...(await dumpRows(client, table)));
    return [
      ...(await readDefinitions(emptyUrl)),
      // The migrations also insert rows.
      ...tables.toReversed().map((table) => `delete from ${table}`),
      ...rows,
    ]
      .map((statement) => `${statement};\n`)
      .join('');
  } finally {
    await client.end();
  }
}

async function readDefinitions(emptyUrl: string): Promise<readonly string[]> {
  const database = await openWithoutMigrating(emptyUrl);
  try {
    const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
    return steps.flatMap(({ statements }) => statements);
  } finally {
    await database.close();
  }
}

/** Sorts the tables so that a referenced table comes before the tables that refer to it. */
async function tablesInOrder(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() order by tablename`,
  );
  const { rows: references } = await client.query<{ from: string; to: string }>(
    `select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
     where contype = 'f' and conrelid <> confrelid`,
  );
  const tablesInOrder: string[] = [];
  const add = (name: string): void => {
    if (tablesInOrder.includes(name)) return;
    for (const { from, to } of references) if (from === name) add(to);
    tablesInOrder.push(name);
  };
  for (const { name } of tables) add(name);
  return tablesInOrder;
}

/** Inserts all rows with one statement, because rows may refer to later rows of the same table. */
async function dumpRows(client: pg.Client, table: string): Promise<string[]> {
  const { rows: columns } = await client.query<{ name: string }>(
    `select quote_ident(column_name) as name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [table],
  );
  const names = columns.map(({ name }) => name);
  const literals = names.map((name) => `quote_nullable(${name}::text)`).join(` || ', ' || `);
  const { rows } = await client.query<{ text: string }>(
    `select '(' || ${literals} || ')' as text from ${table} order by 1`,
  );
  if (rows.length === 0) return [];
  return [`insert into ${table} (${names.join(', ')}) values\n${rows.map(({ text }) => text).join(',\n')}`];
}
