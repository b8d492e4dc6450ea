/** The step of a login after the correct password: a code, or the start of an enrolment if the operator requires a second factor. */

import type { RefusalCode } from '@espalier/contract';
import type { LoginCredentials } from '../../accounts/passwords.ts';
import {
  digestOfPasswordHash,
  enrolmentMs,
  storeEnrolment,
} from '../../accounts/second-factors/enrolments.ts';
import { isFactorRequired, readSecondFactorMethods } from '../../accounts/second-factors/factors.ts';
import { createTotpSecret } from '../../accounts/second-factors/totp.ts';
import type { Transaction } from '../../database/database.ts';
import { randomSecret } from '../../database/encryption.ts';
import { Refusal } from '../../refusal.ts';
import type { ClearFailures } from '../login-throttle.ts';
import { checkCode, unlessUsed } from './code-check.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

/** Starts the session. */
type StartSession<Issued> = (options: {
  readonly inTransaction: (transaction: Transaction) => Promise<void>;
  readonly writesJournal: boolean;
}) => Promise<Issued | undefined>;

/** A login with a correct password. */
interface CheckedLogin {
  readonly credentials: LoginCredentials;
  /** As the user typed it. */
  readonly code: string | undefined;
  readonly clearFailures: ClearFailures;
  /** Called for a wrong or used code. */
  readonly onWrongCode: () => void;
}

export class SecondStep {
  readonly #services: SecondFactorServices;

  constructor(services: SecondFactorServices) {
    this.#services = services;
  }

  /** Whether the correct password starts a session. */
  isPasswordEnough(credentials: LoginCredentials): boolean {
    return !credentials.hasSecondFactor && !isFactorRequired(this.#services.policy, credentials);
  }

  /**
   * Starts the session if the code is correct. Returns undefined after a wrong code, or if the user was changed meanwhile. Refuses a
   * login without a code, and a login of a user who must enrol first.
   */
  async complete<Issued>(login: CheckedLogin, start: StartSession<Issued>): Promise<Issued | undefined> {
    const { credentials, code } = login;
    const { userId } = credentials;
    if (!credentials.hasSecondFactor) throw await this.#startEnrolment(credentials);
    if (code === undefined) throw await this.#codeRequired(userId);
    return this.#services.throttle.attempt({ codeOf: userId }, async (clearCodeFailures) => {
      const checked = await checkCode(this.#services, { userId, code });
      const done =
        checked &&
        (await unlessUsed(async () => ({
          issued: await start({
            writesJournal: checked.writesJournal,
            inTransaction: async (transaction) => {
              await checked.spend(transaction);
              await login.clearFailures(transaction);
              await clearCodeFailures(transaction);
            },
          }),
        })));
      if (!done) login.onWrongCode();
      return done?.issued;
    });
  }

  async #codeRequired(userId: string): Promise<Refusal> {
    const { database, relyingParty } = this.#services;
    const methods = await readSecondFactorMethods(database, { userId, relyingParty });
    return new Refusal(
      'SECOND_FACTOR_REQUIRED',
      'The password is correct. Send the login again with a `code`: a code of your authenticator app or a recovery code. Or sign in with a passkey.',
      { methods },
    );
  }

  async #startEnrolment({ userId, passwordHash }: LoginCredentials): Promise<Refusal> {
    const { database, clock, factorEncryption } = this.#services;
    const enrolmentToken = randomSecret();
    const enrolment = {
      ...factorEncryption.encrypt(createTotpSecret(), userId),
      userId,
      passwordDigest: digestOfPasswordHash(passwordHash),
      expiresAt: clock.now() + enrolmentMs,
    };
    await database.transaction((transaction) =>
      storeEnrolment(transaction, { token: enrolmentToken }, enrolment),
    );
    return new Refusal(
      'SECOND_FACTOR_ENROLMENT_REQUIRED',
      'The password is correct. Set up a second factor to log in: send the `enrolmentToken` to `/login/enrolment`.',
      { enrolmentToken },
    );
  }
}

/** Whether a refusal means that the password was correct, and that the client must continue with a code or an enrolment. */
export function isSecondStepMissing(code: RefusalCode | null): boolean {
  return code === 'SECOND_FACTOR_REQUIRED' || code === 'SECOND_FACTOR_ENROLMENT_REQUIRED';
}
