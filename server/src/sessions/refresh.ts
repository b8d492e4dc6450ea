/**
 * Refreshes sessions: a client sends its refresh token, which is then spent, and receives new tokens. One conditional update of the
 * session's row decides which of several concurrent refreshes succeeds. A spent token is used again if a response was lost,
 * a second tab used the token, or an attacker stole the token. The age of the token decides which cause the server assumes.
 *
 * The new tokens are stored encrypted as the successor of the spent token, for `refreshRetrySeconds`. After
 * `reuseToleranceSeconds`, a replay that gets no successor counts as a theft.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Database, Transaction } from '../database/database.ts';
import { decryptBytes, deriveKey, encryptBytes, sha256 } from '../database/encryption.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AuthTokens, SessionViewer } from './auth-token.ts';
import type { ClientInfo } from './session-reads.ts';
import { revokeSession, type RevocationCache } from './revocation.ts';
import {
  countReplays,
  findSpent,
  insertSpent,
  ReplayCounts,
  type SpentToken,
  type TokenUse,
} from './spent-tokens.ts';

export interface Tokens {
  readonly authToken: string;
  readonly refreshToken: string;
}

export interface IssuedTokens extends Tokens {
  readonly userId: string;
  readonly sessionId: string;
  readonly expiresInSeconds: number;
}

export interface RefreshOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly authTokens: AuthTokens;
  readonly revoked: RevocationCache;
  /** Called when a session is revoked because a token was probably stolen. */
  readonly onTheft: (theft: Theft) => void;
  /** Called for a replay within the tolerance, which is probably the same client. */
  readonly onReplay?: (() => void) | undefined;
  readonly settings: Pick<
    Settings,
    'authTokenSeconds' | 'refreshTokenSeconds' | 'reuseToleranceSeconds' | 'refreshRetrySeconds'
  >;
}

interface Theft extends ClientInfo {
  readonly userId: string;
  readonly sessionId: string;
}

const isCurrent = sql`id = ${'id'} and refresh_digest = ${'digest'} and revoked_at is null
    and refresh_expires_at > ${'now'}`;

const replaceRefreshToken = sql<TokenUse & { id: string; next: Uint8Array; expiresAt: number }>`
  update sessions set refresh_digest = ${'next'}, refreshed_at = ${'now'}, refresh_expires_at = ${'expiresAt'},
    address = ${'address'}, agent = ${'agent'}
  where ${isCurrent}`;

/** Reads without a lock. Without a result, the token is spent, expired, revoked or unknown, and remains so. */
const findRefreshable = sql<{ id: string; digest: Uint8Array; now: number }, { id: string }>`
  select id from sessions where ${isCurrent}`;

