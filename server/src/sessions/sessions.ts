/** The token lifecycle: log in, refresh, log out, authenticate. A session is one login and one row. */

import { randomUUID } from 'node:crypto';
import {
  checkCredentials,
  recordLogin,
  type AuthenticatedUser,
  type LoginCredentials,
  type Passwords,
} from '../accounts/passwords.ts';
import type { Settings } from '../config/settings-table.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from '../database/database.ts';
import { sha256 } from '../database/encryption.ts';
import { sql, type Statement } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { pruneInBatches, pruneStatements } from '../journal/prune.ts';
import { Refusal } from '../refusal.ts';
import { apiKeyPrefix } from './api-key-text.ts';
import type { ApiKeyVerification } from './api-key-verification.ts';
import type { SessionViewer, Viewer } from './auth-token.ts';
import type { ClientInfo } from './session-reads.ts';
import { identifyLogin, type ClearFailures, type LoginThrottle } from './login-throttle.ts';
import {
  newRefreshToken,
  TokenRefresh,
  type IssuedTokens,
  type RefreshOptions,
  type Tokens,
} from './refresh.ts';
import { logOutByDigest, logOutSession, revokeExcess } from './revocation.ts';
import { wrongSecondFactor } from './second-factors/code-check.ts';
import { isSecondStepMissing, type SecondStep } from './second-factors/second-step.ts';
import type { SignInAttempt, SignInMethod } from './sign-in-buffer.ts';
import type { SignIns } from './sign-ins.ts';
import { pruneSpentTokens, spentTokenRetentionMs } from './spent-tokens.ts';
import type { ViewTokens } from './view-as.ts';

interface SessionOptions extends RefreshOptions {
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly signIns: SignIns;
  readonly secondStep: SecondStep;
  readonly viewTokens: ViewTokens;
  readonly apiKeys: ApiKeyVerification;
  readonly settings: RefreshOptions['settings'] &
    Pick<Settings, 'maxSessionsPerUser' | 'passwordLogin' | 'ssoIssuer'>;
}

export interface PasswordLogin {
  readonly username: string;
  readonly password: string;
  /** The second factor, for users who have one. */
  readonly code?: string | null | undefined;
}

interface PasswordAttempt {
  /** For the history of sign-ins. */
  readonly attempt: Omit<SignInAttempt, 'userId' | 'result'>;
  readonly clearFailures: ClearFailures;
  readonly onWrongCode: (userId: string) => void;
}

export interface SignInOptions {
  readonly method: SignInMethod;
  /**
   * Runs at the beginning of the transaction that starts the session, for example to spend a one-time code. If it throws, no
   * session starts and no sign-in is recorded.
   */
  readonly inTransaction?: ((transaction: Transaction) => Promise<void>) | undefined;
  /** Set it if `inTransaction` writes to the journal, for example because it creates the user. */
  readonly writesJournal?: boolean;
  /** Runs at the end of the transaction, for example to store data of the new session. */
  readonly onStarted?: ((transaction: Transaction, sessionId: string) => Promise<void>) | undefined;
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

  /** The audience of auth tokens. */
  get audience(): string {
    return this.#options.authTokens.audience;
  }

  /** Checks the password, and the code if the user has a second factor. */
  async logIn(login: PasswordLogin, client: ClientInfo): Promise<IssuedTokens> {
    const { throttle, signIns, settings } = this.#options;
    if (settings.passwordLogin === 'off') throw passwordsOff(settings);
    const source = { username: login.username, address: client.address };
    const attempt = { username: login.username, method: 'PASSWORD', ...client } as const;
    let failure = new Refusal('INVALID_CREDENTIALS');
    const onWrongCode = (userId: string) => {
      signIns.record({ ...attempt, userId, result: 'WRONG_SECOND_FACTOR' });
      failure = wrongSecondFactor();
    };
    const issued = await signIns.recordThrottled({ ...attempt, userId: null }, () =>
      throttle.attempt(source, (clearFailures) =>
        this.#tryLogIn(login, client, { attempt, clearFailures, onWrongCode }),
      ),
    );
    if (issued) return issued;
    throw failure;
  }

