/** Encrypts the stored secrets of authenticator apps again, after the master key was set, changed or removed. */

import type { Transaction } from '../../database/database.ts';
import type { EncryptedSecret, SecretEncryption } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';

type Row = EncryptedSecret & { readonly userId: string };

const findOthers = sql<{ id: string }, Row>`
  select user_id as "userId", secret, sealed_with as "sealedWith" from totp_secrets
  where coalesce(sealed_with, '') <> ${'id'}`;
const update = sql<Row>`
  update totp_secrets set secret = ${'secret'}, sealed_with = ${'sealedWith'} where user_id = ${'userId'}`;
/** Users start them again: they live for minutes only. */
const deleteEnrolments = sql<{ id: string }>`
  delete from totp_enrolments where coalesce(sealed_with, '') <> ${'id'}`;

/**
 * Decrypts each secret with `from`, and encrypts it with `to`. Returns the numbers of encrypted and of unreadable secrets. Unreadable
 * secrets stay unchanged for a node that has their master key.
 */
export async function reencryptTotpSecrets(
  transaction: Transaction,
  { from, to }: { readonly from: SecretEncryption; readonly to: SecretEncryption },
): Promise<{ readonly encrypted: number; readonly unreadable: number }> {
  const id = to.id ?? '';
  const rows = await transaction.all(findOthers, { id });
  let encrypted = 0;
  for (const { userId, ...row } of rows) {
    const secret = from.decrypt(row, userId);
    if (!secret) continue;
    await transaction.run(update, { userId, ...to.encrypt(secret, userId) });
    encrypted++;
  }
  if (rows.length > 0) await transaction.run(deleteEnrolments, { id });
  return { encrypted, unreadable: rows.length - encrypted };
}
