/**
 * Reads and changes the second factors of users. `users.second_factor_at` records whether a user has one, so that a login reads it with
 * the password. Each function that adds or removes a factor updates it in the same transaction.
 */

import type { SecondFactorMethod } from '@espalier/contract';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { SecretEncryption, type EncryptedSecret } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';
import { Refusal } from '../../refusal.ts';
import { deleteRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import type { RelyingParty } from './relying-party.ts';
import { findTimeStep } from './totp.ts';

/** The setting `ESPALIER_SECOND_FACTOR`. */
export type SecondFactorPolicy = 'optional' | 'administrators' | 'everyone';

export function isFactorRequired(
  policy: SecondFactorPolicy,
  { isAdministrator }: { readonly isAdministrator: boolean },
): boolean {
  return policy === 'everyone' || (policy === 'administrators' && isAdministrator);
}

export type FactorKind = 'TOTP' | 'PASSKEY';

interface TotpRow extends EncryptedSecret {
  readonly userId: string;
  /** The time step of the last accepted code. Older codes and this code are never accepted again. */
  readonly lastStep: number;
  readonly createdAt: number;
}

const findTotp = sql<{ userId: string }, TotpRow>`
  select user_id as "userId", secret, sealed_with as "sealedWith", last_step as "lastStep", created_at as "createdAt"
  from totp_secrets where user_id = ${'userId'}`;
const upsertTotp = sql<TotpRow>`
  insert into totp_secrets (user_id, secret, sealed_with, last_step, created_at)
  values (${'userId'}, ${'secret'}, ${'sealedWith'}, ${'lastStep'}, ${'createdAt'})
  on conflict (user_id) do update set secret = excluded.secret, sealed_with = excluded.sealed_with,
    last_step = excluded.last_step, created_at = excluded.created_at`;
/** If several of these statements run concurrently for one code, on any node, exactly one changes the row. */
const advanceStep = sql<{ userId: string; step: number }>`
  update totp_secrets set last_step = ${'step'} where user_id = ${'userId'} and last_step < ${'step'}`;
const deleteTotpRow = sql<{ userId: string }>`delete from totp_secrets where user_id = ${'userId'}`;
const deletePasskeys = sql<{ userId: string }>`delete from passkeys where user_id = ${'userId'}`;

const updateMark = sql<{ userId: string; now: number }>`
  update users set second_factor_at = case
    when exists (select 1 from totp_secrets where user_id = users.id)
      or exists (select 1 from passkeys where user_id = users.id)
    then coalesce(second_factor_at, ${'now'}) end
  where id = ${'userId'}`;
const findMark = sql<{ userId: string }, { since: number | null }>`
  select second_factor_at as since from users where id = ${'userId'}`;
const findMethods = sql<
  { userId: string; relyingPartyId: string },
  Record<'totp' | 'passkeys' | 'codes', number>
>`
  select (select count(*) from totp_secrets where user_id = ${'userId'}) as totp,
    (select count(*) from passkeys
      where user_id = ${'userId'} and relying_party = ${'relyingPartyId'}) as passkeys,
    (select count(*) from recovery_codes where user_id = ${'userId'} and used_at is null) as codes`;

export function readTotp(reader: Reader, userId: string): PromiseOrValue<TotpRow | undefined> {
  return reader.get(findTotp, { userId });
}

/** The methods with which the user can complete a login after the password. Passkeys of another relying party do not work. */
export function readSecondFactorMethods(
  reader: Reader,
  { userId, relyingParty }: { readonly userId: string; readonly relyingParty: RelyingParty | undefined },
): PromiseOrValue<readonly SecondFactorMethod[]> {
  return whenDone(reader.get(findMethods, { userId, relyingPartyId: relyingParty?.id ?? '' }), (row) => {
    const { totp, passkeys, codes } = row!;
    const methods: SecondFactorMethod[] = [];
    if (totp > 0) methods.push('TOTP');
    if (passkeys > 0) methods.push('PASSKEY');
    if (codes > 0) methods.push('RECOVERY_CODE');
    return methods;
  });
}

/** Returns the time step of an authenticator code, if the user has not used a code of this step or of a later one. */
export async function checkTotpCode(
  reader: Reader,
  encryption: SecretEncryption,
  { userId, code, now }: { readonly userId: string; readonly code: string; readonly now: number },
): Promise<number | undefined> {
  const row = await readTotp(reader, userId);
  if (!row) return undefined;
  const step = await findTimeStep(decryptSecret(encryption, row), code, now);
  return step !== undefined && step > row.lastStep ? step : undefined;
}

/** Returns false if another request has used the code in the meantime. */
export function spendTimeStep(
  transaction: Transaction,
  use: { readonly userId: string; readonly step: number },
): PromiseOrValue<boolean> {
  return whenDone(transaction.run(advanceStep, use), (changed) => changed === 1);
}

/** The encryption of the secrets of authenticator apps. */
export function createFactorEncryption(masterKey: string | undefined): SecretEncryption {
  return new SecretEncryption(masterKey, 'espalier authenticator apps');
}

/** Decrypts the secret of a user's authenticator app. */
export function decryptSecret(
  encryption: SecretEncryption,
  { userId, ...encrypted }: EncryptedSecret & { readonly userId: string },
): Uint8Array {
  const secret = encryption.decrypt(encrypted, userId);
  if (secret) return secret;
  const cause = new Error(
    `The secret of the authenticator app of the user ${userId} is encrypted with the master key ${encrypted.sealedWith}, and this node has ${encryption.id ?? 'none'}.`,
  );
  throw new Refusal(
    'UNAVAILABLE',
    'The server cannot check codes of authenticator apps right now. Use a recovery code or a passkey, or try again later.',
    { cause, retryAfterSeconds: 60 },
  );
}

/** What an enrolment changes. */
export interface EnrolledFactor {
  /** The new recovery codes, if this is the user's first factor. */
  readonly recoveryCodes: readonly string[] | undefined;
}

/** Stores the secret of a confirmed authenticator app, and replaces an earlier one. The code of `step` cannot be used again. */
export async function storeTotp(
  transaction: Transaction,
  { userId, step, now, ...encrypted }: EncryptedSecret & { userId: string; step: number; now: number },
): Promise<EnrolledFactor> {
  await transaction.run(upsertTotp, { userId, ...encrypted, lastStep: step, createdAt: now });
  return afterEnrolment(transaction, userId, now);
}

/** Returns false if the user has no authenticator app. */
export async function deleteTotp(transaction: Transaction, userId: string, now: number): Promise<boolean> {
  const deleted = await transaction.run(deleteTotpRow, { userId });
  await afterRemoval(transaction, userId, now);
  return deleted === 1;
}

/** Deletes every factor and all recovery codes. Returns false if there was no factor. */
export async function deleteFactors(transaction: Transaction, userId: string, now: number): Promise<boolean> {
  const count =
    (await transaction.run(deleteTotpRow, { userId })) + (await transaction.run(deletePasskeys, { userId }));
  await afterRemoval(transaction, userId, now);
  return count > 0;
}

/** Also counts passkeys of an earlier host name: a user whose only factor is one keeps the second factor, and uses a recovery code. */
export function hasFactor(reader: Reader, userId: string): PromiseOrValue<boolean> {
  return whenDone(reader.get(findMark, { userId }), (row) => (row?.since ?? null) !== null);
}

/** Creates recovery codes with the first factor. */
export async function afterEnrolment(
  transaction: Transaction,
  userId: string,
  now: number,
): Promise<EnrolledFactor> {
  const isFirst = !(await hasFactor(transaction, userId));
  await transaction.run(updateMark, { userId, now });
  return { recoveryCodes: isFirst ? await replaceRecoveryCodes(transaction, userId) : undefined };
}

/** Deletes the recovery codes with the last factor. */
export async function afterRemoval(transaction: Transaction, userId: string, now: number): Promise<void> {
  await transaction.run(updateMark, { userId, now });
  if (!(await hasFactor(transaction, userId))) await deleteRecoveryCodes(transaction, userId);
}
