/** Sign-in with a passkey alone: the passkey names the user, and the authenticator has verified the user. */

import type { Transaction } from '../../database/database.ts';
import { Refusal } from '../../refusal.ts';
import type { ClearFailures } from '../login-throttle.ts';
import type { IssuedTokens } from '../refresh.ts';
import type { ClientInfo } from '../session-reads.ts';
import type { Sessions } from '../sessions.ts';
import type { SignIns } from '../sign-ins.ts';
import { unlessUsed } from './code-check.ts';
import {
  checkPasskey,
  createPasskeyRequest,
  type PasskeyRequest,
  type PasskeyResponse,
} from './passkey-check.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

interface PasskeyLoginServices extends SecondFactorServices {
  readonly sessions: Pick<Sessions, 'startSession'>;
  readonly signIns: Pick<SignIns, 'record' | 'recordThrottled'>;
}

export class PasskeyLogin {
  readonly #services: PasskeyLoginServices;

  constructor(services: PasskeyLoginServices) {
    this.#services = services;
  }

  /** Whether to offer passkeys to a browser that reached the server under this host name. */
  isOffered(hostname: string): boolean {
    const { relyingParty } = this.#services;
    return relyingParty !== undefined && (!relyingParty.isLocal || hostname === relyingParty.id);
  }

  /** Reads and writes no database. */
  createRequest(): Promise<PasskeyRequest> {
    return createPasskeyRequest(this.#services);
  }

  /** Refuses every response that is not accepted with the same error. */
  async logIn(input: PasskeyResponse, client: ClientInfo): Promise<IssuedTokens> {
    const { throttle, sessions, signIns } = this.#services;
    const attempt = { userId: null, username: null, method: 'PASSKEY', ...client } as const;
    const logIn = async (clearFailures: ClearFailures): Promise<IssuedTokens | undefined> => {
      const checked = await checkPasskey(this.#services, input);
      if (!checked) {
        signIns.record({ ...attempt, result: 'WRONG_CREDENTIALS' });
        return undefined;
      }
      const { userId, spend } = checked;
      const inTransaction = async (transaction: Transaction) => {
        await spend(transaction);
        await clearFailures(transaction);
      };
      const done = await unlessUsed(async () => ({
        issued: await sessions.startSession({ userId }, client, { method: 'PASSKEY', inTransaction }),
      }));
      if (!done) signIns.record({ ...attempt, userId, result: 'WRONG_CREDENTIALS' });
      return done?.issued;
    };
    const issued = await signIns.recordThrottled(attempt, () =>
      throttle.attempt({ passkeyFrom: client.address }, logIn),
    );
    if (issued) return issued;
    throw new Refusal(
      'INVALID_CREDENTIALS',
      'The passkey was not accepted. Try again, use another passkey, or log in with your password.',
    );
  }
}
