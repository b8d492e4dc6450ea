/**
 * API keys: a credential for programs that belongs to a user, with rights that are at most those of the user. The table stores only a
 * digest of the secret. `sessions/api-key-verification.ts` checks keys, `access/` decides their rights.
 */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import {
  isRowId,
  lastId,
  list,
  listForEach,
  readCounts,
  readListsOfEach,
  selectAs,
  sql,
  type ColumnsOf,
  type CountOfEach,
  type ListOfEach,
} from '../database/statement.ts';
import { pruneInBatches, pruneStatements } from '../journal/prune.ts';
import type { KeyedSlice } from './users.ts';

interface KeyRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** The part of the key that is not secret. */
  readonly identifier: string;
  readonly level: 1 | 2 | 3;
  readonly isAdministrator: number;
  readonly folderId: string | null;
  /** A JSON array. */
  readonly networks: string | null;
  readonly createdAt: number;
  readonly createdBy: string | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  readonly lastUsedAddress: string | null;
}

export interface ApiKey extends Omit<KeyRow, 'isAdministrator' | 'networks'> {
  /** Whether the key has the rights of an administrator, if its user is one. */
  readonly isAdministrator: boolean;
  /** The client addresses from which the key works, in CIDR notation. Empty if every address is allowed. */
  readonly networks: readonly string[];
}

/** An active key, a revoked key, or a key that has expired. */
type ApiKeyState = 'ACTIVE' | 'REVOKED' | 'EXPIRED';

