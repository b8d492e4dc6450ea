/**
 * A fresh proof of a signed-in user: the password, a code, or a passkey. Every change of second factors requires one, because a stolen
 * session alone must not change them. Failed proofs are counted by session: wrong codes like the wrong codes of a login, others like wrong passwords.
 */

import { checkPassword, readPasswordHash, type Passwords } from '../../accounts/passwords.ts';
import { noPassword } from '../../accounts/users.ts';
import { hasFactor } from '../../accounts/second-factors/factors.ts';
import type { Transaction } from '../../database/database.ts';
import type { Caller, Changed } from '../../journal/change-runner.ts';
import { Refusal } from '../../refusal.ts';
import { requireRecentSignIn } from '../recent-sign-in.ts';
import { checkCode, unlessUsed, type CheckedCredential } from './code-check.ts';
import { checkPasskey, type PasskeyResponse } from './passkey-check.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

/** Exactly one is set. */
export interface ProofInput {
  readonly password?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly passkey?: PasskeyResponse | null | undefined;
}

export interface ProofServices extends SecondFactorServices {
  readonly passwords: Passwords;
}

/** An API key cannot prove anything: it is no person. */
export type SessionCaller = Caller & { readonly sessionId: string };

type User = Pick<SessionCaller, 'userId' | 'sessionId'>;

/**
 * Runs a change after a correct proof. `work` must call `spend` in its transaction, so that a code or a passkey proves one change only.
 */
export async function withProof<T>(
  services: ProofServices,
  caller: User,
  proof: ProofInput | null | undefined,
  work: (spend: (transaction: Transaction) => Promise<void>) => Promise<Changed<T>>,
): Promise<Changed<T>> {
  if (!proof) {
    await requireSignInAsProof(services, caller);
    return work(() => Promise.resolve());
  }
  requireOneProof(proof);
  const { sessionId } = caller;
  const source = kindOf(proof) === 'code' ? { codeOfSession: sessionId } : { sessionId };
  const changed = await services.throttle.attempt(source, async (clearFailures) => {
    const checked = await checkProof(services, caller, proof);
    if (!checked) return undefined;
    return unlessUsed(() =>
      work(async (transaction) => {
        await checked.spend(transaction);
        await clearFailures(transaction);
      }),
    );
  });
  if (!changed) throw new Refusal('FORBIDDEN', wrongTexts[kindOf(proof)]);
  return changed;
}

const wrongTexts = {
  password: 'The password is wrong.',
  code: 'The code is wrong, too old, or was used already.',
  passkey: 'The passkey was not accepted. Try again, or use your password or a code.',
};

async function checkProof(
  services: ProofServices,
  { userId, sessionId }: User,
  { password, code, passkey }: ProofInput,
): Promise<CheckedCredential | undefined> {
  if (typeof password === 'string') {
    const { database, passwords } = services;
    const checked = await checkPassword(database, passwords, { userId, sessionId, password });
    return checked && { spend: () => Promise.resolve(), writesJournal: false };
  }
  if (typeof code === 'string') return checkCode(services, { userId, code });
  const checked = passkey ? await checkPasskey(services, passkey) : undefined;
  return checked?.userId === userId ? checked : undefined;
}

function kindOf({ password, code }: ProofInput): keyof typeof wrongTexts {
  if (typeof password === 'string') return 'password';
  return typeof code === 'string' ? 'code' : 'passkey';
}

function requireOneProof({ password, code, passkey }: ProofInput): void {
  const count = [password, code, passkey].filter((each) => each !== null && each !== undefined).length;
  if (count === 1) return;
  throw new Refusal('BAD_INPUT', 'Set exactly one field of `proof`: `password`, `code` or `passkey`.');
}

/** For users of single sign-on, who have nothing else to prove. */
async function requireSignInAsProof(services: ProofServices, { userId, sessionId }: User): Promise<void> {
  const { database, clock } = services;
  const hasPassword = (await readPasswordHash(database, userId)) !== noPassword;
  if (hasPassword || (await hasFactor(database, userId))) {
    throw new Refusal('BAD_INPUT', 'Send a `proof`: your password, a code, or a passkey.');
  }
  await requireRecentSignIn(database, { sessionId, now: clock.now() });
}
