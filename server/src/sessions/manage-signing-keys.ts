/**
 * Creates, rotates and retires signing keys. A new key is published before it signs, and the previous key keeps verifying as
 * long as sessions need it, so rotation is invisible to users. Only retiring a key logs users out.
 */

import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { record } from '../journal/journal.ts';
import { StartError } from '../config/start-error.ts';
import type { KeyEncryption, StoredKey } from './key-encryption.ts';
import { publishingMs, readKeyRows, signingAt, type KeyRow } from './signing-keys.ts';

export interface KeyChange {
  readonly encryption: KeyEncryption;
  /** Read it inside the transaction: waiting for the transaction must not shorten the time of publication. */
  readonly now: number;
}

interface NewKey extends KeyChange {
  readonly signsFrom: number;
}

export interface RetiredKey {
  /** False if no token was signed with it. */
  readonly hasSigned: boolean;
  readonly replacementId?: string;
}

const insertKey = sql<KeyRow>`
  insert into signing_keys (id, private_key, public_key, sealed_with, created_at, signs_from)
  values (${'id'}, ${'privateKey'}, ${'publicKey'}, ${'sealedWith'}, ${'createdAt'}, ${'signsFrom'})`;
const updateEncrypted = sql<StoredKey>`
  update signing_keys set private_key = ${'privateKey'}, sealed_with = ${'sealedWith'} where id = ${'id'}`;
const updatePublic = sql<{ id: string; publicKey: Uint8Array }>`
  update signing_keys set public_key = ${'publicKey'} where id = ${'id'}`;
const deleteRow = sql<{ id: string }>`delete from signing_keys where id = ${'id'}`;

/** Creates the first key, which signs at once because no other node exists yet. Encrypts keys that are not encrypted. */
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
  const unencrypted = rows.filter(({ sealedWith }) => sealedWith === null);
  if (encryption.id !== null)
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
      `The key ${newest.id} is published already and signs from ${formatTime(newest.signsFrom)} on.`,
    );
  }
  const signsFrom = now + publishingMs;
  const id = await storeNewKey(transaction, { encryption, now, signsFrom });
  recordNew(transaction, id, signsFrom, now);
  return { id, signsFrom };
}

/**
 * Deletes a key: tokens that it signed become invalid and cannot be refreshed. The signing key is only retired with
 * `isReplacedAtOnce`. Its replacement signs at once, without a time of publication.
 */
export async function retireSigningKey(
  transaction: Transaction,
  id: string,
  { encryption, now, isReplacedAtOnce }: KeyChange & { readonly isReplacedAtOnce: boolean },
): Promise<RetiredKey> {
  const rows = await readKeyRows(transaction);
  const key = rows.find((row) => row.id === id);
  if (!key) throw new StartError(`There is no signing key ${id}. espalier keys list shows them.`);
  const isSigning = signingAt(rows, now) === key;
  if (isSigning && !isReplacedAtOnce) {
    throw new StartError(
      `The key ${id} signs now. Run espalier keys rotate, and retire it when the new key signs; or, if others may have it, run espalier keys retire ${id} --at-once.`,
    );
  }
  const hasSigned = key.signsFrom <= now;
  await deleteKey(transaction, id, now);
  if (!isSigning) return { hasSigned };
  // The same start time, so that it signs whatever the clock of a node says.
  const replacementId = await replace(transaction, { encryption, now, signsFrom: key.signsFrom });
  return { hasSigned, replacementId };
}

/** Retires all keys, without decrypting them. */
export async function retireAllKeys(
  transaction: Transaction,
  { encryption, now }: KeyChange,
): Promise<{ readonly count: number; readonly replacementId: string }> {
  const rows = await readKeyRows(transaction);
  const signsFrom = signingAt(rows, now)?.signsFrom ?? 0;
  for (const { id } of rows) await deleteKey(transaction, id, now);
  return { count: rows.length, replacementId: await replace(transaction, { encryption, now, signsFrom }) };
}

async function replace(transaction: Transaction, change: NewKey): Promise<string> {
  const id = await storeNewKey(transaction, change);
  recordNew(transaction, id, change.now, change.now);
  return id;
}

export async function deleteKey(transaction: Transaction, id: string, now: number): Promise<void> {
  await transaction.run(deleteRow, { id });
  record(transaction, { kind: 'RETIRE_KEY', at: now, byUserId: null, after: { keyId: id } });
}

/** Decrypts each key with one master key and encrypts it with another. */
export async function encryptKeys(
  transaction: Transaction,
  rows: readonly KeyRow[],
  { from, to }: { readonly from: KeyEncryption; readonly to: KeyEncryption },
): Promise<void> {
  for (const row of rows) await transaction.run(updateEncrypted, to.encrypt(row.id, from.decrypt(row)));
}

function recordNew(transaction: Transaction, keyId: string, signsFrom: number, now: number): void {
  const after = { keyId, signsFrom: formatTime(signsFrom) };
  record(transaction, { kind: 'ROTATE_KEY', at: now, byUserId: null, after });
}

export function formatTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

async function storeNewKey(
  transaction: Transaction,
  { encryption, now, signsFrom }: NewKey,
): Promise<string> {
  const id = randomUUID();
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  const publicKey = publicPartOf(privateKey);
  await transaction.run(insertKey, {
    ...encryption.encrypt(id, privateKey),
    publicKey,
    createdAt: now,
    signsFrom,
  });
  return id;
}

function publicPartOf(privateKey: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' });
}
