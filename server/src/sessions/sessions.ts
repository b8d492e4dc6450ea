/** The token lifecycle: log in, refresh, log out, authenticate. A session is one login and one row. */

import { randomUUID } from 'node:crypto';
import { checkCredentials, recordLogin, type Passwords } from '../accounts/passwords.ts';
import type { CheckedCredentials } from '../accounts/users.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Transaction } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { pruneInBatches, pruneStatements } from '../journal/prune.ts';
import { Refusal } from '../refusal.ts';
import type { Viewer } from './auth-token.ts';
import type { ClientInfo } from './session-reads.ts';
import { identifyLogin, type ClearFailures, type LoginThrottle } from './login-throttle.ts';
import {
  digestOf,
  newRefreshToken,
  TokenRefresh,
  type IssuedTokens,
  type RefreshOptions,
  type Tokens,
} from './refresh.ts';
import { logOutByDigest, logOutSession, revokeExcess } from './revocation.ts';
import { pruneSpentTokens, spentTokenRetentionMs } from './spent-tokens.ts';
import type { ViewTokens } from './view-as.ts';

interface SessionOptions extends RefreshOptions {
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly viewTokens: ViewTokens;
  readonly settings: RefreshOptions['settings'] & Pick<Settings, 'maxSessionsPerUser'>;
}

interface SessionStart extends ClientInfo {
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

const deleteSessionsWhere = (condition: Statement) =>
  pruneStatements<{ before: number }>(
    sql`delete from sessions`,
    sql`id`,
    sql`from sessions where ${condition}`,
  );
const deleteExpired = deleteSessionsWhere(sql`refresh_expires_at < ${'before'}`);
const deleteRevoked = deleteSessionsWhere(sql`revoked_at < ${'before'}`);
/** Small, because each session can have hundreds of spent tokens. */
const pruneBatchSize = 100;
const maxBatches = 50;

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

  async logIn(login: { username: string; password: string }, client: ClientInfo): Promise<IssuedTokens> {
    const { database, passwords, throttle } = this.#options;
    const source = { username: login.username, address: client.address };
    const { name, range } = identifyLogin(source);
    const entry = { key: `address ${range}`, subkey: name };
    const issued = await throttle.attempt(source, async (clearFailures) => {
      const credentials = await checkCredentials(database, passwords, login, entry);
      return credentials && this.#start(credentials, client, clearFailures);
    });
    if (!issued) throw new Refusal('INVALID_CREDENTIALS');
    return issued;
  }

  refresh(old: Tokens, client: ClientInfo): Promise<IssuedTokens> {
    return this.#tokens.refresh(old, client);
  }

  /**
   * Reads no database. An auth token is valid until it expires, its signing key is retired, its user is disabled or deleted, or its
   * session is revoked. A logout alone does not end it. With a view token, the viewer has the rights of another user.
   */
  authenticate(authToken: string, viewToken?: string): Viewer {
    const { authTokens, viewTokens, clock } = this.#options;
    const viewer = authTokens.read(authToken);
    if (!viewer) throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token is not valid. Log in again.');
    if (viewer.tokenExpiresAt <= clock.now()) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token has expired.', { isExpired: true });
    }
    if (this.isEnded(viewer)) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The session of this auth token has ended.');
    }
    return viewToken === undefined ? viewer : viewTokens.apply(viewer, viewToken);
  }

  /** Whether the session was revoked, its user disabled or deleted, or the signing key retired since `authenticate`. */
  isEnded(viewer: Viewer): boolean {
    const { revoked, authTokens } = this.#options;
    return revoked.has(viewer) || authTokens.isKeyRetired(viewer.keyId);
  }

  /** Whether the view has expired, its administrator has lost the role, or its user was disabled or deleted. */
  isViewEnded(viewer: Viewer): boolean {
    return this.#options.viewTokens.hasEnded(viewer);
  }

  /** Revokes the session of a valid auth token. */
  async logOutByAuthToken(authToken: string): Promise<Viewer> {
    const viewer = this.authenticate(authToken);
    await logOutSession(this.#options.database, this.#options.clock, viewer);
    return viewer;
  }

  async logOutByRefreshToken(refreshToken: string): Promise<void> {
    const { database, clock } = this.#options;
    const isFound = await logOutByDigest(database, clock, digestOf(refreshToken));
    if (!isFound) throw new Refusal('INVALID_REFRESH_TOKEN');
  }

  /**
   * Deletes ended sessions, spent tokens, successors and failed attempts. Ended sessions are kept as long as their spent tokens,
   * which is longer than the lifetime of any auth token. So a revoked session stays in the database as long as a client can
   * present one of its tokens.
   */
  async prune(): Promise<void> {
    const { database, clock, settings, throttle, revoked } = this.#options;
    await this.#tokens.storeReplays();
    await pruneSpentTokens(database, clock.now(), settings.refreshRetrySeconds);
    const parameters = { before: clock.now() - spentTokenRetentionMs, batch: pruneBatchSize };
    await pruneInBatches(database, deleteExpired, parameters, maxBatches);
    await pruneInBatches(database, deleteRevoked, parameters, maxBatches);
    await throttle.prune();
    await revoked.prune();
  }

  /** Returns undefined if the credentials have changed in the meantime. */
  async #start(
    credentials: CheckedCredentials,
    client: ClientInfo,
    clearFailures: ClearFailures,
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
      await clearFailures(transaction);
      // Issued inside the transaction, so that no session is created without a signing key.
      return this.#tokens.issue(userId, id, refreshToken);
    };
    // Revoking a session writes to the journal, whose lock must be taken before every other lock.
    const issued = await (max > 0 ? runChange(database, start) : database.transaction(start));
    for (const sessionId of excess) revoked.add(sessionId, now);
    return issued;
  }
}
