/**
 * The token lifecycle: log in, refresh, log out, authenticate. A session is one login and one row; which of several
 * racing refreshes wins is decided by one conditional update of that row.
 */

import { randomUUID } from 'node:crypto';
import { checkCredentials, recordLogin, type CheckedCredentials } from '../accounts/credentials.ts';
import type { Passwords } from '../accounts/passwords.ts';
import type { Clock } from '../clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { AuthTokens } from './auth-token.ts';
import type { Viewer } from './viewer.ts';
import type { Client } from './list-sessions.ts';
import type { RevocationCache } from './revocation-cache.ts';
import { identifyLogin, type ForgiveFailures, type LoginThrottle } from './login-throttle.ts';
import { digestOf, newRefreshToken, openSuccessor, sealSuccessor, type TokenPair } from './refresh-token.ts';
import { isRevocable, revokeByDigest, revokeById, revokeExcess } from './revocation.ts';
import { pruneSessions } from './prune-sessions.ts';
import { createReplayCounts } from './spent-tokens.ts';
import {
  findSpent,
  recordReplays,
  recordSpent,
  pruneSpentTokens,
  type SpentToken,
  type TokenUse,
} from './spent-tokens.ts';

export interface IssuedTokens extends TokenPair {
  readonly userId: string;
  readonly expiresInSeconds: number;
}

export interface Sessions {
  logIn(credentials: { username: string; password: string }, client: Client): Promise<IssuedTokens>;
  refresh(pair: TokenPair, client: Client): Promise<IssuedTokens>;
  /** Revokes the login of an auth token that is valid; answers with whose it was. */
  logOutByAuthToken(authToken: string): Promise<Pick<Viewer, 'userId'>>;
  logOutByRefreshToken(refreshToken: string): Promise<void>;
  /** Reads no database: an auth token is good until it expires, or its session is ended by more than a logout. */
  authenticate(authToken: string): Viewer;
  /** The issuer of auth tokens. */
  readonly issuer: string;
  /** Whether the session of an auth token was ended, its user disabled or deleted, or its key retired since. */
  isEnded(token: Omit<Viewer, 'expiresAt'>): boolean;
  /** Forgets sessions, spent tokens, sealed successors and failed logins whose time is over. */
  sweep(): Promise<void>;
}

export interface SessionOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly authTokens: AuthTokens;
  readonly ended: RevocationCache;
  /** Told of a session that was ended because somebody else must hold one of its tokens. */
  readonly onTheft: (theft: Theft) => void;
  /** Told of a spent token that came back so soon that it may well be the same client. */
  readonly onReplay?: (() => void) | undefined;
  readonly settings: {
    readonly accessTokenSeconds: number;
    readonly refreshTokenSeconds: number;
    readonly reuseToleranceSeconds: number;
    readonly refreshRetrySeconds: number;
    /** 0 sets no limit. */
    readonly maxSessionsPerUser: number;
  };
}

export interface Theft extends Client {
  readonly userId: string;
  readonly sessionId: string;
}

interface SessionStart extends Client {
  readonly id: string;
  readonly userId: string;
  readonly digest: Uint8Array;
  readonly now: number;
  readonly expiresAt: number;
}

/** What a refresh token that was spent before leads to. */
interface Replay {
  /** The session must be revoked: the token was spent too long ago for a lost reply or a second tab. */
  readonly isTheft: boolean;
  /** The pair that the token was exchanged for, while `refreshRetrySeconds` lets a client ask for it again. */
  readonly successor?: IssuedTokens | undefined;
}

const insertSession = sql<SessionStart>`
  insert into sessions
    (id, user_id, refresh_digest, created_at, refreshed_at, refresh_expires_at, address, agent)
  values
    (${'id'}, ${'userId'}, ${'digest'}, ${'now'}, ${'now'}, ${'expiresAt'}, ${'address'}, ${'agent'})`;

const rotate = sql<Omit<SessionStart, 'userId'> & { next: Uint8Array }>`
  update sessions set refresh_digest = ${'next'}, refreshed_at = ${'now'}, refresh_expires_at = ${'expiresAt'},
    address = ${'address'}, agent = ${'agent'}
  where id = ${'id'} and refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

/** The condition of `rotate`, read without a lock: a token that does not meet it can never be exchanged. */
const findExchangeable = sql<{ id: string; digest: Uint8Array; now: number }, { id: string }>`
  select id from sessions
  where id = ${'id'} and refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

