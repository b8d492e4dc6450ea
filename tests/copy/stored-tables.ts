/** Reads the contents of a database without using the code of `espalier copy`. */

import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import type { Database } from '../../server/src/database/database.ts';
import { sql, type Statement } from '../../server/src/database/statement.ts';

export interface StoredTable {
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

export type Tables = Readonly<Record<string, StoredTable>>;
export type Rows = Readonly<Record<string, readonly unknown[]>>;

interface StoredColumn {
  readonly table: string;
  readonly column: string;
  /** The position in the primary key, from 1; 0 for other columns. */
  readonly keyPosition: number;
}

/** https://www.sqlite.org/pragma.html#pragma_table_info. Excludes the internal tables of virtual tables. */
const sqliteColumns = sql<object, StoredColumn>`
  select listed.name as "table", columns.name as "column", columns.pk as "keyPosition"
  from pragma_table_list as listed join pragma_table_info(listed.name) as columns
  where listed.schema = 'main' and listed.type in ('table', 'virtual') and listed.name not like 'sqlite%'
  order by listed.name, columns.cid`;

const postgresColumns = sql<object, StoredColumn>`
  select columns.table_name::text as "table", columns.column_name::text as "column",
    coalesce(array_position(pg_index.indkey::int2[], columns.ordinal_position::int2) + 1, 0)::bigint as "keyPosition"
  from information_schema.columns
  left join pg_index on indisprimary and indrelid = format('%I', columns.table_name)::regclass
  where columns.table_schema = current_schema()
  order by columns.table_name, columns.ordinal_position`;

export async function withExistingDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openWithoutMigrating(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export async function readSchema(database: Database): Promise<Tables> {
  const statement = database.dialect.id === 'uuid' ? postgresColumns : sqliteColumns;
  const columnRows = await database.all(statement, {});
  return Object.fromEntries(
    [...Map.groupBy(columnRows, ({ table }) => table)].map(([table, columns]) => [
      table,
      {
        columns: columns.map(({ column }) => column),
        key: columns
          .filter(({ keyPosition }) => keyPosition > 0)
          .toSorted((one, other) => one.keyPosition - other.keyPosition)
          .map(({ column }) => column),
      },
    ]),
  );
}

const internalTables = [
  'espalier_migrations',
  'folder_trigrams',
  'login_failures',
  'single_sign_on_attempts',
  'single_sign_on_codes',
  'totp_enrolments',
];

/** Reads all rows of all tables as text, except internal tables. */
export async function readEverything(url: string): Promise<Rows> {
  return withExistingDatabase(url, async (database) => {
    const rows: Record<string, readonly unknown[]> = {};
    for (const [table, { columns }] of Object.entries(await readSchema(database))) {
      if (internalTables.includes(table)) continue;
      const names = columns.toSorted().map((column) => `"${column}"`);
      const statement: Statement<object, Record<string, unknown>> = {
        parts: [`select ${names.join(', ')} from ${table}`],
      };
      rows[table] = (await database.all(statement, {})).map((row) => JSON.stringify(row)).toSorted();
    }
    return rows;
  });
}
