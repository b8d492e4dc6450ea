/**
 * Exchanges a refresh token for new tokens. One conditional update of the session's row decides which of several concurrent
 * refreshes succeeds. A spent token that is used again is a lost response, a second tab or a theft, depending on its age.
 */

import type { Clock } from '../clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AuthTokens } from './auth-token.ts';
import type { Client } from './list-sessions.ts';
import {
  decryptSuccessor,
  digestOf,
  encryptSuccessor,
  newRefreshToken,
  type TokenPair,
} from './refresh-token.ts';
import type { RevocationCache } from './revocation-cache.ts';
import { revokeById } from './revocation.ts';
import {
  createReplayCounts,
  findSpent,
  recordReplays,
  recordSpent,
  type SpentToken,
  type TokenUse,
} from './spent-tokens.ts';
import type { Viewer } from './viewer.ts';

export interface IssuedTokens extends TokenPair {
  readonly userId: string;
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
  readonly settings: {
    readonly accessTokenSeconds: number;
    readonly refreshTokenSeconds: number;
    readonly reuseToleranceSeconds: number;
    readonly refreshRetrySeconds: number;
  };
}

export interface Theft extends Client {
  readonly userId: string;
  readonly sessionId: string;
}

/** The result of replaying a spent refresh token. */
interface Replay {
  /** The session must be revoked: the token was spent too long ago for a lost response or a second tab. */
  readonly isTheft: boolean;
  /** The tokens that it was exchanged for, within `refreshRetrySeconds`. */
  readonly successor?: IssuedTokens | undefined;
}

const isCurrent = sql`id = ${'id'} and refresh_digest = ${'digest'} and revoked_at is null
    and refresh_expires_at > ${'now'}`;

const rotate = sql<TokenUse & { id: string; next: Uint8Array; expiresAt: number }>`
  update sessions set refresh_digest = ${'next'}, refreshed_at = ${'now'}, refresh_expires_at = ${'expiresAt'},
    address = ${'address'}, agent = ${'agent'}
  where ${isCurrent}`;

/** Read without a lock. A token that does not meet the condition can never be exchanged. */
const findExchangeable = sql<{ id: string; digest: Uint8Array; now: number }, { id: string }>`
  select id from sessions where ${isCurrent}`;

export class TokenRefresh {
  readonly #options: RefreshOptions;
  readonly #replays = createReplayCounts();

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  async refresh(old: TokenPair, client: Client): Promise<IssuedTokens> {
    const { database, clock, authTokens } = this.#options;
    const token = authTokens.read(old.authToken);
    if (!token) throw new Refusal('INVALID_AUTH_TOKEN');
    const digest = digestOf(old.refreshToken);
    const useNow = (): TokenUse => ({ digest, now: clock.now(), ...client });
    // Only a request that can succeed waits for the write lock. The update decides whether it does.
    const isExchangeable = await database.get(findExchangeable, { id: token.sessionId, ...useNow() });
    const issued =
      isExchangeable &&
      (await database.transaction((transaction) => this.#exchange(transaction, token, old, useNow())));
    if (issued) return issued;
    const spent = await findSpent(database, digest);
    // Read the time after the row, so that a concurrent refresh does not seem to be in the future.
    return this.#handleReplay(spent, old, useNow());
  }

  /** Issues tokens for a session. */
  issue(userId: string, sessionId: string, refreshToken: string): IssuedTokens {
    const { authTokens, settings } = this.#options;
    const authToken = authTokens.issue(userId, sessionId);
    return { authToken, refreshToken, expiresInSeconds: settings.accessTokenSeconds, userId };
  }

  expiryFrom(now: number): number {
    return now + this.#options.settings.refreshTokenSeconds * 1000;
  }

  /** Writes the number of replays to the database. */
  storeReplays(): Promise<void> {
    return this.#replays.store(this.#options.database);
  }

  /** Runs the conditional update. Returns undefined if the tokens are not the current ones of an active session. */
  async #exchange(
    transaction: Transaction,
    { userId, sessionId }: Viewer,
    old: TokenPair,
    used: TokenUse,
  ): Promise<IssuedTokens | undefined> {
    const refreshToken = newRefreshToken();
    const next = digestOf(refreshToken);
    const expiresAt = this.expiryFrom(used.now);
    const changed = await transaction.run(rotate, { ...used, id: sessionId, next, expiresAt });
    if (changed === 0) return undefined;
    const issued = this.issue(userId, sessionId, refreshToken);
    const isRetryAllowed = this.#options.settings.refreshRetrySeconds > 0;
    const successor = isRetryAllowed ? encryptSuccessor(issued, old) : null;
    await recordSpent(transaction, { ...used, sessionId, successor });
    return issued;
  }

  async #handleReplay(spent: SpentToken | undefined, old: TokenPair, used: TokenUse): Promise<IssuedTokens> {
    const replay = spent && this.#judgeReplay(spent, old, used.now);
    if (spent && replay?.isTheft) await this.#revokeStolen(spent, used);
    else if (replay) {
      this.#replays.add(used);
      this.#options.onReplay?.();
    }
    if (!replay?.successor) throw new Refusal('INVALID_REFRESH_TOKEN');
    return replay.successor;
  }

  /** Only a token that is stored as spent can be a replay. An unknown token has no effect. */
  #judgeReplay(spent: SpentToken, old: TokenPair, now: number): Replay | undefined {
    const { refreshRetrySeconds, reuseToleranceSeconds } = this.#options.settings;
    if (spent.revokedAt !== null) return undefined;
    // Negative if the clock was set back since then, or if another node whose clock is ahead exchanged the token.
    const ageSeconds = (now - spent.spentAt) / 1000;
    // The real age of a token from the future is unknown. It may be old and stolen, so it gets no successor.
    const mayRetry = ageSeconds >= 0 && ageSeconds <= refreshRetrySeconds;
    const successor = mayRetry ? this.#readSuccessor(spent, old, now) : undefined;
    // The tolerance also covers nodes whose clocks differ: a client that retries on another node keeps its session.
    const isTheft = !successor && Math.abs(ageSeconds) > reuseToleranceSeconds;
    return { isTheft, successor };
  }

  #readSuccessor(
    { successor: encrypted }: SpentToken,
    old: TokenPair,
    now: number,
  ): IssuedTokens | undefined {
    const successor = encrypted ? decryptSuccessor(encrypted, old) : undefined;
    const token = successor && this.#options.authTokens.read(successor.authToken);
    if (!token) return undefined;
    const leftMs = Math.max(0, token.tokenExpiresAt - now);
    return { ...successor, expiresInSeconds: Math.floor(leftMs / 1000), userId: token.userId };
  }

  /** The revocation is committed although the client gets an error. */
  async #revokeStolen({ sessionId, userId, spentAt }: SpentToken, used: TokenUse): Promise<void> {
    const { database, clock, revoked, onTheft } = this.#options;
    const { digest, now, address, agent } = used;
    const isRevoked = await runChange(database, async (transaction) => {
      // Another replay or a logout may have revoked it.
      if ((await findSpent(transaction, digest))?.revokedAt !== null) return false;
      await recordReplays(transaction, [{ ...used, times: 1 }]);
      const details = { address, agent, spentAt: new Date(spentAt).toISOString() };
      await revokeById(transaction, sessionId, { because: 'replay', now, byUserId: null, details });
      return true;
    });
    if (!isRevoked) return;
    revoked.add(sessionId, clock.now());
    onTheft({ sessionId, userId, address, agent });
  }
}
