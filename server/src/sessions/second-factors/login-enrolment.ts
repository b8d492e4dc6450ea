/** The enrolment of a user who needs a second factor to log in. The enrolment token proves the correct password. */

import {
  checkFirstCode,
  digestOfPasswordHash,
  enrolTotp,
  readEnrolment,
  type Enrolment,
} from '../../accounts/second-factors/enrolments.ts';
import { hasFactor, decryptSecret } from '../../accounts/second-factors/factors.ts';
import { describeTotpSecret, type TotpSetup } from '../../accounts/second-factors/totp.ts';
import { readPasswordHash } from '../../accounts/passwords.ts';
import { readUser, requireUser } from '../../accounts/users.ts';
import type { Transaction } from '../../database/database.ts';
import { Refusal } from '../../refusal.ts';
import type { ClearFailures } from '../login-throttle.ts';
import type { IssuedTokens } from '../refresh.ts';
import { revokeUserSessions } from '../revocation.ts';
import type { ClientInfo } from '../session-reads.ts';
import type { Sessions } from '../sessions.ts';
import type { SignIns } from '../sign-ins.ts';
import { wrongSecondFactor } from './code-check.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

interface EnrolmentServices extends SecondFactorServices {
  readonly sessions: Pick<Sessions, 'startSession'>;
  readonly signIns: Pick<SignIns, 'record' | 'recordThrottled'>;
}

/** The user name is displayed, because the client may not know how the server writes it. */
type LoginEnrolment = TotpSetup & { readonly username: string };

type EnrolledLogin = IssuedTokens & { readonly recoveryCodes: readonly string[] };

export class LoginEnrolments {
  readonly #services: EnrolmentServices;

  constructor(services: EnrolmentServices) {
    this.#services = services;
  }

  /** Returns the secret of the started enrolment. The same token returns the same secret. */
  async describe(token: string): Promise<LoginEnrolment> {
    const { database, factorEncryption, factorIssuer: issuer } = this.#services;
    const enrolment = await this.#require(token);
    const { username } = await requireUser(database, enrolment.userId);
    const setup = await describeTotpSecret(decryptSecret(factorEncryption, enrolment), { username, issuer });
    return { ...setup, username };
  }

  /** Stores the authenticator app, ends all other sessions of the user, and starts a session. */
  async confirm(
    { token, code }: { readonly token: string; readonly code: string },
    client: ClientInfo,
  ): Promise<EnrolledLogin> {
    const { clock, factorEncryption, sessions, signIns, throttle } = this.#services;
    const enrolment = await this.#require(token);
    const { userId } = enrolment;
    const attempt = { userId, username: null, method: 'PASSWORD', ...client } as const;
    const confirm = async (clearFailures: ClearFailures) => {
      const step = await checkFirstCode(factorEncryption, enrolment, { code, now: clock.now() });
      if (step === undefined) return undefined;
      let recoveryCodes: readonly string[] = [];
      const issued = await sessions.startSession({ userId }, client, {
        method: 'PASSWORD',
        writesJournal: true,
        inTransaction: async (transaction) => {
          recoveryCodes = await this.#enrol(transaction, { token, enrolment, step });
          await clearFailures(transaction);
        },
      });
      if (!issued) throw invalidToken();
      return { ...issued, recoveryCodes };
    };
    const login = await signIns.recordThrottled(attempt, () => throttle.attempt({ codeOf: userId }, confirm));
    if (login) return login;
    signIns.record({ ...attempt, result: 'WRONG_SECOND_FACTOR' });
    throw wrongSecondFactor();
  }

  async #require(token: string): Promise<Enrolment> {
    const enrolment = await readEnrolment(this.#services.database, { token }, this.#services.clock.now());
    if (!enrolment) throw invalidToken();
    return enrolment;
  }

  /** Holds the lock of the journal, so the user and the password do not change meanwhile. */
  async #enrol(
    transaction: Transaction,
    { token, enrolment, step }: { token: string; enrolment: Enrolment; step: number },
  ): Promise<readonly string[]> {
    const { userId, passwordDigest } = enrolment;
    const by = { byUserId: userId, now: this.#services.clock.now() };
    const user = await readUser(transaction, userId);
    const passwordHash = await readPasswordHash(transaction, userId);
    const isSamePassword =
      passwordHash !== undefined &&
      passwordDigest !== null &&
      Buffer.compare(digestOfPasswordHash(passwordHash), passwordDigest) === 0;
    const isValid = user?.disabledAt === null && isSamePassword && !(await hasFactor(transaction, userId));
    const enrolled = isValid ? await enrolTotp(transaction, { token }, { enrolment, step }, by) : undefined;
    if (!enrolled) throw invalidToken();
    await revokeUserSessions(transaction, { userId }, { because: 'second-factor', ...by });
    // The app is the first factor.
    return enrolled.recoveryCodes!;
  }
}

function invalidToken(): Refusal {
  return new Refusal(
    'INVALID_ENROLMENT_TOKEN',
    'The enrolment token is not valid, has expired, or was used already. Log in again to get a new one.',
  );
}
