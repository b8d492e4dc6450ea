/**
 * Making signing keys, and taking them away. A new one is published before it signs, and the one before it goes on
 * verifying for as long as a session can need it: so nobody notices. Only who retires a key logs people out.
 */

import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { record } from '../journal/journal.ts';
import { StartError } from '../config/start-error.ts';
import type { KeyEncryption, StoredKey } from './key-encryption.ts';
import { publishingMs, readKeyRows, signingAt, type KeyRow } from './signing-keys.ts';

export interface KeyChange {
  readonly seal: KeyEncryption;
  /** To be read inside of the transaction: waiting for that one must not take from the time of publishing. */
  readonly now: number;
}

interface NewKey extends KeyChange {
  readonly signsFrom: number;
}

export interface Retired {
  /** Otherwise nobody can hold a token of it. */
  readonly hasSigned: boolean;
  readonly replacementId?: string;
}

const insertKey = sql<KeyRow>`
  insert into signing_keys (id, private_key, public_key, sealed_with, created_at, signs_from)
  values (${'id'}, ${'privateKey'}, ${'publicKey'}, ${'sealedWith'}, ${'createdAt'}, ${'signsFrom'})`;
const updateSealed = sql<StoredKey>`
  update signing_keys set private_key = ${'privateKey'}, sealed_with = ${'sealedWith'} where id = ${'id'}`;
const updatePublic = sql<{ id: string; publicKey: Uint8Array }>`
  update signing_keys set public_key = ${'publicKey'} where id = ${'id'}`;
const deleteKey = sql<{ id: string }>`delete from signing_keys where id = ${'id'}`;

/** The first key signs at once, whatever clock asks: there is nobody yet who could not know it. Seals what is not. */
export async function ensureSigningKey(transaction: Transaction, { seal, now }: KeyChange): Promise<void> {
  const rows = await readKeyRows(transaction);
  if (rows.length === 0) await storeNewKey(transaction, { seal, now, signsFrom: 0 });
  // Before there was a column for it, nothing was sealed.
  for (const { id, publicKey, privateKey } of rows) {
    if (!publicKey) await transaction.run(updatePublic, { id, publicKey: publicPartOf(privateKey) });
  }
  const unsealed = rows.filter(({ sealedWith }) => sealedWith === null);
  if (seal.id !== null) await encryptKeys(transaction, unsealed, { from: seal, to: seal });
}

/** Publishes a new key, which signs after some time. Refused while another waits for its time. */
export async function rotateSigningKey(
  transaction: Transaction,
  { seal, now }: KeyChange,
): Promise<Pick<KeyRow, 'id' | 'signsFrom'>> {
  const [newest] = await readKeyRows(transaction);
  if (newest && newest.signsFrom > now) {
    throw new StartError(
      `The key ${newest.id} is published already and signs from ${shownTime(newest.signsFrom)} on.`,
    );
  }
  const signsFrom = now + publishingMs;
  const id = await storeNewKey(transaction, { seal, now, signsFrom });
  recordNew(transaction, id, signsFrom, now);
  return { id, signsFrom };
}

/**
 * Takes a key away: no token that it signed is good any more, nor can be refreshed. The one that signs is replaced in
 * the same moment, without the time of publishing, and only if that is meant.
 */
export async function retireSigningKey(
  transaction: Transaction,
  id: string,
  { seal, now, isReplacedAtOnce }: KeyChange & { readonly isReplacedAtOnce: boolean },
): Promise<Retired> {
  const rows = await readKeyRows(transaction);
  const retired = rows.find((row) => row.id === id);
  if (!retired) throw new StartError(`There is no signing key ${id}. espalier keys list shows them.`);
  const isSigning = signingAt(rows, now) === retired;
  if (isSigning && !isReplacedAtOnce) {
    throw new StartError(
      `The key ${id} signs now. Run espalier keys rotate, and retire it when the new key signs; or, if others may have it, run espalier keys retire ${id} --at-once.`,
    );
  }
  const hasSigned = retired.signsFrom <= now;
  await deleteKey(transaction, id, now);
  if (!isSigning) return { hasSigned };
  // In its very place, so that it signs whatever a node's clock says.
  const replacementId = await replace(transaction, { seal, now, signsFrom: retired.signsFrom });
  return { hasSigned, replacementId };
}

/** Every one, and none of them need be opened for it. */
export async function retireAllKeys(
  transaction: Transaction,
  { seal, now }: KeyChange,
): Promise<{ readonly count: number; readonly replacementId: string }> {
  const rows = await readKeyRows(transaction);
  const signsFrom = signingAt(rows, now)?.signsFrom ?? 0;
  for (const { id } of rows) await deleteKey(transaction, id, now);
  return { count: rows.length, replacementId: await replace(transaction, { seal, now, signsFrom }) };
}

async function replace(transaction: Transaction, change: NewKey): Promise<string> {
  const id = await storeNewKey(transaction, change);
  recordNew(transaction, id, change.now, change.now);
  return id;
}

export async function deleteKey(transaction: Transaction, id: string, now: number): Promise<void> {
  await transaction.run(deleteKey, { id });
  record(transaction, { kind: 'RETIRE_KEY', at: now, byUserId: null, after: { keyId: id } });
}

/** Opens each with one seal, and closes it with another. */
export async function encryptKeys(
  transaction: Transaction,
  rows: readonly KeyRow[],
  { from, to }: { readonly from: KeyEncryption; readonly to: KeyEncryption },
): Promise<void> {
  for (const row of rows) await transaction.run(updateSealed, to.seal(row.id, from.open(row)));
}

function recordNew(transaction: Transaction, keyId: string, signsFrom: number, now: number): void {
  const after = { keyId, signsFrom: shownTime(signsFrom) };
  record(transaction, { kind: 'ROTATE_KEY', at: now, byUserId: null, after });
}

export function shownTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

async function storeNewKey(transaction: Transaction, { seal, now, signsFrom }: NewKey): Promise<string> {
  const id = randomUUID();
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  const publicKey = publicPartOf(privateKey);
  await transaction.run(insertKey, { ...seal.seal(id, privateKey), publicKey, createdAt: now, signsFrom });
  return id;
}

function publicPartOf(privateKey: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' });
}
