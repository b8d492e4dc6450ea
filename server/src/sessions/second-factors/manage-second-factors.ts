/**
 * The changes of second factors that users request for themselves, and the reset by an administrator. A change of the first or last factor,
 * and every removal, ends the other sessions of the user, because a stolen session may be the reason for the change.
 */

import { randomUUID } from 'node:crypto';
import {
  checkFirstCode,
  deleteEnrolments,
  enrolmentMs,
  enrolTotp,
  readEnrolment,
  storeEnrolment,
} from '../../accounts/second-factors/enrolments.ts';
import {
  deleteFactors,
  deleteTotp,
  hasFactor,
  isFactorRequired,
  readTotp,
  type FactorKind,
} from '../../accounts/second-factors/factors.ts';
import {
  deletePasskey,
  listCredentials,
  renamePasskey,
  storePasskey,
} from '../../accounts/second-factors/passkeys.ts';
import { replaceRecoveryCodes } from '../../accounts/second-factors/recovery-codes.ts';
import { createTotpSecret, describeTotpSecret, type TotpSetup } from '../../accounts/second-factors/totp.ts';
import { createPasskeyOptions, verifyNewPasskey } from '../../accounts/second-factors/webauthn.ts';
import {
  requireAccountName,
  requireNoApiKey,
  requireUser,
  runAsAdministrator,
  type ViewerRights,
} from '../../accounts/users.ts';
import type { Transaction } from '../../database/database.ts';
import {
  numberCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
  type ResultCodec,
} from '../../journal/change-runner.ts';
import { record, type ChangeOrigin } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { requireSession } from '../auth-token.ts';
import { requireActiveSession } from '../recent-sign-in.ts';
import { revokeUserSessions } from '../revocation.ts';
import { requireSignInMethod } from '../offered-methods.ts';
import { requireRelyingParty, type PasskeyRequest } from './passkey-check.ts';
import { spendChallenge } from './passkey-challenges.ts';
import { withProof, type ProofInput, type ProofServices, type SessionCaller } from './proof.ts';

/** A change that may have created recovery codes. They are never stored, so a repeated request does not return them. */
interface FactorChange {
  readonly recoveryCodes: readonly string[] | undefined;
  readonly endedSessions: number;
}

const factorCodec: ResultCodec<FactorChange, number> = {
  toStored: ({ endedSessions }) => endedSessions,
  fromStored: (endedSessions) => ({ endedSessions, recoveryCodes: undefined }),
};

type PasskeyChange = FactorChange & { readonly passkeyId: string };

const passkeyCodec: ResultCodec<PasskeyChange, { readonly id: string; readonly ended: number }> = {
  toStored: ({ passkeyId, endedSessions }) => ({ id: passkeyId, ended: endedSessions }),
  fromStored: ({ id, ended }) => ({ passkeyId: id, endedSessions: ended, recoveryCodes: undefined }),
};

const codesCodec: ResultCodec<readonly string[] | undefined, null> = {
  toStored: () => null,
  fromStored: () => undefined,
};

type WithProof<Input = unknown> = Input & { readonly proof?: ProofInput | null | undefined };
type Expiring<T> = T & { readonly expiresAt: number };

type ProvedWork<T> = (
  transaction: Transaction,
  rights: ViewerRights,
  by: ChangeOrigin & { readonly byUserId: string },
) => Promise<T>;

export class SecondFactors {
  readonly #changes: ChangeRunner<ViewerRights>;
  readonly #services: ProofServices;

  constructor(changes: ChangeRunner<ViewerRights>, services: ProofServices) {
    this.#changes = changes;
    this.#services = services;
  }

