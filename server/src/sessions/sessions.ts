/** The token lifecycle: log in, refresh, log out, authenticate. A session is one login and one row. */

import { randomUUID } from 'node:crypto';
import { checkCredentials, recordLogin, type CheckedCredentials } from '../accounts/credentials.ts';
import type { Passwords } from '../accounts/passwords.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { Client } from './list-sessions.ts';
import { identifyLogin, type ForgiveFailures, type LoginThrottle } from './login-throttle.ts';
import { pruneSessions } from './prune-sessions.ts';
import { digestOf, newRefreshToken, type TokenPair } from './refresh-token.ts';
import { TokenRefresh, type IssuedTokens, type RefreshOptions } from './refresh.ts';
import { isRevocable, revokeByDigest, revokeById, revokeExcess } from './revocation.ts';
import { pruneSpentTokens } from './spent-tokens.ts';
import type { Viewer } from './viewer.ts';

export interface SessionOptions extends RefreshOptions {
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly settings: RefreshOptions['settings'] & {
    /** 0 sets no limit. */
    readonly maxSessionsPerUser: number;
  };
}

interface SessionStart extends Client {
  readonly id: string;
  readonly userId: string;
  readonly digest: Uint8Array;
  readonly now: number;
  readonly expiresAt: number;
}

const insertSession = sql<SessionStart>`
  insert into sessions
    (id, user_id, refresh_digest, created_at, refreshed_at, refresh_expires_at, address, agent)
  values
    (${'id'}, ${'userId'}, ${'digest'}, ${'now'}, ${'now'}, ${'expiresAt'}, ${'address'}, ${'agent'})`;

export class Sessions {
  readonly #options: SessionOptions;
  readonly #tokens: TokenRefresh;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#tokens = new TokenRefresh(options);
  }

  /** The issuer of auth tokens. */
  get issuer(): string {
    return this.#options.authTokens.issuer;
  }

  async logIn(login: { username: string; password: string }, client: Client): Promise<IssuedTokens> {
    const { database, passwords, throttle } = this.#options;
    const source = { username: login.username, address: client.address };
    const { name, range } = identifyLogin(source);
    const entry = { key: `address ${range}`, subkey: name };
    const issued = await throttle.attempt(source, async (forgive) => {
      const credentials = await checkCredentials(database, passwords, login, entry);
      return credentials && this.#start(credentials, client, forgive);
    });
    if (!issued) throw new Refusal('INVALID_CREDENTIALS');
    return issued;
  }

  refresh(old: TokenPair, client: Client): Promise<IssuedTokens> {
    return this.#tokens.refresh(old, client);
  }

  /** Reads no database. An auth token is valid until it expires or its session is revoked, other than by a logout. */
  authenticate(authToken: string): Viewer {
    const { authTokens, clock } = this.#options;
    const viewer = authTokens.read(authToken);
    if (!viewer) throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token is not valid.');
    if (viewer.tokenExpiresAt <= clock.now()) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token has expired.', { isExpired: true });
    }
    if (this.isEnded(viewer)) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The session of this auth token has been ended.');
    }
    return viewer;
  }

  /** Whether the session was revoked, its user disabled or deleted, or the signing key retired since. */
  isEnded(viewer: Viewer): boolean {
    const { revoked, authTokens } = this.#options;
    return revoked.has(viewer) || authTokens.isKeyRetired(viewer.keyId);
  }

  /** Revokes the session of a valid auth token. */
  async logOutByAuthToken(authToken: string): Promise<Viewer> {
    const { database, clock } = this.#options;
    const viewer = this.authenticate(authToken);
    const { sessionId, userId } = viewer;
    if (!(await isRevocable(database, { id: sessionId }))) return viewer;
    await runChange(database, async (transaction) => {
      const revocation = { because: 'logout', now: clock.now(), byUserId: userId } as const;
      await revokeById(transaction, sessionId, revocation);
    });
    return viewer;
  }

  async logOutByRefreshToken(refreshToken: string): Promise<void> {
    const { database, clock } = this.#options;
    const digest = digestOf(refreshToken);
    // Any client can send an unknown token. Only a known token waits for the write lock. The update decides.
    const isRevoked =
      (await isRevocable(database, { digest, now: clock.now() })) &&
      (await runChange(database, (transaction) =>
        revokeByDigest(transaction, digest, { because: 'logout', now: clock.now() }),
      ));
    if (!isRevoked) throw new Refusal('INVALID_REFRESH_TOKEN');
  }

  /** Deletes expired sessions, spent tokens, successors and failed attempts. */
  async prune(): Promise<void> {
    const { database, clock, settings, throttle, revoked } = this.#options;
    await this.#tokens.storeReplays();
    await pruneSpentTokens(database, clock.now(), settings.refreshRetrySeconds);
    await pruneSessions(database, clock.now());
    await throttle.prune();
    await revoked.prune();
  }

  /** Returns undefined if the credentials have changed in the meantime. */
  async #start(
    credentials: CheckedCredentials,
    client: Client,
    forgive: ForgiveFailures,
  ): Promise<IssuedTokens | undefined> {
    const { database, clock, settings, revoked } = this.#options;
    const id = randomUUID();
    const refreshToken = newRefreshToken();
    const now = clock.now();
    const digest = digestOf(refreshToken);
    const max = settings.maxSessionsPerUser;
    let excess: readonly string[] = [];
    const start = async (transaction: Transaction): Promise<IssuedTokens | undefined> => {
      if (!(await recordLogin(transaction, credentials, now))) return undefined;
      const { userId } = credentials;
      const expiresAt = this.#tokens.expiryFrom(now);
      await transaction.run(insertSession, { id, userId, digest, now, expiresAt, ...client });
      if (max > 0) excess = await revokeExcess(transaction, { userId, newId: id, max }, now);
      await forgive(transaction);
      // Inside the transaction: without a signing key, no session is created.
      return this.#tokens.issue(userId, id, refreshToken);
    };
    // Revoking a session writes to the journal, whose lock must be taken before every other lock.
    const issued = await (max > 0 ? runChange(database, start) : database.transaction(start));
    for (const sessionId of excess) revoked.add(sessionId, now);
    return issued;
  }
}
