/**
 * Started enrolments of authenticator apps. A signed-in user confirms an enrolment in the same session. A user who must enrol at the
 * login confirms it with an enrolment token. The database contains only a digest of the session id or of the token.
 */

import type { Reader, Transaction } from '../../database/database.ts';
import { sha256, type EncryptedSecret, type SecretEncryption } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';
import { record, type ChangeOrigin } from '../../journal/journal.ts';
import { pruneStatements } from '../../journal/prune.ts';
import { decryptSecret, storeTotp, type EnrolledFactor } from './factors.ts';
import { findTimeStep, readTypedCode } from './totp.ts';

export const enrolmentMs = 10 * 60_000;

/** Someone with the password can start enrolments, so their number is limited. A further one replaces the oldest. */
const maxEnrolmentsPerUser = 5;

/** Who may confirm the enrolment. */
type EnrolmentKey = { readonly sessionId: string } | { readonly token: string };

export interface Enrolment extends EncryptedSecret {
  readonly userId: string;
  /** Only for an enrolment at a login: the enrolment ends when the password changes. */
  readonly passwordDigest: Uint8Array | null;
  readonly expiresAt: number;
}

type EnrolmentRow = Enrolment & { readonly digest: Uint8Array };

const columns = sql`user_id as "userId", password_digest as "passwordDigest", secret, sealed_with as "sealedWith",
  expires_at as "expiresAt"`;
const find = sql<{ digest: Uint8Array; now: number }, Enrolment>`
  select ${columns} from totp_enrolments where digest = ${'digest'} and expires_at > ${'now'}`;
const upsert = sql<EnrolmentRow>`
  insert into totp_enrolments (digest, user_id, password_digest, secret, sealed_with, expires_at)
  values (${'digest'}, ${'userId'}, ${'passwordDigest'}, ${'secret'}, ${'sealedWith'}, ${'expiresAt'})
  on conflict (digest) do update set secret = excluded.secret, sealed_with = excluded.sealed_with,
    expires_at = excluded.expires_at`;
/** With the secret, so that a confirmation never completes an enrolment that was started again in the meantime. */
const remove = sql<{ digest: Uint8Array; secret: Uint8Array; now: number }>`
  delete from totp_enrolments
  where digest = ${'digest'} and secret = ${'secret'} and expires_at > ${'now'}`;
const removeOfUser = sql<{ userId: string }>`delete from totp_enrolments where user_id = ${'userId'}`;
const removeOldest = sql<{ userId: string; max: number }>`
  delete from totp_enrolments where user_id = ${'userId'} and digest not in (
    select digest from totp_enrolments where user_id = ${'userId'}
    order by expires_at desc, digest limit ${'max'})`;

export const expiredEnrolments = pruneStatements<{ before: number }>(
  sql`delete from totp_enrolments`,
  sql`digest`,
  sql`from totp_enrolments where expires_at <= ${'before'}`,
);

export async function storeEnrolment(
  transaction: Transaction,
  key: EnrolmentKey,
  enrolment: Enrolment,
): Promise<void> {
  await transaction.run(upsert, { ...enrolment, digest: digestOf(key) });
  await transaction.run(removeOldest, { userId: enrolment.userId, max: maxEnrolmentsPerUser });
}

export async function readEnrolment(
  reader: Reader,
  key: EnrolmentKey,
  now: number,
): Promise<Enrolment | undefined> {
  return reader.get(find, { digest: digestOf(key), now });
}

/** Returns the time step of the first code of the app, or undefined if the code is wrong. */
export async function checkFirstCode(
  encryption: SecretEncryption,
  enrolment: Enrolment,
  { code, now }: { readonly code: string; readonly now: number },
): Promise<number | undefined> {
  const typed = readTypedCode(code);
  if (typed?.kind !== 'TOTP') return undefined;
  return findTimeStep(decryptSecret(encryption, enrolment), typed.code, now);
}

/**
 * Stores the app, and ends all enrolments of the user. Returns undefined if the enrolment has expired, was completed or was started again.
 */
export async function enrolTotp(
  transaction: Transaction,
  key: EnrolmentKey,
  { enrolment, step }: { readonly enrolment: Enrolment; readonly step: number },
  by: ChangeOrigin,
): Promise<EnrolledFactor | undefined> {
  const { userId, secret, sealedWith } = enrolment;
  const { now } = by;
  if ((await transaction.run(remove, { digest: digestOf(key), secret, now })) === 0) return undefined;
  await deleteEnrolments(transaction, userId);
  const enrolled = await storeTotp(transaction, { userId, secret, sealedWith, step, now });
  record(transaction, { kind: 'ENROL_SECOND_FACTOR', ...by, userId, after: { factor: 'TOTP' } });
  return enrolled;
}

export async function deleteEnrolments(transaction: Transaction, userId: string): Promise<void> {
  await transaction.run(removeOfUser, { userId });
}

/** A digest of a password hash, which changes with the password. */
export function digestOfPasswordHash(passwordHash: string): Uint8Array {
  return sha256(passwordHash);
}

function digestOf(key: EnrolmentKey): Uint8Array {
  const parts = 'token' in key ? ['token', key.token] : ['session', key.sessionId];
  return sha256(JSON.stringify(parts));
}
