/** The schema, as a list of steps that only grows, and the step that a database has reached. */

import { StartError } from '../config/start-error.ts';
import type { Dialect, Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';

interface Migration {
  readonly name: string;
  readonly statements: (dialect: Dialect) => readonly string[];
}

/** The number of a migration is its index plus 1. Never edit a released one. */
export const migrations: readonly Migration[] = [
  {
    name: 'accounts, sessions, signing keys and the tree',
    statements: ({ id, text, bytes, integer, tableEnd }) => [
      `create table espalier_migrations (
        number ${integer} primary key,
        name ${text} not null,
        applied_at ${integer} not null
      ) ${tableEnd}`,
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
  {
    name: 'details of folders, trash, search, groups, grants and the journal counter',
    statements: (dialect) => [...addFolderDetails(dialect), ...createGroupsAndGrants(dialect)],
  },
  {
    name: 'the journal',
    statements: ({ id, text, integer, tableEnd }) => [
      `create table journal (
        number ${integer} primary key,
        at ${integer} not null,
        kind ${text} not null,
        changes_access ${integer} not null check (changes_access in (0, 1)),
        by_user_id ${id},
        folder_id ${id},
        user_id ${id},
        group_id ${id},
        session_id ${id},
        way ${text},
        old_way ${text},
        before ${text},
        after ${text},
        nonce ${integer} not null
      ) ${tableEnd}`,
      `alter table journal_counter add column nonce ${integer} not null default 0`,
      `create index journal_by_time on journal (at, number)`,
      `create index journal_by_kind on journal (kind, number)`,
      ...['by_user_id', 'folder_id', 'user_id', 'group_id'].map(
        (column) =>
          `create index journal_by_${column} on journal (${column}, number) where ${column} is not null`,
      ),
      // Partial indexes, because few entries move folders or change access.
      `create index journal_moves on journal (folder_id, number)
        where kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER')`,
      `create index journal_access on journal (user_id, number)
        where (changes_access = 1 or kind = 'REVOKE_ACCESS')`,
      `create index sessions_revoked on sessions (revoked_at) where revoked_at is not null`,
      `create table deleted_users (
        id ${id} primary key,
        deleted_at ${integer} not null
      ) ${tableEnd}`,
    ],
  },
  {
    name: 'when a signing key begins to sign',
    statements: ({ integer }) => [
      // Existing keys are active from the beginning.
      `alter table signing_keys add column signs_from ${integer} not null default 0`,
    ],
  },
  {
    name: 'failed logins',
    statements: ({ bytes, integer, tableEnd }) => [
      `create table login_failures (
        digest ${bytes} primary key,
        failures ${integer} not null,
        started_at ${integer} not null,
        failed_at ${integer} not null
      ) ${tableEnd}`,
      `create index login_failures_by_time on login_failures (started_at)`,
    ],
  },
  {
    name: 'sealed signing keys, and what is known of each refresh',
    statements: ({ text, bytes, integer }) => [
      // The name of the master key that encrypts it; null if it is not encrypted.
      `alter table signing_keys add column sealed_with ${text}`,
      // With it, a process that cannot decrypt the private key can still verify. The next start fills it in for existing keys.
      `alter table signing_keys add column public_key ${bytes}`,
      // The client that spent the token, how many times it was used again, and the last client that did.
      ...[
        `address ${text}`,
        `agent ${text}`,
        `replays ${integer} not null default 0`,
        `replayed_at ${integer}`,
        `replay_address ${text}`,
        `replay_agent ${text}`,
      ].map((column) => `alter table spent_refresh_tokens add column ${column}`),
      `drop index spent_refresh_tokens_by_session`,
      `create index spent_refresh_tokens_by_session on spent_refresh_tokens (session_id, spent_at)`,
      `create index sessions_by_expiry on sessions (refresh_expires_at)`,
    ],
  },
  {
    name: 'changes under a key of the client',
    statements: ({ id, text, bytes, integer, tableEnd }) => [
      `create table done_changes (
        user_id ${id} not null references users (id) on delete cascade,
        digest ${bytes} not null,
        change_digest ${bytes} not null,
        result ${text} not null,
        number ${integer} not null,
        nonce ${integer} not null,
        done_at ${integer} not null,
        primary key (user_id, digest)
      ) ${tableEnd}`,
      `create index done_changes_by_time on done_changes (done_at)`,
    ],
  },
  {
    name: 'lists of folders out of an index alone',
    statements: ({ listIndex }) => listIndex,
  },
  {
    name: 'pages of sessions and grants in the order of an index',
    statements: () => [
      `create index sessions_living on sessions (user_id, created_at, id) where revoked_at is null`,
      `drop index grants_by_subject`,
      `create index grants_by_subject on grants (subject_id, granted_at, folder_id)`,
      `create index grants_by_folder on grants (folder_id, granted_at, subject_id)`,
    ],
  },
  {
    name: 'a search index with spaces',
    statements: ({ searchIndexWithSpaces: [create] }) => create!,
  },
  {
    name: 'without the search index that it replaces',
    statements: ({ searchIndexWithSpaces: [, drop] }) => drop!,
  },
  {
    name: 'standard names of tables, columns and indexes',
    statements: ({ renameIndex }) => [
      // The counter comes first, because every change locks it first. Another order could deadlock with a node that still writes.
      `alter table journal_counter rename column "only" to id`,
      `alter table folder_numbers rename column "only" to id`,
      `alter table journal rename column way to path_ids`,
      `alter table journal rename column old_way to old_path_ids`,
      `alter table done_changes rename to idempotency_keys`,
      ...Object.entries({
        digest: 'key_digest',
        number: 'journal_number',
        nonce: 'journal_nonce',
        done_at: 'created_at',
      }).map(([from, to]) => `alter table idempotency_keys rename column ${from} to ${to}`),
      ...renameIndex('done_changes_by_time', 'idempotency_keys_by_time', `idempotency_keys (created_at)`),
      ...renameIndex(
        'sessions_living',
        'sessions_active',
        `sessions (user_id, created_at, id) where revoked_at is null`,
      ),
    ],
  },
  {
    name: 'paths of journal entries',
    // Existing entries have no paths, because the folder names of that time are not stored.
    statements: ({ text }) => [
      `alter table journal add column path ${text}`,
      `alter table journal add column former_path ${text}`,
    ],
  },
  {
    name: 'favorites and recent folders of each user',
    statements: ({ id, text, integer, tableEnd }) => [
      `create table personal_folders (
        user_id ${id} not null references users (id) on delete cascade,
        kind ${text} not null check (kind in ('favorite', 'recent')),
        folder_id ${id} not null references folders (id) on delete cascade,
        marked_at ${integer} not null,
        primary key (user_id, kind, folder_id)
      ) ${tableEnd}`,
      `create index personal_folders_by_folder on personal_folders (folder_id)`,
      // A partial index, because few users are administrators.
      `create index users_administrators on users (username_key) where is_administrator = 1`,
    ],
  },
  {
    name: 'the history of sign-ins',
    statements: ({ id, text, integer, tableEnd }) => [
      // Without foreign keys, because the history of a deleted user and of an ended session remains.
      `create table sign_ins (
        id ${id} primary key,
        at ${integer} not null,
        last_at ${integer} not null,
        count ${integer} not null,
        user_id ${id},
        session_id ${id},
        username ${text},
        method ${text} not null,
        result ${text} not null,
        address ${text},
        agent ${text},
        detail ${text}
      ) ${tableEnd}`,
      `create index sign_ins_by_time on sign_ins (at, id)`,
      `create index sign_ins_by_user on sign_ins (user_id, at, id) where user_id is not null`,
      `create index sign_ins_by_kind on sign_ins (method, result, at, id)`,
    ],
  },
  {
    name: 'service accounts and API keys',
    statements: ({ id, text, bytes, integer, tableEnd }) => [
      `alter table users add column kind ${text} not null default 'PERSON' check (kind in ('PERSON', 'SERVICE'))`,
      // No foreign key to the folder: a key whose folder was purged must not lose its limit.
      `create table api_keys (
        id ${id} primary key,
        user_id ${id} not null references users (id) on delete cascade,
        name ${text} not null,
        identifier ${text} not null unique,
        secret_digest ${bytes} not null,
        level ${integer} not null check (level between 1 and 3),
        is_administrator ${integer} not null check (is_administrator in (0, 1)),
        folder_id ${id},
        networks ${text},
        created_at ${integer} not null,
        created_by ${id},
        expires_at ${integer},
        revoked_at ${integer},
        last_used_at ${integer},
        last_used_address ${text}
      ) ${tableEnd}`,
      `create index api_keys_by_user on api_keys (user_id, created_at, id)`,
      `create index api_keys_by_creation on api_keys (created_at, id)`,
      `create index api_keys_ended on api_keys (coalesce(revoked_at, expires_at))
        where revoked_at is not null or expires_at is not null`,
      `alter table journal add column by_api_key_id ${id}`,
    ],
  },
  {
    name: 'single sign-on',
    statements: ({ id, text, bytes, integer, tableEnd }) => [
      `create table user_identities (
        id ${id} primary key,
        user_id ${id} not null references users (id) on delete cascade,
        issuer ${text} not null,
        subject ${text} not null,
        name ${text},
        created_at ${integer} not null,
        last_used_at ${integer}
      ) ${tableEnd}`,
      `create unique index user_identities_by_subject on user_identities (issuer, subject)`,
      `create index user_identities_by_user on user_identities (user_id, created_at, id)`,
      // Sign-ins that have begun. Only the state, which is stored as a digest, decrypts `sealed`.
      `create table single_sign_on_attempts (
        state_digest ${bytes} primary key,
        challenge ${text} not null,
        redirect_uri ${text},
        return_to ${text},
        address_range ${text} not null,
        sealed ${bytes} not null,
        created_at ${integer} not null,
        expires_at ${integer} not null
      ) ${tableEnd}`,
      `create index single_sign_on_attempts_by_time on single_sign_on_attempts (expires_at)`,
      `create index single_sign_on_attempts_by_address on single_sign_on_attempts (address_range, expires_at)`,
      `create table single_sign_on_codes (
        code_digest ${bytes} primary key,
        challenge ${text} not null,
        sealed ${bytes} not null,
        created_at ${integer} not null,
        expires_at ${integer} not null
      ) ${tableEnd}`,
      `create index single_sign_on_codes_by_time on single_sign_on_codes (expires_at)`,
      // The session of the provider that a session began with.
      `create table single_sign_on_sessions (
        session_id ${id} primary key references sessions (id) on delete cascade,
        identity_id ${id} not null references user_identities (id) on delete cascade,
        sid ${text},
        sealed_refresh_token ${bytes},
        checked_at ${integer} not null
      ) ${tableEnd}`,
      `create index single_sign_on_sessions_by_identity on single_sign_on_sessions (identity_id)`,
      `create index single_sign_on_sessions_by_sid on single_sign_on_sessions (sid) where sid is not null`,
      // Messages of the provider that users logged out there, so that none is used twice.
      `create table single_sign_on_logouts (
        token_digest ${bytes} primary key,
        issuer ${text} not null,
        subject ${text},
        sid ${text},
        received_at ${integer} not null
      ) ${tableEnd}`,
      `create index single_sign_on_logouts_by_time on single_sign_on_logouts (received_at)`,
    ],
  },
  { name: 'second factors', statements: createSecondFactors },
  {
    name: 'the expiry of failed logins',
    statements: ({ bytes, integer, tableEnd }) => [
      // Earlier failures count only for minutes, so they are not copied.
      `drop table login_failures`,
      `create table login_failures (
        digest ${bytes} primary key,
        failures ${integer} not null,
        started_at ${integer} not null,
        failed_at ${integer} not null,
        expires_at ${integer} not null
      ) ${tableEnd}`,
      `create index login_failures_by_expiry on login_failures (expires_at)`,
    ],
  },
];

function createSecondFactors({ id, text, bytes, integer, tableEnd }: Dialect): readonly string[] {
  const userId = `${id} not null references users (id) on delete cascade`;
  return [
    // Null for users whose password is enough. A login reads and checks it together with the password, without another statement.
    `alter table users add column second_factor_at ${integer}`,
    `create table totp_secrets (
      user_id ${id} primary key references users (id) on delete cascade,
      secret ${bytes} not null,
      sealed_with ${text},
      last_step ${integer} not null,
      created_at ${integer} not null
    ) ${tableEnd}`,
    `create table recovery_codes (
      user_id ${userId},
      digest ${bytes} not null,
      used_at ${integer},
      primary key (user_id, digest)
    ) ${tableEnd}`,
    `create table passkeys (
      id ${id} primary key,
      user_id ${userId},
      credential_id ${text} not null unique,
      public_key ${bytes} not null,
      counter ${integer} not null,
      transports ${text} not null,
      relying_party ${text} not null,
      is_synced ${integer} not null check (is_synced in (0, 1)),
      name ${text} not null,
      created_at ${integer} not null,
      last_used_at ${integer}
    ) ${tableEnd}`,
    `create index passkeys_by_user on passkeys (user_id, created_at, id)`,
    `create table totp_enrolments (
      digest ${bytes} primary key,
      user_id ${userId},
      password_digest ${bytes},
      secret ${bytes} not null,
      sealed_with ${text},
      expires_at ${integer} not null
    ) ${tableEnd}`,
    `create index totp_enrolments_by_user on totp_enrolments (user_id, expires_at)`,
    `create index totp_enrolments_by_time on totp_enrolments (expires_at)`,
    `create table spent_challenges (
      digest ${bytes} primary key,
      expires_at ${integer} not null
    ) ${tableEnd}`,
    `create index spent_challenges_by_time on spent_challenges (expires_at)`,
  ];
}

function addFolderDetails({ id, text, integer, tableEnd, searchIndex }: Dialect): readonly string[] {
  return [
    ...[
      `title ${text}`,
      `icon ${text}`,
      `description ${text}`,
      `properties ${text}`,
      `child_count ${integer} not null default 0`,
      `height ${integer} not null default 0`,
      // For search. The next start fills in the folders of an older schema.
      `number ${integer}`,
      `folded_name ${text}`,
      `folded_title ${text}`,
      // A folder that was removed from the tree has no parent: these columns record when, from where and why.
      `detached_at ${integer}`,
      `detached_from ${id}`,
      `detached_because ${text} check (detached_because in ('delete', 'import', 'purge'))`,
    ].map((column) => `alter table folders add column ${column}`),
    `update folders set child_count = (
        select count(*) from folders as child where child.parent_id = folders.id)`,
    `update folders set height = (
        with recursive inside (id, level) as (
          select folders.id, 0
          union all
          select child.id, inside.level + 1 from inside join folders as child on child.parent_id = inside.id
        )
        select max(level) from inside)`,
    `create unique index folders_by_number on folders (number)`,
    `create index folders_not_numbered on folders (id) where number is null`,
    `create index folders_root on folders (id) where parent_id is null and detached_at is null`,
    `create index folders_detached on folders (detached_because, detached_at, id) where detached_at is not null`,
    // Ids grow with time: the order of ids is the order of creation.
    `create index folders_by_creation on folders (parent_id, id)`,
    `create index folders_by_update on folders (parent_id, updated_at, id)`,
    `create index folders_by_folded_name on folders (folded_name, id)`,
    `create index folders_by_folded_title on folders (folded_title, id) where folded_title is not null`,
    `create table folder_numbers (
        "only" ${integer} primary key check ("only" = 1),
        last ${integer} not null
      ) ${tableEnd}`,
    `insert into folder_numbers ("only", last) values (1, 0)`,
    ...searchIndex,
  ];
}

function createGroupsAndGrants({ id, text, integer, tableEnd }: Dialect): readonly string[] {
  return [
    `create table user_groups (
        id ${id} primary key,
        name ${text} not null,
        name_key ${text} not null unique,
        created_at ${integer} not null
      ) ${tableEnd}`,
    `create table group_members (
        group_id ${id} not null references user_groups (id) on delete cascade,
        user_id ${id} not null references users (id) on delete cascade,
        primary key (group_id, user_id)
      ) ${tableEnd}`,
    `create index group_members_by_user on group_members (user_id, group_id)`,
    `create table grants (
        folder_id ${id} not null references folders (id) on delete cascade,
        subject_id ${id} not null,
        subject_kind ${text} not null check (subject_kind in ('user', 'group')),
        level ${integer} not null check (level between 0 and 3),
        granted_at ${integer} not null,
        primary key (folder_id, subject_id)
      ) ${tableEnd}`,
    `create index grants_by_subject on grants (subject_id, folder_id)`,
    `create table journal_counter (
        "only" ${integer} primary key check ("only" = 1),
        number ${integer} not null,
        access_number ${integer} not null
      ) ${tableEnd}`,
    `insert into journal_counter ("only", number, access_number) values (1, 0, 0)`,
    `alter table sessions add column address ${text}`,
    `alter table sessions add column agent ${text}`,
    `create index sessions_by_creation on sessions (created_at, id)`,
  ];
}

const selectLastStep = sql<
  object,
  { number: number | null }
>`select max(number) as number from espalier_migrations`;

/** The number of the last step that the database has recorded. Requires a database of this program. */
export async function readSchemaVersion(reader: Pick<Reader, 'get'>): Promise<number> {
  return (await reader.get(selectLastStep, {}))?.number ?? 0;
}

/** Like `readSchemaVersion()`, but refuses a database of another program or of a newer version. */
export async function requireSchemaVersion(reader: Pick<Transaction, 'get' | 'tableNames'>): Promise<number> {
  const tables = await reader.tableNames();
  if (tables.length === 0) return 0;
  if (!tables.includes('espalier_migrations')) {
    throw new StartError('The database contains tables of another program. Give Espalier its own database.');
  }
  const version = await readSchemaVersion(reader);
  if (version > migrations.length) {
    throw new StartError(
      `The database has the schema of a newer Espalier (schema ${version}; this program has ${migrations.length}). Start the newer version, or restore a backup that this version made.`,
    );
  }
  return version;
}