export function createSessions({
  database,
  clock,
  passwords,
  throttle,
  authTokens,
  ended,
  onTheft,
  onReplay,
  settings,
}: SessionOptions): Sessions {
  const replays = createReplayCounts();
  const refreshExpiry = (now: number) => now + settings.refreshTokenSeconds * 1000;
  const issue = (userId: string, sessionId: string, refreshToken: string): IssuedTokens => ({
    authToken: authTokens.issue(userId, sessionId),
    refreshToken,
    expiresInSeconds: settings.accessTokenSeconds,
    userId,
  });

  async function logIn(given: { username: string; password: string }, client: Client): Promise<IssuedTokens> {
    const guess = { username: given.username, address: client.address };
    const { name, range } = identifyLogin(guess);
    const entry = { key: `address ${range}`, subkey: name };
    const issued = await throttle.attempt(guess, async (forgive) => {
      const credentials = await checkCredentials(database, passwords, given, entry);
      return credentials && startSession(credentials, client, forgive);
    });
    if (!issued) throw new Refusal('INVALID_CREDENTIALS');
    return issued;
  }

  /** Undefined if the credentials have been changed meanwhile. */
  async function startSession(
    credentials: CheckedCredentials,
    client: Client,
    forgive: ForgiveFailures,
  ): Promise<IssuedTokens | undefined> {
    const id = randomUUID();
    const refreshToken = newRefreshToken();
    const now = clock.now();
    const digest = digestOf(refreshToken);
    const max = settings.maxSessionsPerUser;
    let excess: readonly string[] = [];
    const start = async (transaction: Transaction): Promise<IssuedTokens | undefined> => {
      if (!(await recordLogin(transaction, credentials, now))) return undefined;
      const { userId } = credentials;
      const expiresAt = refreshExpiry(now);
      await transaction.run(insertSession, { id, userId, digest, now, expiresAt, ...client });
      if (max > 0) excess = await revokeExcess(transaction, { userId, newId: id, max }, now);
      await forgive(transaction);
      // Here, too, no session is made if there is nothing to sign with.
      return issue(userId, id, refreshToken);
    };
    // Ending a session is written to the journal: the turn has to come before every other lock.
    const issued = await (max > 0 ? runChange(database, start) : database.transaction(start));
    for (const sessionId of excess) ended.add(sessionId, now);
    return issued;
  }

  async function refresh(old: TokenPair, client: Client): Promise<IssuedTokens> {
    const token = authTokens.read(old.authToken);
    if (!token) throw new Refusal('INVALID_AUTH_TOKEN');
    const digest = digestOf(old.refreshToken);
    const useNow = (): TokenUse => ({ digest, now: clock.now(), ...client });
    // Only a request that can succeed waits for the write lock. The update decides whether it does.
    const isExchangeable = await database.get(findExchangeable, { id: token.sessionId, ...useNow() });
    const pair =
      isExchangeable &&
      (await database.transaction((transaction) => exchange(transaction, token, old, useNow())));
    if (pair) return pair;
    const spent = await findSpent(database, digest);
    // The time is read after the row: a racing refresh that won a moment ago must not lie in the future.
    const used = useNow();
    const replay = spent && judgeReplay(spent, old, used.now);
    if (spent && replay?.isTheft) await endStolen(spent, used);
    else if (replay) {
      replays.add(used);
      onReplay?.();
    }
    if (!replay?.successor) throw new Refusal('INVALID_REFRESH_TOKEN');
    return replay.successor;
  }

  /** The one conditional update: undefined if this pair is not the current one of a living session. */
  async function exchange(
    transaction: Transaction,
    { userId, sessionId }: Viewer,
    old: TokenPair,
    used: TokenUse,
  ): Promise<IssuedTokens | undefined> {
    const refreshToken = newRefreshToken();
    const next = digestOf(refreshToken);
    const changed = await transaction.run(rotate, {
      ...used,
      id: sessionId,
      next,
      expiresAt: refreshExpiry(used.now),
    });
    if (changed === 0) return undefined;
    const pair = issue(userId, sessionId, refreshToken);
    const successor = settings.refreshRetrySeconds > 0 ? sealSuccessor(pair, old) : null;
    await recordSpent(transaction, { ...used, sessionId, successor });
    return pair;
  }

  /** Only a token on record as spent can be a replay; an unknown one changes nothing. */
  function judgeReplay(spent: SpentToken, old: TokenPair, now: number): Replay | undefined {
    if (spent.revokedAt !== null) return undefined;
    // Negative if the clock was set back since then, or if another node whose clock is ahead exchanged the token.
    const ageSeconds = (now - spent.spentAt) / 1000;
    // The real age of a token from the future is unknown. It may be old and stolen, so it gets no successor.
    const mayRetry = ageSeconds >= 0 && ageSeconds <= settings.refreshRetrySeconds;
    const successor = mayRetry ? successorOf(spent, old, now) : undefined;
    // The tolerance also covers nodes whose clocks differ: a client that retries on another node keeps its session.
    const isTheft = !successor && Math.abs(ageSeconds) > settings.reuseToleranceSeconds;
    return { isTheft, successor };
  }

  function successorOf(
    { successor: sealed }: SpentToken,
    old: TokenPair,
    now: number,
  ): IssuedTokens | undefined {
    const successor = sealed ? openSuccessor(sealed, old) : undefined;
    const token = successor && authTokens.read(successor.authToken);
    if (!token) return undefined;
    const leftMs = Math.max(0, token.tokenExpiresAt - now);
    return { ...successor, expiresInSeconds: Math.floor(leftMs / 1000), userId: token.userId };
  }

  /** The client gets a refusal, and yet the revocation is committed. */
  async function endStolen({ sessionId, userId, spentAt }: SpentToken, used: TokenUse): Promise<void> {
    const { digest, now, address, agent } = used;
    const isEndedNow = await runChange(database, async (transaction) => {
      // Another replay may have ended it, or a logout.
      if ((await findSpent(transaction, digest))?.revokedAt !== null) return false;
      await recordReplays(transaction, [{ ...used, times: 1 }]);
      const details = { address, agent, spentAt: new Date(spentAt).toISOString() };
      await revokeById(transaction, sessionId, { because: 'replay', now, byUserId: null, details });
      return true;
    });
    if (!isEndedNow) return;
    ended.add(sessionId, clock.now());
    onTheft({ sessionId, userId, address, agent });
  }

  const isEnded = (token: Omit<Viewer, 'expiresAt'>) =>
    ended.has(token) || authTokens.isKeyRetired(token.keyId);

  function authenticate(authToken: string): Viewer {
    const token = authTokens.read(authToken);
    if (!token) throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token is not valid.');
    if (token.tokenExpiresAt <= clock.now()) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token has expired.', { isExpired: true });
    }
    if (isEnded(token)) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The session of this auth token has been ended.');
    }
    return token;
  }

  async function logOutByAuthToken(authToken: string): Promise<Pick<Viewer, 'userId'>> {
    const { sessionId, userId } = authenticate(authToken);
    if (!(await isRevocable(database, { id: sessionId }))) return { userId };
    await runChange(database, async (transaction) => {
      const revocation = { because: 'logout', now: clock.now(), byUserId: userId } as const;
      await revokeById(transaction, sessionId, revocation);
    });
    return { userId };
  }

  async function logOutByRefreshToken(refreshToken: string): Promise<void> {
    const digest = digestOf(refreshToken);
    // Any client can send an unknown token. Only a known one waits for the write lock; the update decides.
    const isRevoked =
      (await isRevocable(database, { digest, now: clock.now() })) &&
      (await runChange(database, (transaction) =>
        revokeByDigest(transaction, digest, { because: 'logout', now: clock.now() }),
      ));
    if (!isRevoked) throw new Refusal('INVALID_REFRESH_TOKEN');
  }

  async function sweep(): Promise<void> {
    await replays.store(database);
    await pruneSpentTokens(database, clock.now(), settings.refreshRetrySeconds);
    await pruneSessions(database, clock.now());
    await throttle.sweep();
    await ended.sweep();
  }

  return {
    logIn,
    refresh,
    logOutByAuthToken,
    logOutByRefreshToken,
    authenticate,
    isEnded,
    issuer: authTokens.issuer,
    sweep,
  };
}