  /** An existing app stays valid until the new one is confirmed. */
  startTotp(caller: Caller, { proof }: WithProof): Promise<Changed<Expiring<TotpSetup>>> {
    requireSession(caller);
    const { factorEncryption, factorIssuer: issuer } = this.#services;
    const { userId, sessionId } = caller;
    return this.#runWithProof(caller, proof, undefined, async (transaction, _, { now }) => {
      const { username } = await requireUser(transaction, userId);
      const secret = createTotpSecret();
      const expiresAt = now + enrolmentMs;
      const encrypted = factorEncryption.encrypt(secret, userId);
      const enrolment = { userId, passwordDigest: null, ...encrypted, expiresAt };
      await storeEnrolment(transaction, { sessionId }, enrolment);
      return { ...(await describeTotpSecret(secret, { username, issuer })), expiresAt };
    });
  }

  confirmTotp(caller: Caller, { code }: { readonly code: string }): Promise<Changed<FactorChange>> {
    requireSession(caller);
    const { database, clock, factorEncryption } = this.#services;
    const { userId, sessionId } = caller;
    return this.#changes.runUnlessMade(caller, factorCodec, async () => {
      const enrolment = await readEnrolment(database, { sessionId }, clock.now());
      if (!enrolment) throw noEnrolment();
      const step = await checkFirstCode(factorEncryption, enrolment, { code, now: clock.now() });
      if (step === undefined) throw wrongConfirmation();
      return this.#changes.run(caller, {
        codec: factorCodec,
        work: async (transaction, _, by) => {
          await requireActiveSession(transaction, { sessionId, now: by.now });
          const isReplaced = (await readTotp(transaction, userId)) !== undefined;
          const enrolled = await enrolTotp(transaction, { sessionId }, { enrolment, step }, by);
          if (!enrolled) throw noEnrolment();
          const { recoveryCodes } = enrolled;
          const isFirst = recoveryCodes !== undefined;
          const endedSessions = isFirst || isReplaced ? await this.#endOthers(transaction, caller, by) : 0;
          return { recoveryCodes, endedSessions };
        },
      });
    });
  }

  /** Returns the number of ended sessions. */
  removeTotp(caller: Caller, { proof }: WithProof): Promise<Changed<number>> {
    requireSession(caller);
    const { userId } = caller;
    return this.#changeWithProof(caller, proof, numberCodec, async (transaction, rights, by) => {
      if (!(await deleteTotp(transaction, userId, by.now))) {
        throw new Refusal('NOT_FOUND', 'You have no authenticator app.');
      }
      return this.#afterRemoval(transaction, { caller, rights, by, before: { factor: 'TOTP' } });
    });
  }

  createRecoveryCodes(caller: Caller, { proof }: WithProof): Promise<Changed<readonly string[] | undefined>> {
    requireSession(caller);
    const { userId } = caller;
    return this.#changeWithProof(caller, proof, codesCodec, async (transaction, _, by) => {
      if (!(await hasFactor(transaction, userId))) {
        throw new Refusal('CONFLICT', 'Set up an authenticator app or a passkey first.');
      }
      record(transaction, { kind: 'CREATE_RECOVERY_CODES', ...by, userId });
      return replaceRecoveryCodes(transaction, userId);
    });
  }

  startPasskey(caller: Caller, { proof }: WithProof): Promise<Changed<Expiring<PasskeyRequest>>> {
    requireSession(caller);
    const { userId, sessionId } = caller;
    const relyingParty = requireRelyingParty(this.#services);
    return this.#runWithProof(caller, proof, undefined, async (transaction) => {
      const user = await requireUser(transaction, userId);
      const existing = await listCredentials(transaction, userId);
      const issued = this.#services.challenges.issue({ use: 'enrol', userId, sessionId });
      const { id: challengeId, challenge, expiresAt } = issued;
      const options = await createPasskeyOptions({ challenge, relyingParty, user, existing });
      return { challengeId, options, expiresAt };
    });
  }

  /** The challenge belongs to the session that proved its user, so it can create a passkey only for this user. */
  finishPasskey(
    caller: Caller,
    input: { readonly challengeId: string; readonly response?: unknown; readonly name: string },
  ): Promise<Changed<PasskeyChange>> {
    requireSession(caller);
    const { userId, sessionId } = caller;
    const relyingParty = requireRelyingParty(this.#services);
    const name = requireAccountName(input.name.trim(), 'passkey name');
    return this.#changes.runUnlessMade(caller, passkeyCodec, async () => {
      const issued = this.#services.challenges.read(input.challengeId, { use: 'enrol', userId, sessionId });
      const created = issued && (await verifyNewPasskey(input.response, { ...issued, relyingParty }));
      if (!created) throw invalidPasskey();
      return this.#changes.run(caller, {
        codec: passkeyCodec,
        work: async (transaction, _, by) => {
          await requireActiveSession(transaction, { sessionId, now: by.now });
          if (!(await spendChallenge(transaction, issued))) throw invalidPasskey();
          const passkey = { ...created, id: randomUUID(), userId, name };
          const { recoveryCodes } = await storePasskey(transaction, passkey, by.now);
          const after = { factor: 'PASSKEY' satisfies FactorKind, name };
          record(transaction, { kind: 'ENROL_SECOND_FACTOR', ...by, userId, after });
          const endedSessions = recoveryCodes ? await this.#endOthers(transaction, caller, by) : 0;
          return { passkeyId: passkey.id, recoveryCodes, endedSessions };
        },
      });
    });
  }

  renamePasskey(
    caller: Caller,
    { id, name: input }: { readonly id: string; readonly name: string },
  ): Promise<Changed<void>> {
    requireSession(caller);
    const name = requireAccountName(input.trim(), 'passkey name');
    return this.#changes.run(caller, {
      codec: voidCodec,
      work: async (transaction) => {
        await renamePasskey(transaction, { userId: caller.userId, id, name });
      },
    });
  }

  /** Returns the number of ended sessions. */
  removePasskey(caller: Caller, { id, proof }: WithProof<{ readonly id: string }>): Promise<Changed<number>> {
    requireSession(caller);
    const { userId } = caller;
    return this.#changeWithProof(caller, proof, numberCodec, async (transaction, rights, by) => {
      const { name } = await deletePasskey(transaction, { userId, id }, by.now);
      await requireSignInMethod(transaction, userId, this.#services);
      const before = { factor: 'PASSKEY' as const, name };
      return this.#afterRemoval(transaction, { caller, rights, by, before });
    });
  }

  /** Removes all factors of another user, who lost them. Ends all sessions of the user and returns their number. */
  reset(caller: Caller, userId: string): Promise<Changed<number>> {
    return runAsAdministrator(this.#changes, caller, numberCodec, async (transaction, by) => {
      if (userId === caller.userId) {
        throw new Refusal(
          'CONFLICT',
          'You cannot reset your own second factor. Remove it on your account page in the console.',
        );
      }
      return resetSecondFactor(transaction, userId, by);
    });
  }

  /** A repeated request with the same idempotency key needs no second proof. */
  #changeWithProof<T, Stored>(
    caller: SessionCaller,
    proof: ProofInput | null | undefined,
    codec: ResultCodec<T, Stored>,
    work: ProvedWork<T>,
  ): Promise<Changed<T>> {
    return this.#changes.runUnlessMade(caller, codec, () => this.#runWithProof(caller, proof, codec, work));
  }

  #runWithProof<T, Stored>(
    caller: SessionCaller,
    proof: ProofInput | null | undefined,
    codec: ResultCodec<T, Stored> | undefined,
    work: ProvedWork<T>,
  ): Promise<Changed<T>> {
    return withProof(this.#services, caller, proof, (spend) =>
      this.#changes.run(caller, {
        codec,
        work: async (transaction, rights, by) => {
          await spend(transaction);
          return work(transaction, rights, by);
        },
      }),
    );
  }

  async #afterRemoval(
    transaction: Transaction,
    change: {
      readonly caller: SessionCaller;
      readonly rights: ViewerRights;
      readonly by: ChangeOrigin;
      readonly before: { readonly factor: FactorKind; readonly name?: string };
    },
  ): Promise<number> {
    const { caller, rights, by, before } = change;
    const { userId } = caller;
    const isRequired = isFactorRequired(this.#services.policy, rights);
    if (isRequired && !(await hasFactor(transaction, userId))) {
      throw new Refusal(
        'CONFLICT',
        'This server requires a second factor. Add another one before you remove your last one.',
      );
    }
    record(transaction, { kind: 'REMOVE_SECOND_FACTOR', ...by, userId, before });
    return this.#endOthers(transaction, caller, by);
  }

  #endOthers(
    transaction: Transaction,
    { userId, sessionId }: SessionCaller,
    by: ChangeOrigin,
  ): Promise<number> {
    const others = { userId, exceptId: sessionId };
    return revokeUserSessions(transaction, others, { because: 'second-factor', ...by });
  }
}

/** Removes all factors of a user, and ends all sessions. Returns the number of sessions. */
export async function resetSecondFactor(
  transaction: Transaction,
  userId: string,
  by: ChangeOrigin,
): Promise<number> {
  const { isAdministrator } = await requireUser(transaction, userId);
  if (isAdministrator) requireNoApiKey(by);
  await deleteEnrolments(transaction, userId);
  if (!(await deleteFactors(transaction, userId, by.now))) {
    throw new Refusal('CONFLICT', 'This user has no second factor.');
  }
  record(transaction, { kind: 'RESET_SECOND_FACTOR', ...by, userId });
  return revokeUserSessions(transaction, { userId }, { because: 'second-factor', ...by });
}

function noEnrolment(): Refusal {
  return new Refusal(
    'NOT_FOUND',
    'There is no started enrolment in this session, or it has expired. Call `startTotpEnrolment` again.',
  );
}

function wrongConfirmation(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    'The code is wrong. Enter the code that your authenticator app shows now, and check the clock of the device.',
    { facts: { inputField: 'code' } },
  );
}

function invalidPasskey(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    'The passkey was not accepted, or the time for it has passed. Call `startPasskeyEnrolment` again.',
    { facts: { inputField: 'response' } },
  );
}
