/** The changes of API keys that viewers can request. The text of a new key is returned once and never stored. */

import { randomUUID } from 'node:crypto';
import {
  countApiKeysForLimits,
  insertApiKey,
  readApiKey,
  setApiKeyRevoked,
  type ApiKey,
} from '../accounts/api-keys.ts';
import { requireAccountName, requireUser, type User, type ViewerRights } from '../accounts/users.ts';
import type { Reader, Transaction } from '../database/database.ts';
import {
  idCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
} from '../journal/change-runner.ts';
import { record, type ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { createApiKeyText } from './api-key-text.ts';
import type { Viewer } from './auth-token.ts';
import { areNetworksInside, requireNetworks } from './client-networks.ts';
import { requireActiveSession } from './recent-sign-in.ts';

interface NewApiKey {
  /** By default the caller. */
  readonly userId?: string | null | undefined;
  readonly name: string;
  /** 0 for NONE, which is refused. */
  readonly level: 0 | ApiKey['level'];
  readonly folderId?: string | null | undefined;
  readonly isAdministrator: boolean;
  readonly expiresAt?: number | null | undefined;
  readonly networks?: readonly string[] | null | undefined;
}

interface CreatedApiKey {
  readonly id: string;
  /** The key itself. Missing if an earlier request with the same idempotency key created it. */
  readonly text?: string;
}

/** Refuses a folder that the viewer does not see. */
type FolderCheck<Rights> = (transaction: Transaction, rights: Rights, folderId: string) => Promise<unknown>;

const maxActiveKeys = 100;
/**
 * Every user may create keys, even without a grant. Ended keys stay in the database for 90 days, and each revocation makes the servers
 * read the rights of all viewers again.
 */
const maxKeysPerDay = 1_000;
const dayMs = 86_400_000;
const maxExpiryMs = 10 * 365 * dayMs;

export class ApiKeys<Rights extends ViewerRights> {
  readonly #changes: ChangeRunner<Rights>;
  readonly #requireFolder: FolderCheck<Rights>;

  constructor(changes: ChangeRunner<Rights>, requireFolder: FolderCheck<Rights>) {
    this.#changes = changes;
    this.#requireFolder = requireFolder;
  }

  /**
   * Creates a key for the caller or, by an administrator, for a service account. With an API key, the caller needs the administrator
   * role, and the new key must not be stronger than the key of the caller.
   */
  create(caller: Caller, input: NewApiKey): Promise<Changed<CreatedApiKey>> {
    return this.#changes.run(caller, {
      codec: idCodec,
      check: (rights) => requireMayCreate(caller, rights),
      work: async (transaction, rights, by) => {
        const { sessionId } = caller;
        if (sessionId !== undefined) await requireActiveSession(transaction, { sessionId, now: by.now });
        const user = await requireUser(transaction, input.userId ?? caller.userId);
        requireOwner(user, caller, rights);
        const key = toApiKey(input, user, by);
        if (caller.apiKeyId !== undefined) await requireNotStronger(transaction, key, caller.apiKeyId);
        if (key.folderId !== null) await this.#requireFolder(transaction, rights, key.folderId);
        await requireBelowLimits(transaction, user.id, by.now);
        const { text, identifier, secretDigest } = createApiKeyText();
        await insertApiKey(transaction, { ...key, identifier, secretDigest });
        record(transaction, { kind: 'CREATE_API_KEY', ...by, userId: user.id, after: detailsOfKey(key) });
        return { id: key.id, text };
      },
    });
  }

  /** Revokes a key of the caller or, by an administrator, of any user. */
  revoke(caller: Caller, id: string): Promise<Changed<void>> {
    return this.#changes.run(caller, {
      codec: voidCodec,
      work: async (transaction, rights, by) => {
        const key = await findApiKey(transaction, caller, rights, id);
        if (!key) throw new Refusal('NOT_FOUND', 'There is no API key with this id.');
        await revokeApiKey(transaction, key, by);
      },
    });
  }
}

/** Finds a key of the viewer or, for an administrator, of any user. With an API key that does not act as administrator, finds only that key. */
export async function findApiKey(
  reader: Reader,
  { apiKeyId, view }: Pick<Viewer, 'apiKeyId' | 'view'>,
  { userId, isAdministrator }: ViewerRights,
  id: string,
): Promise<ApiKey | undefined> {
  const key = await readApiKey(reader, id);
  const isOwn = key?.userId === userId && !view && (apiKeyId === undefined || apiKeyId === id);
  return isOwn || isAdministrator ? key : undefined;
}

