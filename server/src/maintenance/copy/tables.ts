/**
 * Every table of an installation: its columns, and the statements that read and write its rows in pages. The digest of a row is
 * the same on every database. A test compares this list with the schema that the migrations create.
 */

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../database/database.ts';
import type { Part, Statement } from '../../database/statement.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** Reads the rows in key order: the first page, and the page after a row. */
interface Paging {
  readonly first: Statement<{ limit: number }, Row>;
  readonly next: Statement<Row & { limit: number }, Row>;
}

interface TableOptions {
  /** The column that refers to a row of the same table, possibly a later one. */
  readonly selfReference?: string;
  /** The migrations insert its only row. */
  readonly hasOneRow?: true;
  /** Excludes rows that belong to one database only. */
  readonly where?: string;
}

export type Table = ReturnType<typeof defineTable>;

/** A table comes after the tables that it refers to. The list is created once, because a database prepares each statement object once. */
export const tables: readonly Table[] = [
  defineTable('settings', 'name', 'name value', { where: `name <> 'copying'` }),
  defineTable(
    'users',
    'id',
    `id username username_key password_hash is_administrator created_at disabled_at last_login_at
     kind second_factor_at`,
  ),
  defineTable(
    'sessions',
    'id',
    `id user_id refresh_digest created_at refreshed_at refresh_expires_at revoked_at revoked_because
     address agent`,
  ),
  defineTable(
    'spent_refresh_tokens',
    'digest',
    `digest session_id spent_at sealed_successor address agent replays replayed_at replay_address
     replay_agent`,
  ),
  defineTable('user_identities', 'id', 'id user_id issuer subject name created_at last_used_at'),
  defineTable(
    'single_sign_on_sessions',
    'session_id',
    'session_id identity_id sid sealed_refresh_token checked_at',
  ),
  defineTable('single_sign_on_logouts', 'token_digest', 'token_digest issuer subject sid received_at'),
  defineTable('totp_secrets', 'user_id', 'user_id secret sealed_with last_step created_at'),
  defineTable('recovery_codes', 'user_id digest', 'user_id digest used_at'),
  defineTable(
    'passkeys',
    'id',
    `id user_id credential_id public_key counter transports relying_party is_synced name created_at
     last_used_at`,
  ),
  defineTable('spent_challenges', 'digest', 'digest expires_at'),
  defineTable('signing_keys', 'id', 'id private_key created_at signs_from sealed_with public_key'),
  defineTable(
    'folders',
    'id',
    `id parent_id name sort_key version created_at updated_at title icon description properties
     child_count height number folded_name folded_title detached_at detached_from detached_because`,
    { selfReference: 'parent_id' },
  ),
  defineTable(
    'api_keys',
    'id',
    `id user_id name identifier secret_digest level is_administrator folder_id networks created_at created_by
     expires_at revoked_at last_used_at last_used_address`,
  ),
  defineTable('user_groups', 'id', 'id name name_key created_at'),
  defineTable('group_members', 'group_id user_id', 'group_id user_id'),
  defineTable('grants', 'folder_id subject_id', 'folder_id subject_id subject_kind level granted_at'),
  defineTable('personal_folders', 'user_id kind folder_id', 'user_id kind folder_id marked_at'),
  defineTable(
    'journal',
    'number',
    `number at kind changes_access by_user_id folder_id user_id group_id session_id path_ids old_path_ids
     path former_path before after nonce by_api_key_id`,
  ),
  defineTable(
    'idempotency_keys',
    'user_id key_digest',
    'user_id key_digest change_digest result journal_number journal_nonce created_at',
  ),
  defineTable(
    'sign_ins',
    'id',
    'id at last_at count user_id session_id username method result address agent detail',
  ),
  defineTable('deleted_users', 'id', 'id deleted_at'),
  defineTable('journal_counter', 'id', 'id number access_number nonce', { hasOneRow: true }),
  defineTable('folder_numbers', 'id', 'id last', { hasOneRow: true }),
];

/** Tables that are not copied, and the reason. */
export const tablesNotCopied: Readonly<Record<string, string>> = {
  espalier_migrations: 'records the migrations of one database',
  totp_enrolments: 'started enrolments, which expire after minutes; users start them again',
  login_failures: 'throttles logins for minutes; a copy starts with no recorded failures',
  single_sign_on_attempts: 'sign-ins that have begun; users start them again after a copy',
  single_sign_on_codes: 'one-time codes, which expire after a minute',
  folder_trigrams: 'the search index of SQLite, which is built from the folders',
};

