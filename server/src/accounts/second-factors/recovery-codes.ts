/** Recovery codes: the fallback of a user without the phone or the passkey. Each works once. The database contains only digests. */

import { randomInt } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { sha256 } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';

const recoveryCodeCount = 10;

interface CodeOfUser {
  readonly userId: string;
  readonly digest: Uint8Array;
}

const insert = sql<CodeOfUser>`
  insert into recovery_codes (user_id, digest) values (${'userId'}, ${'digest'})`;
/** If several of these statements run concurrently for the same code, on any node, exactly one changes the row. */
const spend = sql<CodeOfUser & { now: number }>`
  update recovery_codes set used_at = ${'now'}
  where user_id = ${'userId'} and digest = ${'digest'} and used_at is null`;
const findUnused = sql<CodeOfUser, object>`
  select digest from recovery_codes
  where user_id = ${'userId'} and digest = ${'digest'} and used_at is null`;
const countUnused = sql<{ userId: string }, { count: number }>`
  select count(*) as count from recovery_codes where user_id = ${'userId'} and used_at is null`;
const deleteAll = sql<{ userId: string }>`delete from recovery_codes where user_id = ${'userId'}`;

/** Replaces all codes of the user. Returns the new ones, which are not stored. */
export async function replaceRecoveryCodes(
  transaction: Transaction,
  userId: string,
): Promise<readonly string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, generateCode);
  await transaction.run(deleteAll, { userId });
  await transaction.runEach(
    insert,
    codes.map((code) => ({ userId, digest: digestOf(userId, code.replaceAll('-', '')) })),
  );
  return codes;
}

/** Returns false if the code is wrong or was used before. `code` is a result of `readTypedCode`. */
export function spendRecoveryCode(
  transaction: Transaction,
  { userId, code, now }: { readonly userId: string; readonly code: string; readonly now: number },
): PromiseOrValue<boolean> {
  const parameters = { userId, digest: digestOf(userId, code), now };
  return whenDone(transaction.run(spend, parameters), (changed) => changed === 1);
}

export function hasRecoveryCode(
  reader: Reader,
  { userId, code }: { readonly userId: string; readonly code: string },
): PromiseOrValue<boolean> {
  const found = reader.get(findUnused, { userId, digest: digestOf(userId, code) });
  return whenDone(found, (row) => row !== undefined);
}

export function countRecoveryCodes(reader: Reader, userId: string): PromiseOrValue<number> {
  return whenDone(reader.get(countUnused, { userId }), (row) => row!.count);
}

export async function deleteRecoveryCodes(transaction: Transaction, userId: string): Promise<void> {
  await transaction.run(deleteAll, { userId });
}

/** Four groups of four characters: 80 bits, so that a digest cannot be reversed. Without characters that look similar. */
function generateCode(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}

function digestOf(userId: string, code: string): Uint8Array {
  return sha256(JSON.stringify([userId, code]));
}