/** Revokes a key, unless it is already revoked. */
async function revokeApiKey(transaction: Transaction, key: ApiKey, by: ChangeOrigin): Promise<void> {
  if (!(await setApiKeyRevoked(transaction, key.id, by.now))) return;
  const before = { apiKeyId: key.id, name: key.name };
  // Cached rights of the key become invalid with this entry.
  record(transaction, { kind: 'REVOKE_API_KEY', ...by, userId: key.userId, before, changesAccess: true });
}

function requireMayCreate({ apiKeyId }: Caller, { isAdministrator }: ViewerRights): void {
  if (apiKeyId === undefined || isAdministrator) return;
  throw new Refusal(
    'FORBIDDEN',
    'This API key cannot create API keys. Log in, or use a key that acts as administrator.',
  );
}

function requireOwner(user: User, caller: Caller, { isAdministrator }: ViewerRights): void {
  if (user.kind === 'SERVICE') {
    if (isAdministrator) return;
    throw new Refusal('FORBIDDEN', 'Only administrators may create API keys for service accounts.');
  }
  if (user.id !== caller.userId) {
    throw new Refusal(
      'FORBIDDEN',
      'You can create API keys only for yourself and, as an administrator, for service accounts.',
    );
  }
}

async function requireBelowLimits(transaction: Transaction, userId: string, now: number): Promise<void> {
  const counts = await countApiKeysForLimits(transaction, { userId, now, since: now - dayMs });
  if (counts.active >= maxActiveKeys) {
    throw new Refusal(
      'CONFLICT',
      `This user has ${maxActiveKeys} active API keys, which is the limit. Revoke one first.`,
    );
  }
  if (counts.createdSince >= maxKeysPerDay) {
    throw new Refusal(
      'CONFLICT',
      `${maxKeysPerDay} API keys were created for this user in the last 24 hours, which is the limit. Use a key several times, or try again tomorrow.`,
    );
  }
}

function toApiKey(input: NewApiKey, user: User, { byUserId, now }: ChangeOrigin): Omit<ApiKey, 'identifier'> {
  const { level, isAdministrator, folderId = null, expiresAt = null } = input;
  const name = requireAccountName(input.name, 'API key name');
  if (level === 0) throw badInput('`level` must be READ, WRITE or MANAGE.', 'level');
  if (isAdministrator && !user.isAdministrator) {
    throw badInput('Only a key of an administrator can act as administrator.', 'isAdministrator');
  }
  if (isAdministrator && (folderId !== null || level < 3)) {
    throw badInput(
      'A key that acts as administrator has the level MANAGE everywhere. Omit `folderId`, and set `level` to MANAGE.',
      'isAdministrator',
    );
  }
  if (expiresAt !== null && (expiresAt <= now || expiresAt > now + maxExpiryMs)) {
    throw badInput('`expiresAt` must be in the future, at most 10 years from now.', 'expiresAt');
  }
  return {
    id: randomUUID(),
    userId: user.id,
    name,
    level,
    isAdministrator,
    folderId,
    networks: requireNetworks(input.networks ?? []),
    createdAt: now,
    createdBy: byUserId,
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
    lastUsedAddress: null,
  };
}

/** A stolen key must not become permanent, or usable from other networks, through a key that it creates. */
async function requireNotStronger(
  transaction: Transaction,
  key: Omit<ApiKey, 'identifier'>,
  callerKeyId: string,
): Promise<void> {
  const own = await readApiKey(transaction, callerKeyId);
  const maxExpiry = own?.expiresAt ?? Infinity;
  if (own && (key.expiresAt ?? Infinity) <= maxExpiry && areNetworksInside(key.networks, own.networks))
    return;
  throw new Refusal(
    'FORBIDDEN',
    'With an API key, you can create only keys that expire no later than that key, and that are limited to the same networks.',
  );
}

function detailsOfKey({
  id,
  name,
  level,
  isAdministrator,
  folderId,
  expiresAt,
  networks,
}: Omit<ApiKey, 'identifier'>) {
  return {
    apiKeyId: id,
    name,
    level: (['READ', 'WRITE', 'MANAGE'] as const)[level - 1],
    ...(isAdministrator && { isAdministrator }),
    ...(folderId !== null && { folderId }),
    ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(networks.length > 0 && { networks: networks.join(', ') }),
  };
}

function badInput(text: string, inputField: string): Refusal {
  return new Refusal('BAD_INPUT', text, { facts: { inputField } });
}
