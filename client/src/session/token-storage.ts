/** The storage of a session's tokens: its interface, the storage in memory, and the tokens that a server sends. */

import type { ApiResponse } from '../requests.ts';

/** The tokens of a session. */
export interface Tokens {
  readonly authToken: string;
  readonly refreshToken: string;
  /** When the auth token expires, in milliseconds since 1970 by the client's clock. */
  readonly expiresAt: number;
  /** The total lifetime of the auth token, in seconds. */
  readonly lifetimeSeconds: number;
}

/**
 * Stores the tokens of a session. Implement it to store them elsewhere, for example in a file or a keychain.
 *
 * @example
 * const file = 'tokens.json'; // Readable only by its owner.
 * const storage: TokenStorage = {
 *   read: () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined),
 *   write: (tokens) => (tokens ? writeFileSync(file, JSON.stringify(tokens), { mode: 0o600 }) : rmSync(file, { force: true })),
 * };
 */
export interface TokenStorage {
  /** Returns the stored tokens, or undefined if there is no session. */
  read(): Tokens | undefined | Promise<Tokens | undefined>;
  /**
   * Stores new tokens, or undefined when the session has ended. `hasEnded` is true if the server ended the session; other
   * clients of this storage need it to distinguish that from a logout.
   */
  write(tokens: Tokens | undefined, hasEnded?: boolean): void | Promise<void>;
  /**
   * Runs `work` while no other tab or process with the same storage runs its own. Inside `work`, the client reads the tokens
   * again and refreshes them, so each refresh token is used once. Omit `lock` if no other tab or process uses the storage.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
  /** Calls the listener when another tab or process has stored or deleted tokens. Returns a function that removes the listener. */
  onChange?(listener: (tokens: Tokens | undefined, hasEnded?: boolean) => void): () => void;
  /** Closes channels and timers. */
  close?(): void;
}

/** Stores tokens in memory. They are lost when the page or the process ends. */
export function memoryStorage(): TokenStorage {
  let stored: Tokens | undefined;
  return {
    read: () => stored,
    write: (tokens) => void (stored = tokens),
  };
}

interface Claims {
  /** The id of the user. */
  readonly sub?: string;
  /** When the token expires, in seconds since 1970 by the server's clock. */
  readonly exp?: number;
}

/** Reads the claims of an auth token without verifying it. Returns an empty object if the token is malformed. */
export function readClaims(authToken = ''): Claims {
  try {
    const claims = atob((authToken.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return JSON.parse(claims) as Claims;
  } catch {
    return {};
  }
}

/** Returns undefined if the response contains no tokens. */
export function readTokens({ status, value }: ApiResponse, sentAt: number): Tokens | undefined {
  const { authToken, refreshToken, expires_in: lifetimeSeconds } = value;
  const isComplete =
    status === 200 &&
    typeof authToken === 'string' &&
    typeof refreshToken === 'string' &&
    typeof lifetimeSeconds === 'number';
  if (!isComplete) return undefined;
  return { authToken, refreshToken, lifetimeSeconds, expiresAt: sentAt + lifetimeSeconds * 1000 };
}