/**
 * `keyNames` is the primary key and `columnNames` are all columns, including the key, separated by spaces. Rows are copied and
 * compared in the order of the key, which is the same on every database.
 */
function defineTable(name: string, keyNames: string, columnNames: string, options: TableOptions = {}) {
  const [key, columns] = [keyNames.split(' '), columnNames.split(/\s+/)];
  const { selfReference, hasOneRow = false, where = 'true' } = options;
  const order = quote(key);
  const paging = (selected: string, condition = where): Paging => {
    const select = `select ${selected} from ${name} where ${condition}`;
    const end: Part[] = [` order by ${order} limit `, parameter('limit')];
    return {
      first: { parts: [select, ...end] },
      next: { parts: [`${select} and (${order}) > (`, ...parameters(key), ')', ...end] },
    };
  };
  const updateOf = (changed: readonly string[]): Statement<Row, never> => ({
    parts: [`update ${name} set `, ...equations(changed, ', '), ' where ', ...equations(key, ' and ')],
  });
  const insert: Statement<Row, never> = {
    parts: [`insert into ${name} (${quote(columns)}) values (`, ...parameters(columns), ')'],
  };
  const count: Statement<object, { count: number }> = {
    parts: [`select count(*) as count from ${name} where ${where}`],
  };
  const others = columns.filter((column) => column !== selfReference);
  const id = key[0]!;
  const backReference = `case when ${selfReference} < ${id} then ${selfReference} end as ${selfReference}`;
  return {
    name,
    key,
    columns,
    hasOneRow,
    fullRows: paging(quote(columns)),
    // Reads null for a self-reference to a later row, so that rows can be inserted in key order.
    rowsToInsert: paging(selfReference ? `${quote(others)}, ${backReference}` : quote(columns)),
    count,
    insert,
    // Sets every column except the key.
    update: updateOf(columns.filter((column) => !key.includes(column))),
    // For rows that refer to a later row: reads the key and the reference, and sets the reference.
    references: selfReference && {
      laterRows: paging(quote([...key, selfReference]), `${selfReference} > ${id}`),
      set: updateOf([selfReference]),
    },
  };
}

const pageRows = 1_000;

/** Every page except the last is full. */
export async function* readPages(
  reader: Reader,
  { first, next }: Paging,
): AsyncGenerator<readonly Row[], undefined> {
  let rows = await reader.all(first, { limit: pageRows });
  while (rows.length > 0) {
    yield rows;
    if (rows.length < pageRows) return;
    // Lets the process handle signals.
    await setImmediate();
    rows = await reader.all(next, { ...rows.at(-1), limit: pageRows });
  }
}

export async function countRows(reader: Reader, table: Table): Promise<number> {
  return (await reader.get(table.count, {}))!.count;
}

/** Counts the rows of all tables, except tables that always have one row. */
export async function countCopiedRows(reader: Reader): Promise<number> {
  let count = 0;
  for (const table of tables) if (!table.hasOneRow) count += await countRows(reader, table);
  return count;
}

export async function readOnlyRow(reader: Reader, table: Table): Promise<Row> {
  const [row] = await reader.all(table.fullRows.first, { limit: 1 });
  if (!row) throw new Error(`The table ${table.name} has lost its only row.`);
  return row;
}

/** Some column names are SQL keywords. */
function quote(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

function parameter(name: string): Part {
  return { kind: 'parameter', name };
}

function parameters(names: readonly string[]): Part[] {
  return names.flatMap((name, index) => [index === 0 ? '' : ', ', parameter(name)]);
}

function equations(columns: readonly string[], separator: string): Part[] {
  return columns.flatMap((column, index) => [
    `${index === 0 ? '' : separator}"${column}" = `,
    parameter(column),
  ]);
}

export interface TableDigest {
  readonly count: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The SHA-256 of one line of JSON for each row. `onRows` is called for each page. */
export async function digestRows(
  pages: AsyncIterable<readonly Row[]>,
  columns: readonly string[],
  onRows: (count: number) => void,
): Promise<TableDigest> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const rows of pages) {
    hash.update(rows.map((row) => formatRow(row, columns)).join(''));
    count += rows.length;
    onRows(rows.length);
  }
  return { count, sha256: hash.digest('hex') };
}

export function formatRow(row: Row, columns: readonly string[]): string {
  return `${JSON.stringify(columns.map((column) => toJson(row[column]!)))}\n`;
}

/** Bytes become an array with their base64: no other value is an array. */
function toJson(value: Value): string | number | null | [base64: string] {
  if (!(value instanceof Uint8Array)) return value;
  return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
}
