/**
 * Creates, rotates, retires and lists signing keys. A new key is published before it signs, and the previous key keeps verifying as
 * long as sessions need it, so users do not notice a rotation. Only retiring a key logs users out.
 */

import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings-table.ts';
import { StartError } from '../config/start-error.ts';
import type { Database, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { record, runChange } from '../journal/journal.ts';
import { maxAuthTokenMs } from './revocation.ts';
import {
  publicationMs,
  readKeyRows,
  signingAt,
  stopsSigningAt,
  toPrivateKey,
  type KeyEncryption,
  type KeyRow,
  type KeyTimes,
  type SigningKeys,
  type StoredKey,
} from './signing-keys.ts';

interface KeyChange {
  readonly encryption: KeyEncryption;
  /** Read the time inside the transaction, so that waiting for the transaction does not shorten the time of publication. */
  readonly now: number;
}

const insertKey = sql<KeyRow>`
  insert into signing_keys (id, private_key, public_key, sealed_with, created_at, signs_from)
  values (${'id'}, ${'privateKey'}, ${'publicKey'}, ${'sealedWith'}, ${'createdAt'}, ${'signsFrom'})`;
const updateEncrypted = sql<StoredKey>`
  update signing_keys set private_key = ${'privateKey'}, sealed_with = ${'sealedWith'} where id = ${'id'}`;
const updatePublic = sql<{ id: string; publicKey: Uint8Array }>`
  update signing_keys set public_key = ${'publicKey'} where id = ${'id'}`;
const deleteRow = sql<{ id: string }>`delete from signing_keys where id = ${'id'}`;

/** Creates the first key, which signs immediately because no other node exists yet. Encrypts keys that are not encrypted. */
export async function ensureSigningKey(
  transaction: Transaction,
  { encryption, now }: KeyChange,
): Promise<void> {
  const rows = await readKeyRows(transaction);
  if (rows.length === 0) await storeNewKey(transaction, { encryption, now, signsFrom: 0 });
  // Keys from before this column existed are not encrypted.
  for (const { id, publicKey, privateKey } of rows) {
    if (!publicKey) await transaction.run(updatePublic, { id, publicKey: publicPartOf(privateKey) });
  }
  if (encryption.id === null) return;
  const unencrypted = rows.filter(({ sealedWith }) => sealedWith === null);
  await encryptKeys(transaction, unencrypted, { from: encryption, to: encryption });
}

/** Publishes a new key, which signs later. Refuses if another published key does not sign yet. */
export async function rotateSigningKey(
  transaction: Transaction,
  { encryption, now }: KeyChange,
): Promise<Pick<KeyRow, 'id' | 'signsFrom'>> {
  const [newest] = await readKeyRows(transaction);
  if (newest && newest.signsFrom > now) {
    throw new StartError(
      `The key ${newest.id} is already published and signs from ${formatMinute(newest.signsFrom)}.`,
    );
  }
  const signsFrom = now + publicationMs;
  const id = await storeNewKey(transaction, { encryption, now, signsFrom });
  recordNewKey(transaction, id, { signsFrom, now });
  return { id, signsFrom };
}

/**
 * Deletes a key: tokens that it signed become invalid and cannot be refreshed. The current signing key is retired
 * only with `isReplacedAtOnce`. Its replacement signs immediately, without being published first.
 */
export async function retireSigningKey(
  transaction: Transaction,
  id: string,
  { encryption, now, isReplacedAtOnce }: KeyChange & { readonly isReplacedAtOnce: boolean },
): Promise<{ readonly hasSigned: boolean; readonly replacementId?: string }> {
  const rows = await readKeyRows(transaction);
  const key = rows.find((row) => row.id === id);
  if (!key)
    throw new StartError(`There is no signing key ${id}. Run 'espalier signing-key list' to see all keys.`);
  const isSigning = signingAt(rows, now) === key;
  if (isSigning && !isReplacedAtOnce) {
    throw new StartError(
      `The key ${id} signs now. Run 'espalier signing-key rotate', and retire this key when the new key signs. If the key may be stolen, run 'espalier signing-key retire ${id} --at-once' instead.`,
    );
  }
  const hasSigned = key.signsFrom <= now;
  await deleteKey(transaction, id, now);
  if (!isSigning) return { hasSigned };
  return { hasSigned, replacementId: await replaceKey(transaction, key, { encryption, now }) };
}

/** Retires all keys, without decrypting them. Returns the id of the replacement. */
export async function retireAllKeys(
  transaction: Transaction,
  { encryption, now }: KeyChange,
): Promise<string> {
  const rows = await readKeyRows(transaction);
  for (const { id } of rows) await deleteKey(transaction, id, now);
  return replaceKey(transaction, signingAt(rows, now), { encryption, now });
}

/** The new key has the start time of the old one, so that every node signs with it, even a node whose clock is behind. */
async function replaceKey(
  transaction: Transaction,
  old: KeyTimes | undefined,
  { encryption, now }: KeyChange,
): Promise<string> {
  const id = await storeNewKey(transaction, { encryption, now, signsFrom: old?.signsFrom ?? 0 });
  recordNewKey(transaction, id, { signsFrom: now, now });
  return id;
}

async function deleteKey(transaction: Transaction, id: string, now: number): Promise<void> {
  await transaction.run(deleteRow, { id });
  record(transaction, { kind: 'RETIRE_KEY', now, byUserId: null, after: { keyId: id } });
}

/** Decrypts each key with one master key and encrypts it with another. */
export async function encryptKeys(
  transaction: Transaction,
  rows: readonly KeyRow[],
  { from, to }: { readonly from: KeyEncryption; readonly to: KeyEncryption },
): Promise<void> {
  for (const row of rows) await transaction.run(updateEncrypted, to.encrypt(row.id, from.decrypt(row)));
}

function recordNewKey(
  transaction: Transaction,
  keyId: string,
  { signsFrom, now }: { signsFrom: number; now: number },
): void {
  const after = { keyId, signsFrom: formatTime(signsFrom) };
  record(transaction, { kind: 'ROTATE_KEY', now, byUserId: null, after });
}

/** For people: `2026-11-15 16:50 UTC` */
export function formatMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function formatTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

async function storeNewKey(
  transaction: Transaction,
  { encryption, now, signsFrom }: KeyChange & { readonly signsFrom: number },
): Promise<string> {
  const id = randomUUID();
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  const stored = { ...encryption.encrypt(id, privateKey), publicKey: publicPartOf(privateKey) };
  await transaction.run(insertKey, { ...stored, createdAt: now, signsFrom });
  return id;
}

function publicPartOf(privateKey: Uint8Array): Uint8Array {
  return createPublicKey(toPrivateKey(privateKey)).export({ format: 'der', type: 'spki' });
}

interface KeyRotationOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
  readonly keys: SigningKeys;
  readonly settings: Pick<Settings, 'keyRotationDays' | 'refreshTokenSeconds'>;
}

