/** Checks a code of an authenticator app or a recovery code. The transaction that relies on it spends it, so that it works once. */

import { checkTotpCode, spendTimeStep } from '../../accounts/second-factors/factors.ts';
import {
  countRecoveryCodes,
  hasRecoveryCode,
  spendRecoveryCode,
} from '../../accounts/second-factors/recovery-codes.ts';
import { readTypedCode } from '../../accounts/second-factors/totp.ts';
import type { Transaction } from '../../database/database.ts';
import { record } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

/** A credential that was correct when it was checked. */
export interface CheckedCredential {
  /** Throws `usedCredential()` if another request has used the credential since. */
  readonly spend: (transaction: Transaction) => Promise<void>;
  /** `spend` writes to the journal. */
  readonly writesJournal: boolean;
}

/** Returns undefined for a wrong code and for a code that was used before. */
export async function checkCode(
  { database, clock, factorEncryption }: SecondFactorServices,
  { userId, code: input }: { readonly userId: string; readonly code: string },
): Promise<CheckedCredential | undefined> {
  const typed = readTypedCode(input);
  if (!typed) return undefined;
  const { kind, code } = typed;
  const now = clock.now();
  if (kind === 'RECOVERY_CODE') {
    // Read first, because a wrong code must not wait for the lock of the journal.
    if (!(await hasRecoveryCode(database, { userId, code }))) return undefined;
    return {
      writesJournal: true,
      spend: (transaction) => useRecoveryCode(transaction, { userId, code, now }),
    };
  }
  const step = await checkTotpCode(database, factorEncryption, { userId, code, now });
  if (step === undefined) return undefined;
  const spend = async (transaction: Transaction) => {
    if (!(await spendTimeStep(transaction, { userId, step }))) throw usedCredential();
  };
  return { writesJournal: false, spend };
}

async function useRecoveryCode(
  transaction: Transaction,
  use: { readonly userId: string; readonly code: string; readonly now: number },
): Promise<void> {
  if (!(await spendRecoveryCode(transaction, use))) throw usedCredential();
  const { userId, now } = use;
  const after = { left: await countRecoveryCodes(transaction, userId) };
  record(transaction, { kind: 'USE_RECOVERY_CODE', byUserId: userId, now, userId, after });
}

/** Rolls the transaction back. `unlessUsed` turns it into a failed attempt. */
class UsedCredential extends Error {}

export function usedCredential(): Error {
  return new UsedCredential('Another request has used the code or the passkey first.');
}

/** Returns undefined if `spend` failed. */
export async function unlessUsed<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsedCredential) return undefined;
    throw error;
  }
}

export function wrongSecondFactor(): Refusal {
  return new Refusal(
    'WRONG_SECOND_FACTOR',
    'The code is wrong, too old, or was used already. Wait for the next code of your authenticator app, or use another recovery code.',
  );
}