export class TokenRefresh {
  readonly #options: RefreshOptions;
  readonly #replays = new ReplayCounts();

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  async refresh(old: Tokens, client: ClientInfo): Promise<IssuedTokens> {
    const { database, clock, authTokens } = this.#options;
    const token = authTokens.read(old.authToken);
    if (!token) throw new Refusal('INVALID_AUTH_TOKEN');
    const digest = sha256(old.refreshToken);
    const createUse = (): TokenUse => ({ digest, now: clock.now(), ...client });
    // Only a request that can succeed waits for the write lock. The conditional update then decides.
    const session = await database.get(findRefreshable, { id: token.sessionId, ...createUse() });
    const issued =
      session &&
      (await database.transaction((transaction) => this.#tryRefresh(transaction, token, old, createUse())));
    if (issued) return issued;
    const spent = await findSpent(database, digest);
    // Read the time after the row, so that a concurrent refresh does not seem to be in the future.
    return this.#handleReplay(spent, old, createUse());
  }

  /** Issues tokens for a session. */
  issue(userId: string, sessionId: string, refreshToken: string): IssuedTokens {
    const { authTokens, settings } = this.#options;
    const authToken = authTokens.issue(userId, sessionId);
    return { authToken, refreshToken, expiresInSeconds: settings.authTokenSeconds, userId, sessionId };
  }

  expiryFrom(now: number): number {
    return now + this.#options.settings.refreshTokenSeconds * 1000;
  }

  /** Writes the number of replays to the database. */
  storeReplays(): Promise<void> {
    return this.#replays.store(this.#options.database);
  }

  /** Runs the conditional update. Returns undefined if the tokens are not the current tokens of an active session. */
  async #tryRefresh(
    transaction: Transaction,
    { userId, sessionId }: SessionViewer,
    old: Tokens,
    use: TokenUse,
  ): Promise<IssuedTokens | undefined> {
    const refreshToken = newRefreshToken();
    const next = sha256(refreshToken);
    const expiresAt = this.expiryFrom(use.now);
    const changed = await transaction.run(replaceRefreshToken, { ...use, id: sessionId, next, expiresAt });
    if (changed === 0) return undefined;
    const issued = this.issue(userId, sessionId, refreshToken);
    const isRetryAllowed = this.#options.settings.refreshRetrySeconds > 0;
    const successor = isRetryAllowed ? encryptSuccessor(issued, old) : null;
    await transaction.run(insertSpent, { ...use, sessionId, successor });
    return issued;
  }

  /**
   * Only a token that is stored as spent can be a replay. An unknown token has no effect. A late replay is a theft: the response
   * was not lost, and no second tab had the token for so long.
   */
  async #handleReplay(spent: SpentToken | undefined, old: Tokens, use: TokenUse): Promise<IssuedTokens> {
    if (!spent || spent.revokedAt !== null) throw new Refusal('INVALID_REFRESH_TOKEN');
    const { refreshRetrySeconds, reuseToleranceSeconds } = this.#options.settings;
    // Negative if the clock was set back since then, or if the token was spent on a node whose clock is ahead.
    const ageSeconds = (use.now - spent.spentAt) / 1000;
    // The real age of a token from the future is unknown. It may be old and stolen, so it gets no successor.
    const mayRetry = ageSeconds >= 0 && ageSeconds <= refreshRetrySeconds;
    const successor = mayRetry ? this.#readSuccessor(spent, old, use.now) : undefined;
    // The tolerance also covers nodes whose clocks differ: a client that retries on another node keeps its session.
    if (!successor && Math.abs(ageSeconds) > reuseToleranceSeconds) await this.#revokeStolen(spent, use);
    else {
      this.#replays.add(use);
      this.#options.onReplay?.();
    }
    if (!successor) throw new Refusal('INVALID_REFRESH_TOKEN');
    return successor;
  }

  #readSuccessor({ successor: encrypted }: SpentToken, old: Tokens, now: number): IssuedTokens | undefined {
    const successor = encrypted ? decryptSuccessor(encrypted, old) : undefined;
    const token = successor && this.#options.authTokens.read(successor.authToken);
    if (!token) return undefined;
    const leftMs = Math.max(0, token.tokenExpiresAt - now);
    const { userId, sessionId } = token;
    return { ...successor, expiresInSeconds: Math.floor(leftMs / 1000), userId, sessionId };
  }

  /** The revocation is committed although the client gets an error. */
  async #revokeStolen({ sessionId, userId, spentAt }: SpentToken, use: TokenUse): Promise<void> {
    const { database, clock, revoked, onTheft } = this.#options;
    const { digest, now, address, agent } = use;
    const isRevoked = await runChange(database, async (transaction) => {
      // Another replay or a logout may have revoked the session.
      if ((await findSpent(transaction, digest))?.revokedAt !== null) return false;
      await transaction.run(countReplays, { ...use, times: 1 });
      const details = { address, agent, spentAt: new Date(spentAt).toISOString() };
      const session = { sessionId, userId };
      await revokeSession(transaction, session, { because: 'replay', now, byUserId: null, details });
      return true;
    });
    if (!isRevoked) return;
    revoked.add(sessionId, clock.now());
    onTheft({ sessionId, userId, address, agent });
  }
}

/** 122 random bits (RFC 9562, version 4). */
export function newRefreshToken(): string {
  return randomUUID();
}

/** Only a client with both old tokens can decrypt the successor. */
export function encryptSuccessor(successor: Tokens, old: Tokens): Uint8Array {
  return encryptBytes(Buffer.from(JSON.stringify(successor)), successorKey(old));
}

/** Returns undefined if the auth token does not belong to the spent refresh token. */
export function decryptSuccessor(encrypted: Uint8Array, old: Tokens): Tokens | undefined {
  const decrypted = decryptBytes(encrypted, successorKey(old));
  return decrypted && (JSON.parse(Buffer.from(decrypted).toString()) as Tokens);
}

/** The purpose is a part of the key: with a different text, stored successors cannot be decrypted. */
function successorKey({ authToken, refreshToken }: Tokens): Uint8Array {
  return deriveKey(refreshToken, { salt: authToken, purpose: 'espalier successor pair' });
}