const dayMs = 86_400_000;

const findLastNeed = sql<{ stoppedAt: number; now: number }, { until: number | null }>`
  select max(refresh_expires_at) as until from sessions
  where revoked_at is null and refresh_expires_at > ${'now'} and refreshed_at <= ${'stoppedAt'}`;

/** Returns the periodic task. It reads the database only if a key is due. */
export function createKeyRotation(options: KeyRotationOptions): () => Promise<void> {
  const { database, clock, encryption, keys } = options;
  const { keyRotationDays, refreshTokenSeconds } = options.settings;
  const isOld = ({ createdAt }: KeyTimes) =>
    keyRotationDays > 0 && clock.now() - createdAt >= keyRotationDays * dayMs;
  /** How long sessions need the oldest key, as of the last read. */
  let need = { keyId: '', until: 0 };

  async function rotateIfOld(): Promise<void> {
    const [newest] = keys.all;
    // A node that cannot decrypt the key has another master key than the other nodes.
    if (!isOld(newest!) || !newest!.privateKey) return;
    await runChange(database, async (transaction) => {
      const [stored] = await readKeyRows(transaction);
      // Another node may have rotated the key already.
      if (stored && isOld(stored)) await rotateSigningKey(transaction, { encryption, now: clock.now() });
    });
    await keys.reread();
  }

  async function deleteOldest(): Promise<void> {
    const [successor, oldest] = keys.all.slice(-2);
    if (!successor || !oldest) return;
    const now = clock.now();
    const stoppedAt = stopsSigningAt(successor);
    if (now <= verifiesUntil(successor, refreshTokenSeconds)) return;
    if (need.keyId === oldest.id && now <= need.until) return;
    // The setting may have been larger when those sessions began.
    const { until } = (await database.get(findLastNeed, { stoppedAt, now }))!;
    need = { keyId: oldest.id, until: until ?? 0 };
    if (until !== null) return;
    await runChange(database, async (transaction) => {
      const rows = await readKeyRows(transaction);
      if (rows.some(({ id }) => id === oldest.id)) await deleteKey(transaction, oldest.id, now);
    });
    await keys.reread();
  }

  return async () => {
    await rotateIfOld();
    await deleteOldest();
  };
}

/** How long the previous key is needed: to verify auth tokens, and to refresh with expired ones. */
function verifiesUntil(successor: KeyTimes, refreshTokenSeconds: number): number {
  return stopsSigningAt(successor) + Math.max(maxAuthTokenMs, refreshTokenSeconds * 1000);
}

export type KeyState = 'published' | 'signs' | 'verifies';

export interface KeyStatus extends Omit<KeyRow, 'privateKey' | 'publicKey'> {
  readonly state: KeyState;
  /** The time after which no token with the signature of this key is in use. Null until the key stops signing. */
  readonly neededUntil: number | null;
}

/** Both `rows` and the result start with the newest key. */
export function listKeyStatuses(
  rows: readonly KeyRow[],
  { now, refreshTokenSeconds }: { readonly now: number; readonly refreshTokenSeconds: number },
): KeyStatus[] {
  const signing = signingAt(rows, now);
  return rows.map((row, index) => {
    const { id, createdAt, sealedWith } = row;
    const signsFrom = Math.max(row.signsFrom, createdAt);
    const successor = rows[index - 1];
    const isOver = successor !== undefined && successor.signsFrom <= now;
    const state = row === signing ? 'signs' : isOver ? 'verifies' : 'published';
    const neededUntil = isOver ? verifiesUntil(successor, refreshTokenSeconds) : null;
    return { id, state, createdAt, signsFrom, neededUntil, sealedWith };
  });
}
