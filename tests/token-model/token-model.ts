/**
 * Implements the state table of the contract (§3 to §5 and §7) and the additions of docs/clients/tokens.md: users,
 * sessions and tokens with a clock. Computes the expected responses without the server's code and rows.
 */

import type { Clock } from 'espalier';
import { readKeyId } from '../keys/key-id.ts';

export interface ModelUser {
  readonly id: string;
  readonly username: string;
  password: string;
  isDisabled: boolean;
  isDeleted: boolean;
}

export interface ModelSession {
  readonly id: string;
  readonly user: ModelUser;
  /** The current one is last. */
  readonly refreshTokens: RefreshToken[];
  /** The newest is last. */
  readonly authTokens: AuthToken[];
  /** Ended by /logout: its auth tokens stay valid. */
  isLoggedOut: boolean;
  /** Ended in another way: its auth tokens are invalid. */
  isEnded: boolean;
}

export interface AuthToken {
  readonly text: string;
  readonly session: ModelSession;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface RefreshToken {
  readonly text: string;
  readonly session: ModelSession;
  readonly expiresAt: number;
  spent?: Spent;
}

interface Spent {
  readonly at: number;
  /** The auth token used for the exchange. */
  readonly withText: string;
  readonly successor: Tokens;
  /** The server has purged the record of this token. */
  isForgotten: boolean;
}

export interface Tokens {
  readonly authToken: string;
  readonly refreshToken: string;
}

export interface Expected {
  readonly status: number;
  /** Whether the response has the header `token-expired: true`. */
  readonly isExpired?: boolean;
  /** For a 401: whether it reports an invalid bearer token (RFC 6750 §3.1). */
  readonly challenge?: 'plain' | 'invalid_token';
  /** For a login or a refresh: new tokens, or exactly these. */
  readonly tokens?: 'new' | Tokens;
  readonly expiresIn?: number;
  /** The session of the request. */
  readonly session?: ModelSession;
}

export interface ModelSettings {
  /** The setting REFRESH_RETRY_SECONDS. */
  readonly retrySeconds: number;
}

export const authTokenMs = 600_000;
export const refreshTokenMs = 60 * 86_400_000;
export const toleranceMs = 60_000;
export const spentRetentionMs = 7 * 86_400_000;

const plainRefusal: Expected = { status: 401, challenge: 'plain' };

export class TokenModel {
  readonly users: ModelUser[] = [];
  readonly sessions: ModelSession[] = [];
  readonly retryMs: number;
  readonly #clock: Clock;
  readonly #authTokens = new Map<string, AuthToken>();
  readonly #refreshTokens = new Map<string, RefreshToken>();
  readonly #retiredKeys = new Set<string>();