  /** Returns undefined after a failed attempt. */
  async #tryLogIn(
    login: PasswordLogin,
    client: ClientInfo,
    { attempt, clearFailures, onWrongCode }: PasswordAttempt,
  ): Promise<IssuedTokens | undefined> {
    const { database, passwords, signIns, secondStep } = this.#options;
    const { name, range } = identifyLogin({ username: login.username, address: client.address });
    const entry = { key: `address ${range}`, subkey: name };
    const check = await checkCredentials(database, passwords, login, entry);
    if (check.result !== 'SUCCESS') {
      signIns.record({ ...attempt, ...check });
      return undefined;
    }
    const { credentials } = check;
    const { userId, passwordHash } = credentials;
    this.#requirePasswordLogin(credentials, attempt);
    const method = 'PASSWORD';
    if (secondStep.isPasswordEnough(credentials)) {
      const user = { userId, passwordHash, isPasswordEnough: true };
      return this.startSession(user, client, { method, inTransaction: clearFailures });
    }
    const code = login.code ?? undefined;
    const checked = { credentials, code, clearFailures, onWrongCode: () => onWrongCode(userId) };
    try {
      return await secondStep.complete(checked, (options) =>
        this.startSession({ userId, passwordHash }, client, { method, ...options }),
      );
    } catch (error) {
      if (error instanceof Refusal && isSecondStepMissing(error.code)) {
        signIns.record({ ...attempt, userId, result: 'SECOND_FACTOR_REQUIRED' });
      }
      throw error;
    }
  }

  /** Only after the correct password. An earlier refusal would reveal the names of the administrators. */
  #requirePasswordLogin(
    { userId, isAdministrator }: LoginCredentials,
    attempt: Omit<SignInAttempt, 'userId' | 'result'>,
  ): void {
    const { settings, signIns } = this.#options;
    if (settings.passwordLogin !== 'administrators' || isAdministrator) return;
    const detail = 'Only administrators may log in with a password.';
    signIns.record({ ...attempt, userId, result: 'REFUSED', detail });
    throw passwordsOff(settings);
  }

  /**
   * Starts a session for a user whose credentials are checked, and records the sign-in. Every method of signing in ends here. Returns
   * undefined if the user was disabled, was deleted or has another password since the check.
   */
  async startSession(
    user: AuthenticatedUser,
    client: ClientInfo,
    { method, inTransaction, onStarted, writesJournal = false }: SignInOptions,
  ): Promise<IssuedTokens | undefined> {
    const { database, clock, settings, revoked, signIns } = this.#options;
    const { userId } = user;
    const id = randomUUID();
    const refreshToken = newRefreshToken();
    const now = clock.now();
    const digest = sha256(refreshToken);
    const max = settings.maxSessionsPerUser;
    const hasSecondStep = method !== 'SINGLE_SIGN_ON' && user.isPasswordEnough !== true;
    let excess: readonly string[] = [];
    const start = async (transaction: Transaction): Promise<IssuedTokens | undefined> => {
      await inTransaction?.(transaction);
      if (!(await recordLogin(transaction, user, now))) return undefined;
      const expiresAt = this.#tokens.expiryFrom(now);
      await transaction.run(insertSession, { id, userId, digest, now, expiresAt, ...client });
      if (max > 0) excess = await revokeExcess(transaction, { userId, newId: id, max }, now);
      if (hasSecondStep) await signIns.deleteFirstStep(transaction, { userId, address: client.address });
      signIns.recordSession(transaction, { at: now, userId, sessionId: id, method, ...client });
      await onStarted?.(transaction, id);
      // Issued inside the transaction, so that no session is created without a signing key.
      return this.#tokens.issue(userId, id, refreshToken);
    };
    // Revoking a session writes to the journal, whose lock must be taken before every other lock.
    const issued = await (max > 0 || writesJournal
      ? runChange(database, start)
      : database.transaction(start));
    if (!issued) {
      const detail = 'The user was disabled, was deleted or got another password during the sign-in.';
      signIns.record({ userId, username: null, method, result: 'REFUSED', detail, ...client });
    }
    for (const sessionId of excess) revoked.add(sessionId, now);
    return issued;
  }

  refresh(old: Tokens, client: ClientInfo): Promise<IssuedTokens> {
    return this.#tokens.refresh(old, client);
  }

  /**
   * Reads no database. An auth token is valid until it expires, its signing key is retired, its user is disabled or deleted, or its
   * session is revoked. A logout alone does not end it. With a view token, the viewer has the rights of another user.
   */
  authenticate(authToken: string, viewToken?: string): SessionViewer {
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

  /**
   * Accepts an auth token or an API key, for requests to the graph. `address` returns the address of the client. Only the first
   * request with a key reads the database.
   */
  authenticateRequest(
    credential: string,
    { viewToken, address }: { readonly viewToken: string | undefined; readonly address: () => string | null },
  ): PromiseOrValue<Viewer> {
    if (!credential.startsWith(apiKeyPrefix)) return this.authenticate(credential, viewToken);
    if (viewToken === undefined) return this.#options.apiKeys.authenticate(credential, address());
    throw new Refusal(
      'INVALID_VIEW_TOKEN',
      'A view needs an auth token. It is not possible with an API key.',
    );
  }

  /** Records that an open connection of the viewer uses an API key. */
  recordApiKeyUse({ apiKeyId }: Viewer, address: string | null): void {
    if (apiKeyId !== undefined) this.#options.apiKeys.recordUse(apiKeyId, address);
  }

  /** Stores the last use of API keys. */
  storeApiKeyUses(): Promise<void> {
    return this.#options.apiKeys.storeUses({ isLast: true });
  }

  /** Whether the session was revoked, its user disabled or deleted, or the signing key retired since `authenticate`. */
  isEnded(viewer: Viewer): boolean {
    const { revoked, authTokens } = this.#options;
    const { signingKeyId } = viewer;
    return revoked.has(viewer) || (signingKeyId !== undefined && authTokens.isKeyRetired(signingKeyId));
  }

  /** Whether the view has expired, its administrator has lost the role, or its user was disabled or deleted. */
  isViewEnded(viewer: Viewer): boolean {
    return this.#options.viewTokens.hasEnded(viewer);
  }

  /** Revokes the session of a valid auth token. */
  async logOutByAuthToken(authToken: string): Promise<SessionViewer> {
    const viewer = this.authenticate(authToken);
    await logOutSession(this.#options.database, this.#options.clock, viewer);
    return viewer;
  }

  async logOutByRefreshToken(refreshToken: string): Promise<void> {
    const { database, clock } = this.#options;
    const isFound = await logOutByDigest(database, clock, sha256(refreshToken));
    if (!isFound) throw new Refusal('INVALID_REFRESH_TOKEN');
  }

  /**
   * Deletes ended sessions, spent tokens, successors and failed attempts. Ended sessions are kept as long as their spent tokens,
   * which is longer than the lifetime of any auth token. So a revoked session stays in the database as long as a client can
   * present one of its tokens.
   */
  async prune(): Promise<void> {
    const { database, clock, settings, throttle, revoked, apiKeys } = this.#options;
    await this.#tokens.storeReplays();
    await apiKeys.storeUses();
    await pruneSpentTokens(database, clock.now(), settings.refreshRetrySeconds);
    const parameters = { before: clock.now() - spentTokenRetentionMs, batch: pruneBatchSize };
    await pruneInBatches(database, deleteExpired, parameters, maxBatches);
    await pruneInBatches(database, deleteRevoked, parameters, maxBatches);
    await throttle.prune();
    await revoked.prune();
  }
}

function passwordsOff({ ssoIssuer }: Pick<Settings, 'ssoIssuer'>): Refusal {
  const methods = ssoIssuer === undefined ? 'a passkey' : 'single sign-on or a passkey';
  return new Refusal('FORBIDDEN', `You cannot log in with a password on this server. Use ${methods}.`);
}
