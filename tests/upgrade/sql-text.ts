/**
 * A PostgreSQL database as a text of statements that make it again: what the migrations of this program run, and the rows.
 * PostgreSQL's own tool for it is not among the programs that the tests bring.
 */

import pg from 'pg';
import { missingSteps } from '../../server/src/database/migrations.ts';
import { openAsItIs } from '../../server/src/database/open-database.ts';

/** `empty` is another database, with nothing in it. */
export async function toSqlText(url: string, empty: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await tablesInOrder(client);
    const rows: string[] = [];
    for (const table of tables) rows.push(...(await rowsOf(client, table)));
    return [
      ...(await definitions(empty)),
      // What the migrations themselves have put there.
      ...tables.toReversed().map((table) => `delete from ${table}`),
      ...rows,
    ]
      .map((statement) => `${statement};\n`)
      .join('');
  } finally {
    await client.end();
  }
}

async function definitions(empty: string): Promise<readonly string[]> {
  const database = await openAsItIs(empty);
  try {
    const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
    return steps.flatMap(({ statements }) => statements);
  } finally {
    await database.close();
  }
}

/** What others refer to comes before them. */
async function tablesInOrder(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() order by tablename`,
  );
  const { rows: references } = await client.query<{ from: string; to: string }>(
    `select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
     where contype = 'f' and conrelid <> confrelid`,
  );
  const ordered: string[] = [];
  const take = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const { from, to } of references) if (from === name) take(to);
    ordered.push(name);
  };
  for (const { name } of tables) take(name);
  return ordered;
}

/** In one statement: rows may refer to later ones of the same table. */
async function rowsOf(client: pg.Client, table: string): Promise<string[]> {
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
