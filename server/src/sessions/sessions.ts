/**
 * The token lifecycle: log in, refresh, log out, authenticate. A session is one login and one row. One conditional update of
 * that row decides which of several concurrent refreshes succeeds.
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
import {
  digestOf,
  decryptSuccessor,
  encryptSuccessor,
  newRefreshToken,
  type TokenPair,
} from './refresh-token.ts';
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
  /** Revokes the session of a valid auth token. */
  logOutByAuthToken(authToken: string): Promise<Pick<Viewer, 'userId'>>;
  logOutByRefreshToken(refreshToken: string): Promise<void>;
  /** Reads no database. An auth token is valid until it expires or its session is revoked, other than by a logout. */
  authenticate(authToken: string): Viewer;
  /** The issuer of auth tokens. */
  readonly issuer: string;
  /** Whether the session was revoked, its user disabled or deleted, or the signing key retired since. */
  isEnded(token: Omit<Viewer, 'expiresAt'>): boolean;
  /** Deletes expired sessions, spent tokens, successors and failed attempts. */
  prune(): Promise<void>;
}

export interface SessionOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
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

/** The result of replaying a spent refresh token. */
interface Replay {
  /** The session must be revoked: the token was spent too long ago for a lost response or a second tab. */
  readonly isTheft: boolean;
  /** The tokens that it was exchanged for, within `refreshRetrySeconds`. */
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

/** The condition of `rotate`, read without a lock. A token that does not meet it can never be exchanged. */
const findExchangeable = sql<{ id: string; digest: Uint8Array; now: number }, { id: string }>`
  select id from sessions
  where id = ${'id'} and refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

export function createSessions({
  database,
  clock,
  passwords,
  throttle,
  authTokens,
  revoked,
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

  async function logIn(login: { username: string; password: string }, client: Client): Promise<IssuedTokens> {
    const source = { username: login.username, address: client.address };
    const { name, range } = identifyLogin(source);
    const entry = { key: `address ${range}`, subkey: name };
    const issued = await throttle.attempt(source, async (forgive) => {
      const credentials = await checkCredentials(database, passwords, login, entry);
      return credentials && startSession(credentials, client, forgive);
    });
    if (!issued) throw new Refusal('INVALID_CREDENTIALS');
    return issued;
  }

  /** Returns undefined if the credentials have changed in the meantime. */
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
      // Inside the transaction: without a signing key, no session is created.
      return issue(userId, id, refreshToken);
    };
    // Revoking a session writes to the journal, whose lock must be taken before every other lock.
    const issued = await (max > 0 ? runChange(database, start) : database.transaction(start));
    for (const sessionId of excess) revoked.add(sessionId, now);
    return issued;
  }

  async function refresh(old: TokenPair, client: Client): Promise<IssuedTokens> {
    const token = authTokens.read(old.authToken);
    if (!token) throw new Refusal('INVALID_AUTH_TOKEN');
    const digest = digestOf(old.refreshToken);
    const useNow = (): TokenUse => ({ digest, now: clock.now(), ...client });
    // Only a request that can succeed waits for the write lock. The update decides whether it does.
    const isExchangeable = await database.get(findExchangeable, { id: token.sessionId, ...useNow() });
    const issued =
      isExchangeable &&
      (await database.transaction((transaction) => exchange(transaction, token, old, useNow())));
    if (issued) return issued;
    const spent = await findSpent(database, digest);
    // Read the time after the row, so that a concurrent refresh does not seem to be in the future.
    const used = useNow();
    const replay = spent && judgeReplay(spent, old, used.now);
    if (spent && replay?.isTheft) await revokeStolen(spent, used);
    else if (replay) {
      replays.add(used);
      onReplay?.();
    }
    if (!replay?.successor) throw new Refusal('INVALID_REFRESH_TOKEN');
    return replay.successor;
  }

  /** Runs the conditional update. Returns undefined if the tokens are not the current ones of an active session. */
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
    const issued = issue(userId, sessionId, refreshToken);
    const successor = settings.refreshRetrySeconds > 0 ? encryptSuccessor(issued, old) : null;
    await recordSpent(transaction, { ...used, sessionId, successor });
    return issued;
  }

  /** Only a token that is stored as spent can be a replay. An unknown token has no effect. */
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
    { successor: encrypted }: SpentToken,
    old: TokenPair,
    now: number,
  ): IssuedTokens | undefined {
    const successor = encrypted ? decryptSuccessor(encrypted, old) : undefined;
    const token = successor && authTokens.read(successor.authToken);
    if (!token) return undefined;
    const leftMs = Math.max(0, token.tokenExpiresAt - now);
    return { ...successor, expiresInSeconds: Math.floor(leftMs / 1000), userId: token.userId };
  }

  /** The revocation is committed although the client gets an error. */
  async function revokeStolen({ sessionId, userId, spentAt }: SpentToken, used: TokenUse): Promise<void> {
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

  const isEnded = (token: Omit<Viewer, 'expiresAt'>) =>
    revoked.has(token) || authTokens.isKeyRetired(token.keyId);

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
    // Any client can send an unknown token. Only a known token waits for the write lock. The update decides.
    const isRevoked =
      (await isRevocable(database, { digest, now: clock.now() })) &&
      (await runChange(database, (transaction) =>
        revokeByDigest(transaction, digest, { because: 'logout', now: clock.now() }),
      ));
    if (!isRevoked) throw new Refusal('INVALID_REFRESH_TOKEN');
  }

  async function prune(): Promise<void> {
    await replays.store(database);
    await pruneSpentTokens(database, clock.now(), settings.refreshRetrySeconds);
    await pruneSessions(database, clock.now());
    await throttle.prune();
    await revoked.prune();
  }

  return {
    logIn,
    refresh,
    logOutByAuthToken,
    logOutByRefreshToken,
    authenticate,
    isEnded,
    issuer: authTokens.issuer,
    prune,
  };
}
