/**
 * What an installation consists of: every table and every column of it, in an order in which no row comes before one
 * that it refers to. A test compares this list with the real schema, so that nothing new is left behind.
 */

export interface CopiedTable {
  readonly name: string;
  /** The primary key. Its order is the same on every database: rows are copied and compared in it. */
  readonly key: readonly string[];
  /** All of them, those of the key too. */
  readonly columns: readonly string[];
  /** This column refers to a row of the same table, which may come later. */
  readonly innerReference?: string;
  /** The migrations have made its only row. */
  readonly hasOneRow?: true;
  /** Rows that tell of the copying itself belong to one database alone. */
  readonly where?: string;
}

export const copiedTables: readonly CopiedTable[] = [
  { name: 'settings', key: ['name'], columns: ['name', 'value'], where: `name <> 'copying'` },
  {
    name: 'users',
    key: ['id'],
    columns: [
      'id',
      'username',
      'username_key',
      'password_hash',
      'is_administrator',
      'created_at',
      'disabled_at',
      'last_login_at',
    ],
  },
  {
    name: 'sessions',
    key: ['id'],
    columns: [
      'id',
      'user_id',
      'refresh_digest',
      'created_at',
      'refreshed_at',
      'refresh_expires_at',
      'revoked_at',
      'revoked_because',
      'address',
      'agent',
    ],
  },
  {
    name: 'spent_refresh_tokens',
    key: ['digest'],
    columns: [
      'digest',
      'session_id',
      'spent_at',
      'sealed_successor',
      'address',
      'agent',
      'replays',
      'replayed_at',
      'replay_address',
      'replay_agent',
    ],
  },
  {
    name: 'signing_keys',
    key: ['id'],
    columns: ['id', 'private_key', 'created_at', 'signs_from', 'sealed_with', 'public_key'],
  },
  {
    name: 'folders',
    key: ['id'],
    columns: [
      'id',
      'parent_id',
      'name',
      'sort_key',
      'version',
      'created_at',
      'updated_at',
      'title',
      'icon',
      'description',
      'properties',
      'child_count',
      'height',
      'number',
      'folded_name',
      'folded_title',
      'detached_at',
      'detached_from',
      'detached_because',
    ],
    innerReference: 'parent_id',
  },
  { name: 'user_groups', key: ['id'], columns: ['id', 'name', 'name_key', 'created_at'] },
  { name: 'group_members', key: ['group_id', 'user_id'], columns: ['group_id', 'user_id'] },
  {
    name: 'grants',
    key: ['folder_id', 'subject_id'],
    columns: ['folder_id', 'subject_id', 'subject_kind', 'level', 'granted_at'],
  },
  {
    name: 'journal',
    key: ['number'],
    columns: [
      'number',
      'at',
      'kind',
      'changes_access',
      'by_user_id',
      'folder_id',
      'user_id',
      'group_id',
      'session_id',
      'path_ids',
      'old_path_ids',
      'before',
      'after',
      'nonce',
    ],
  },
  {
    name: 'idempotency_keys',
    key: ['user_id', 'key_digest'],
    columns: [
      'user_id',
      'key_digest',
      'change_digest',
      'result',
      'journal_number',
      'journal_nonce',
      'created_at',
    ],
  },
  { name: 'deleted_users', key: ['id'], columns: ['id', 'deleted_at'] },
  {
    name: 'journal_counter',
    key: ['id'],
    columns: ['id', 'number', 'access_number', 'nonce'],
    hasOneRow: true,
  },
  { name: 'folder_numbers', key: ['id'], columns: ['id', 'last'], hasOneRow: true },
];

/** Tables that stay behind, and why. */
export const tablesLeftBehind: Readonly<Record<string, string>> = {
  espalier_migrations: 'tells which steps a database has taken, each for itself',
  login_failures: 'brakes guessing for minutes; a copy begins with a clean slate',
  folder_trigrams: 'the search index of SQLite, which is made from the folders',
};
