/** An API key instead of a session: it needs no login and no refresh, and a client never stores it. */

import { apiKeyError, EspalierError } from '../errors.ts';
import type { Session, SignalOptions } from './session.ts';

/** Supplies the bearer token of each request: the auth token of a session, or an API key. */
export interface Authentication {
  /** Whether the token is an API key. No other token can follow when the server rejects it. */
  readonly isApiKey: boolean;
  authToken: Session['authToken'];
  listen: Session['listen'];
}

export class ApiKey implements Authentication {
  readonly isApiKey = true;
  // Private, so that a printed client does not contain the key.
  readonly #text: string;

  constructor(input: string) {
    // Files and variables often end with a line break.
    const text = typeof input === 'string' ? input.trim() : '';
    // The server checks the rest, so that a later version can change the length.
    if (!/^esp_[\dA-Za-z]+$/.test(text)) {
      throw new EspalierError(
        'BAD_INPUT',
        'The apiKey of a client must start with esp_, followed by letters and digits. Copy it again.',
      );
    }
    this.#text = text;
  }

  async authToken({
    refused,
    signal,
  }: SignalOptions & { refused?: string | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    if (refused === this.#text) throw apiKeyError();
    return Promise.resolve(this.#text);
  }

  /** A key has no session, so there are no events. */
  listen(): () => void {
    return () => undefined;
  }
}

/** The calls of a client that need a session, for a client with an API key. */
export function createSessionCallsForApiKey(key: ApiKey) {
  const refuse = (call: string) => () =>
    Promise.reject(
      new EspalierError(
        'FORBIDDEN',
        `${call}() needs a session, and this client uses an API key. Create a client without apiKey.`,
      ),
    );
  return {
    login: refuse('login'),
    startSingleSignOn: refuse('startSingleSignOn'),
    completeSingleSignOn: refuse('completeSingleSignOn'),
    startEnrolment: refuse('startEnrolment'),
    confirmEnrolment: refuse('confirmEnrolment'),
    startPasskeyLogin: refuse('startPasskeyLogin'),
    loginWithPasskey: refuse('loginWithPasskey'),
    startViewAs: refuse('startViewAs'),
    logout: refuse('logout'),
    verify: refuse('verify'),
    isLoggedIn: () => Promise.resolve(false),
    authToken: (options?: Parameters<ApiKey['authToken']>[0]) => key.authToken(options),
    onSession: () => key.listen(),
  };
}
