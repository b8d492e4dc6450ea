/** The Ed25519 keys that sign auth tokens. They live in the database, so that every process and every restart has them. */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const selectKeys = sql<object, { id: string; privateKey: Uint8Array }>`
  select id, private_key as "privateKey" from signing_keys order by created_at desc, id`;

const insertKey = sql<{ id: string; privateKey: Uint8Array; now: number }>`
  insert into signing_keys (id, private_key, created_at) values (${'id'}, ${'privateKey'}, ${'now'})`;

/** All keys that verify, the newest first: that one signs. */
export async function readSigningKeys(reader: Reader): Promise<SigningKey[]> {
  const rows = await reader.all(selectKeys, {});
  return rows.map(({ id, privateKey: stored }) => {
    const privateKey = createPrivateKey({ key: Buffer.from(stored), format: 'der', type: 'pkcs8' });
    return { id, privateKey, publicKey: createPublicKey(privateKey) };
  });
}

export async function ensureSigningKey(transaction: Transaction, now: number): Promise<void> {
  if ((await transaction.all(selectKeys, {})).length > 0) return;
  const { privateKey } = generateKeyPairSync('ed25519');
  await transaction.run(insertKey, {
    id: randomUUID(),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }),
    now,
  });
}