export function apiKeyState({ revokedAt, expiresAt }: ApiKey, now: number): ApiKeyState {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** The position of a key in a list, the newest first. */
export type ApiKeyPosition = Pick<ApiKey, 'createdAt' | 'id'>;

const columns: ColumnsOf<KeyRow> = {
  id: 'id',
  userId: 'user_id',
  name: 'name',
  identifier: 'identifier',
  level: 'level',
  isAdministrator: 'is_administrator',
  folderId: 'folder_id',
  networks: 'networks',
  createdAt: 'created_at',
  createdBy: 'created_by',
  expiresAt: 'expires_at',
  revokedAt: 'revoked_at',
  lastUsedAt: 'last_used_at',
  lastUsedAddress: 'last_used_address',
};
const selectKey = sql`select ${selectAs(columns)} from api_keys`;

const findByIds = sql<{ ids: readonly string[] }, KeyRow>`
  ${selectKey} where id in (select value from ${list('ids')})`;
const findById = sql<{ id: string }, KeyRow>`${selectKey} where id = ${'id'}`;

/** A key with the digest of its secret, and whether its user can use it. */
export interface StoredApiKey extends ApiKey {
  readonly secretDigest: Uint8Array;
  readonly isUserDisabled: boolean;
}

const findByIdentifier = sql<
  { identifier: string },
  KeyRow & { secretDigest: Uint8Array; userDisabledAt: number | null }
>`
  select ${selectAs(columns)}, secret_digest as "secretDigest",
    (select disabled_at from users where users.id = api_keys.user_id) as "userDisabledAt"
  from api_keys where identifier = ${'identifier'}`;

const insertKey = sql<KeyRow & { secretDigest: Uint8Array }>`
  insert into api_keys (id, user_id, name, identifier, secret_digest, level, is_administrator, folder_id, networks,
    created_at, created_by, expires_at)
  values (${'id'}, ${'userId'}, ${'name'}, ${'identifier'}, ${'secretDigest'}, ${'level'}, ${'isAdministrator'},
    ${'folderId'}, ${'networks'}, ${'createdAt'}, ${'createdBy'}, ${'expiresAt'})`;
const updateRevoked = sql<{ id: string; now: number }>`
  update api_keys set revoked_at = ${'now'} where id = ${'id'} and revoked_at is null`;
const updateLastUse = sql<ApiKeyUse & { latest: number }>`
  update api_keys set last_used_at = ${'at'}, last_used_address = ${'address'}
  where id = ${'id'} and (last_used_at is null or last_used_at < ${'at'} or last_used_at > ${'latest'})`;
const countForLimits = sql<{ userId: string; now: number; since: number }, ApiKeyCounts>`
  select count(case when revoked_at is null and (expires_at is null or expires_at > ${'now'}) then 1 end) as active,
    count(case when created_at > ${'since'} then 1 end) as "createdSince"
  from api_keys where user_id = ${'userId'}`;

const findRevoked = sql<object, { id: string; at: number }>`
  select id, revoked_at as at from api_keys where revoked_at is not null`;

type PageParameters = ApiKeyPosition & { readonly limit: number };
const isAfter = sql`(created_at, id) < (${'createdAt'}, ${'id'})`;
const newestFirst = sql`created_at desc, id desc`;
const findPage = sql<PageParameters, KeyRow>`
  ${selectKey} where ${isAfter} order by ${newestFirst} limit ${'limit'}`;
const countAll = sql<object, { count: number }>`select count(*) as count from api_keys`;
const pageOfEachUser = sql<PageParameters & { userIds: readonly string[] }, ListOfEach>`
  ${listForEach('userIds', {
    table: 'api_keys',
    columns: Object.values(columns),
    where: sql`user_id = each.value and ${isAfter}`,
    orderBy: newestFirst,
    limit: sql`${'limit'}`,
  })}`;
const countOfEachUser = sql<{ userIds: readonly string[] }, CountOfEach>`
  select user_id as id, count(*) as count from api_keys
  where user_id in (select value from ${list('userIds')}) group by user_id`;

const beforeFirst: ApiKeyPosition = { createdAt: Number.MAX_SAFE_INTEGER, id: lastId };

export function readApiKey(reader: Reader, id: string): PromiseOrValue<ApiKey | undefined> {
  return isRowId(id) ? whenDone(reader.get(findById, { id }), (row) => row && toApiKey(row)) : undefined;
}

/** Reads keys by id. The map has no entry for an unknown id. */
export function readApiKeys(
  reader: Reader,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, ApiKey>> {
  return whenDone(
    reader.all(findByIds, { ids: ids.filter(isRowId) }),
    (rows) => new Map(rows.map((row) => [row.id, toApiKey(row)])),
  );
}

/** Reads a key for a check of its secret. */
export function readApiKeyByIdentifier(
  reader: Reader,
  identifier: string,
): PromiseOrValue<StoredApiKey | undefined> {
  return whenDone(reader.get(findByIdentifier, { identifier }), (row) => {
    if (!row) return undefined;
    const { secretDigest, userDisabledAt, ...key } = row;
    return { ...toApiKey(key), secretDigest, isUserDisabled: userDisabledAt !== null };
  });
}

/** Lists the keys of all users, the newest first. */
export function listApiKeys(
  reader: Reader,
  { after = beforeFirst, limit }: KeyedSlice<ApiKeyPosition>,
): PromiseOrValue<readonly ApiKey[]> {
  return whenDone(reader.all(findPage, { ...after, limit }), (rows) => rows.map(toApiKey));
}

export function countApiKeys(reader: Reader): PromiseOrValue<number> {
  return whenDone(reader.get(countAll, {}), (row) => row!.count);
}

/** Lists the keys of each user, the newest first. Users without keys are left out. */
export function listApiKeysOf(
  reader: Reader,
  userIds: readonly string[],
  { after = beforeFirst, limit }: KeyedSlice<ApiKeyPosition>,
): PromiseOrValue<ReadonlyMap<string, readonly ApiKey[]>> {
  return whenDone(reader.all(pageOfEachUser, { userIds, ...after, limit }), (lists) => {
    const rows = readListsOfEach<KeyRow>(userIds, lists, columns);
    return new Map([...rows].map(([userId, keys]) => [userId, keys.map(toApiKey)]));
  });
}

/** Counts the keys of each user. Users without keys are left out. */
export function countApiKeysOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<ReadonlyMap<string, number>> {
  return whenDone(reader.all(countOfEachUser, { userIds }), readCounts);
}

interface ApiKeyCounts {
  readonly active: number;
  /** Includes keys that have ended. */
  readonly createdSince: number;
}

/** Counts the keys of a user that are active, and those that were created after `since`. */
export async function countApiKeysForLimits(
  reader: Reader,
  query: { readonly userId: string; readonly now: number; readonly since: number },
): Promise<ApiKeyCounts> {
  return (await reader.get(countForLimits, query))!;
}

export function readRevokedApiKeys(
  reader: Reader,
): PromiseOrValue<readonly { readonly id: string; readonly at: number }[]> {
  return reader.all(findRevoked, {});
}

export async function insertApiKey(
  transaction: Transaction,
  { isAdministrator, networks, ...key }: ApiKey & { readonly secretDigest: Uint8Array },
): Promise<void> {
  await transaction.run(insertKey, {
    ...key,
    isAdministrator: Number(isAdministrator),
    networks: networks.length > 0 ? JSON.stringify(networks) : null,
  });
}

/** Returns false if the key was already revoked. */
export async function setApiKeyRevoked(transaction: Transaction, id: string, now: number): Promise<boolean> {
  return (await transaction.run(updateRevoked, { id, now })) === 1;
}

export interface ApiKeyUse {
  readonly id: string;
  readonly at: number;
  readonly address: string | null;
}

/**
 * Stores the last use of keys. Another node may have stored a later use, which stays. A use after `latest` is from a clock that ran
 * ahead, and is replaced.
 */
export async function storeApiKeyUses(
  database: Database,
  uses: readonly ApiKeyUse[],
  latest: number,
): Promise<void> {
  const rows = uses.map((use) => ({ ...use, latest }));
  await database.transaction((transaction) => transaction.runEach(updateLastUse, rows));
}

const retentionMs = 90 * 86_400_000;
const batchSize = 500;
const maxBatches = 20;
const ended = sql`(revoked_at is not null or expires_at is not null) and coalesce(revoked_at, expires_at) < ${'before'}`;
const endedKeys = pruneStatements<{ before: number }>(
  sql`delete from api_keys`,
  sql`id`,
  sql`from api_keys where ${ended}`,
);

/** Deletes keys that were revoked or have expired more than 90 days ago. */
export async function pruneApiKeys(database: Database, now: number): Promise<void> {
  await pruneInBatches(database, endedKeys, { before: now - retentionMs, batch: batchSize }, maxBatches);
}

function toApiKey({ isAdministrator, networks, ...key }: KeyRow): ApiKey {
  return {
    ...key,
    isAdministrator: isAdministrator === 1,
    networks: networks === null ? [] : (JSON.parse(networks) as string[]),
  };
}
