/** Ending sessions before their time: their refresh token is useless from then on, and the row says why. */

import { whenDone, type PromiseOrValue, type Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';

export interface Revocation {
  readonly because: 'logout' | 'replay' | 'revoked' | 'password' | 'disabled';
  readonly now: number;
}

const byId = sql<Revocation & { id: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where id = ${'id'} and revoked_at is null`;

const byDigest = sql<Revocation & { digest: Uint8Array }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

const byUser = sql<Revocation & { userId: string; exceptId: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and revoked_at is null and refresh_expires_at > ${'now'}`;

const nobodysId = '00000000-0000-0000-0000-000000000000';

export function revokeById(
  transaction: Transaction,
  id: string,
  revocation: Revocation,
): PromiseOrValue<unknown> {
  return transaction.run(byId, { id, ...revocation });
}

/** Answers false if it is not the current token of a living session. */
export function revokeByDigest(
  transaction: Transaction,
  digest: Uint8Array,
  revocation: Revocation,
): PromiseOrValue<boolean> {
  return whenDone(transaction.run(byDigest, { digest, ...revocation }), (revoked) => revoked === 1);
}

/** Ends all living sessions of a user, or all but one; answers how many. */
export async function revokeSessionsOf(
  transaction: Transaction,
  { userId, exceptId = nobodysId }: { userId: string; exceptId?: string | undefined },
  revocation: Revocation,
): Promise<number> {
  return transaction.run(byUser, { userId, exceptId, ...revocation });
}
