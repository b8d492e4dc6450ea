/**
 * Every table and column of an installation. A table comes after the tables that it refers to. A test compares this list with
 * the schema that the migrations create.
 */

export interface CopiedTable {
  readonly name: string;
  /** The primary key. Rows are copied and compared in its order, which is the same on every database. */
  readonly key: readonly string[];
  /** All columns, including the key. */
  readonly columns: readonly string[];
  /** The column that refers to a row of the same table, which may come later. */
  readonly selfReference?: string;
  /** The migrations insert its only row. */
  readonly hasOneRow?: true;
  /** Excludes rows that belong to one database only. */
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
    selfReference: 'parent_id',
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

/** Tables that are not copied, and the reason. */
export const tablesNotCopied: Readonly<Record<string, string>> = {
  espalier_migrations: 'records the migrations of one database',
  login_failures: 'throttles logins for minutes; a copy starts without failures',
  folder_trigrams: 'the search index of SQLite, which is built from the folders',
};