  constructor(clock: Clock, { retrySeconds }: ModelSettings) {
    this.#clock = clock;
    this.retryMs = retrySeconds * 1000;
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Names are case-insensitive (docs/decisions/01-tokens-and-signing-keys.md). */
  findUser(name: string): ModelUser | undefined {
    return this.users.find(
      ({ username, isDeleted }) => !isDeleted && username.toLowerCase() === name.toLowerCase(),
    );
  }

  isValid(token: AuthToken): boolean {
    return this.now < token.expiresAt && !isInvalidated(token.session) && !this.#isSignedByRetiredKey(token);
  }

  /** Tokens signed by a retired key are invalid (docs/operators/signing-keys.md). */
  retireKey(id: string): void {
    this.#retiredKeys.add(id);
  }

  /** Whether the current refresh token can be exchanged. */
  isAlive(session: ModelSession): boolean {
    return (
      !session.isLoggedOut && !isInvalidated(session) && this.now < session.refreshTokens.at(-1)!.expiresAt
    );
  }

  /** §7: 401 for invalid credentials, without a reason. */
  logIn(username: string, password: string): Expected {
    const user = this.findUser(username);
    if (!user || user.isDisabled || user.password !== password) return plainRefusal;
    return { status: 200, tokens: 'new', expiresIn: authTokenMs / 1000 };
  }

  /** §5.3: an authorized endpoint. */
  authorize(authorization: string | undefined): Expected {
    const token = this.#readBearer(authorization);
    if (!token) return refuse(authorization);
    if (this.now >= token.expiresAt) return { ...refuse(authorization), isExpired: true };
    if (!this.isValid(token)) return refuse(authorization);
    return { status: 200, session: token.session };
  }

  /** §4.2: 204 only for a valid auth token issued by this server; §7: 400 otherwise. */
  verify(text: string): Expected {
    const token = this.#authTokens.get(text);
    return { status: token && this.isValid(token) ? 204 : 400 };
  }

  /** §3, §5.6: requires an auth token, expired or not, and the current refresh token of the same login. */
  refresh(authorization: string | undefined, refreshText: string): Expected {
    const token = this.#readBearer(authorization);
    if (!token) return refuse(authorization);
    const refreshToken = this.#refreshTokens.get(refreshText);
    if (!refreshToken) return plainRefusal;
    const { session, spent } = refreshToken;
    if (session.isLoggedOut || isInvalidated(session)) return plainRefusal;
    if (!spent) {
      const isValid = session === token.session && this.now < refreshToken.expiresAt;
      return isValid ? { status: 200, tokens: 'new', expiresIn: authTokenMs / 1000, session } : plainRefusal;
    }
    return this.#replay(spent, token, session);
  }

  /** §4.1: the auth token takes precedence, and the body is not validated. */
  logOut(authorization: string | undefined, refreshText: string | undefined): Expected {
    if (authorization !== undefined) {
      const expected = this.authorize(authorization);
      if (!expected.session) return expected;
      expected.session.isLoggedOut = true;
      return { status: 204 };
    }
    const refreshToken = refreshText === undefined ? undefined : this.#refreshTokens.get(refreshText);
    if (!refreshToken || refreshToken.spent || !this.isAlive(refreshToken.session)) return { status: 400 };
    refreshToken.session.isLoggedOut = true;
    return { status: 204 };
  }

  /** Records the tokens issued by a login. */
  start(user: ModelUser, id: string, tokens: Tokens): void {
    const session = { id, user, refreshTokens: [], authTokens: [], isLoggedOut: false, isEnded: false };
    this.sessions.push(session);
    this.#issue(session, tokens);
  }

  /** Records the tokens issued by a refresh. */
  exchange(session: ModelSession, withText: string, successor: Tokens): void {
    const old = session.refreshTokens.at(-1)!;
    old.spent = { at: this.now, withText, successor, isForgotten: false };
    this.#issue(session, successor);
  }

  /** Ends all sessions of a user, or all except one. */
  endAllSessions(user: ModelUser, except?: ModelSession): void {
    for (const session of this.sessions) {
      if (session.user === user && session !== except) session.isEnded = true;
    }
  }

  /** Purges records of refresh tokens that were spent more than seven days ago. */
  purge(): void {
    for (const { spent } of this.#refreshTokens.values()) {
      if (spent && this.now - spent.at > spentRetentionMs) spent.isForgotten = true;
    }
  }

  /** A replay within the tolerance counts as a lost response. A later one counts as theft, with any auth token. */
  #replay(spent: Spent, { text }: AuthToken, session: ModelSession): Expected {
    if (spent.isForgotten) return plainRefusal;
    const ageMs = this.now - spent.at;
    if (this.retryMs > 0 && ageMs <= this.retryMs && spent.withText === text) {
      const successorToken = this.#authTokens.get(spent.successor.authToken)!;
      const expiresIn = Math.max(0, Math.floor((successorToken.expiresAt - this.now) / 1000));
      if (!this.#isSignedByRetiredKey(successorToken))
        return { status: 200, tokens: spent.successor, expiresIn };
    }
    if (ageMs > toleranceMs) session.isEnded = true;
    return plainRefusal;
  }

  #issue(session: ModelSession, { authToken, refreshToken }: Tokens): void {
    const { now } = this;
    const newAuthToken = { text: authToken, session, issuedAt: now, expiresAt: now + authTokenMs };
    const newRefreshToken = { text: refreshToken, session, expiresAt: now + refreshTokenMs };
    session.authTokens.push(newAuthToken);
    session.refreshTokens.push(newRefreshToken);
    this.#authTokens.set(authToken, newAuthToken);
    this.#refreshTokens.set(refreshToken, newRefreshToken);
  }

  /** §5.1: the word Bearer, one space, and exactly the text of an issued token. */
  #readBearer(authorization: string | undefined): AuthToken | undefined {
    const text = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    const token = text === undefined ? undefined : this.#authTokens.get(text);
    return token && this.#isSignedByRetiredKey(token) ? undefined : token;
  }

  #isSignedByRetiredKey({ text }: AuthToken): boolean {
    return this.#retiredKeys.has(readKeyId({ authToken: text }));
  }
}

/** Ended in another way than by a logout: its auth tokens are invalid immediately. */
function isInvalidated({ isEnded, user }: ModelSession): boolean {
  return isEnded || user.isDeleted;
}

function refuse(authorization: string | undefined): Expected {
  return { status: 401, challenge: /^bearer\b/i.test(authorization ?? '') ? 'invalid_token' : 'plain' };
}
