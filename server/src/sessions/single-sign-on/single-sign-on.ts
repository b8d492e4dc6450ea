/**
 * Single sign-on with an OpenID provider (authorization code with PKCE). The browser goes to the provider and comes back to
 * `finish()`, which hands a one-time code to the console or to a program. `logIn()` accepts the code only from the client that started
 * the sign-in and has the verifier. So no URL contains a token, and an attacker cannot sign a user in to another account.
 */

import { randomUUID } from 'node:crypto';
import { createUser, noPassword, readUser, readUserByName } from '../../accounts/users.ts';
import type { Clock } from '../../clock.ts';
import { withTimeout } from '../../concurrency/timeout.ts';
import type { GroupMapping } from '../../config/sign-in-settings.ts';
import type { Settings } from '../../config/settings-table.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { randomSecret } from '../../database/encryption.ts';
import type { ChangeOrigin } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import type { IssuedTokens } from '../refresh.ts';
import type { RevocationCache } from '../revocation.ts';
import type { ClientInfo } from '../session-reads.ts';
import type { Sessions } from '../sessions.ts';
import type { SignIns } from '../sign-ins.ts';
import { Attempts, invalidCode, spendCode, type Attempt, type CheckedCode } from './attempts.ts';
import { synchronizeGroups } from './groups.ts';
import { findIdentity, insertIdentity, recordUse, type Identity } from './identities.ts';
import { ProviderSessions } from './provider-sessions.ts';
import { displayNameOf, newUserNameOf } from './person.ts';
import { Provider, ProviderError, type AuthenticatedPerson } from './provider.ts';
import { toProviderSettings, type ProviderIdentification } from './provider-settings.ts';
import { readTarget, ReturnAddresses, type RequestedTarget } from './sign-in-target.ts';

export interface SingleSignOnOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly revoked: RevocationCache;
  readonly settings: Settings & ProviderIdentification;
  readonly hasConsole: boolean;
  /** Called for problems that the operator must know about. */
  readonly onWarning: (message: string, cause?: unknown) => void;
}

/** A one-time code, and the verifier of the client. */
interface CodeInput {
  readonly code: string;
  readonly verifier: string;
}

/** Where a browser continues after the provider. */
interface SignInReturn {
  /** Of the console or a program, with a one-time code or an error. */
  readonly address: string;
  /** Set if the person must first confirm that the program at the address may sign in to `host`. */
  readonly confirmation?: { readonly host: string; readonly username: string | null };
}

/** Thrown if another sign-in of the same person created or linked the user first. */
class IdentityChanged extends Error {}

const maxAttempts = 3;
const maxRechecks = 16;
const minuteMs = 60_000;
const closeTimeoutMs = 1_000;

export class SingleSignOn {
  /** The name of the provider for people. */
  readonly name: string;
  readonly #options: SingleSignOnOptions;
  readonly #provider: Provider;
  readonly #attempts: Attempts;
  readonly #providerSessions: ProviderSessions;
  readonly #addresses: ReturnAddresses;
  readonly #rechecks = new Set<Promise<void>>();

  constructor(options: SingleSignOnOptions) {
    const { settings, database, clock } = options;
    this.#options = options;
    this.name = settings.ssoName;
    this.#provider = new Provider(toProviderSettings(settings), clock);
    this.#attempts = new Attempts(database, clock);
    // A stolen database is not enough to use the tokens: neither secret is in it.
    const secret = settings.masterKey ?? settings.ssoClientSecret;
    this.#providerSessions = new ProviderSessions({ ...options, secret });
    this.#addresses = new ReturnAddresses({ publicUrl: settings.publicUrl, hasConsole: options.hasConsole });
  }

  /** Starts a sign-in, and returns the address of the provider. */
  async start(requested: RequestedTarget, client: ClientInfo): Promise<string> {
    const target = readTarget(requested);
    this.#addresses.require(target);
    const secrets = { nonce: randomSecret(), pkceVerifier: randomSecret() };
    try {
      // Before anything is stored, because the provider may be down.
      await this.#provider.connect();
      const attempt = { userId: null, username: null, method: 'SINGLE_SIGN_ON', ...client } as const;
      const state = await this.#options.signIns.recordThrottled(attempt, () =>
        this.#attempts.start(target, secrets, client.address),
      );
      return (await this.#provider.authorizationUrl(state, secrets)).href;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#options.onWarning('A single sign-on cannot start.', error);
      throw unavailable();
    }
  }

  /** The address that displays why a sign-in cannot start. Undefined if there is none. */
  startErrorAddress(requested: RequestedTarget, refusal: Refusal): string | undefined {
    return this.#addresses.forError(readTarget(requested), refusal);
  }

  /** Handles the return from the provider. */
  async finish(query: string, client: ClientInfo): Promise<SignInReturn> {
    const [state = '', ...more] = new URLSearchParams(query).getAll('state');
    const attempt = more.length === 0 && state !== '' ? await this.#attempts.take(state) : undefined;
    try {
      if (!attempt)
        throw new Refusal('BAD_INPUT', 'This sign-in has expired or was already used. Sign in again.');
      const { code, person } = await this.#createCode(attempt, query, state);
      const address = this.#addresses.forCode(attempt, code);
      if (attempt.redirectUri === null) return { address };
      const { host } = new URL(this.#options.settings.publicUrl);
      return { address, confirmation: { host, username: displayNameOf(person) } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#recordFailure(client, { userId: null, username: null }, error);
      const address = this.#addresses.forError(attempt, error);
      if (address === undefined) throw error;
      return { address };
    }
  }

  /** Starts a session with the one-time code. Creates the user if that is permitted, and synchronizes the groups. */
  async logIn(input: CodeInput, client: ClientInfo): Promise<IssuedTokens> {
    let checked: CheckedCode | undefined;
    try {
      checked = await this.readCode(input);
      return await this.#logInPerson(checked, client);
    } catch (error) {
      if (error instanceof Refusal) {
        const person = checked?.person;
        const identity = person && (await findIdentity(this.#options.database, person));
        this.#recordFailure(
          client,
          { userId: identity?.userId ?? null, username: person?.username ?? null },
          error,
        );
      }
      throw error;
    }
  }

  /** Checks a one-time code without using it up. */
  async readCode({ code, verifier }: CodeInput): Promise<CheckedCode> {
    const checked = await this.#attempts.readCode(code, verifier);
    if (!checked) throw invalidCode();
    return checked;
  }

  /** Ends the sessions that a logout token of the provider names. */
  async logOut(logoutToken: string): Promise<void> {
    try {
      await this.#providerSessions.logOut(await this.#provider.readLogoutToken(logoutToken));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.kind === 'UNAVAILABLE') throw unavailable(error);
      throw new Refusal('BAD_INPUT', `The logout token is not valid. ${error.message}`);
    }
  }

  /** Asks the provider in the background whether a session may continue. Does not delay the refresh of the session. */
  recheck(sessionId: string): void {
    if (this.#options.settings.ssoRecheckMinutes === 0 || this.#rechecks.size >= maxRechecks) return;
    const running = this.#recheck(sessionId)
      .catch((error: unknown) =>
        this.#options.onWarning('A session cannot be checked at the single sign-on provider.', error),
      )
      .finally(() => this.#rechecks.delete(running));
    this.#rechecks.add(running);
  }

  async prune(): Promise<void> {
    await this.#attempts.prune();
    await this.#providerSessions.prune();
  }

  /** Waits a short time for running checks, which use the database. */
  async close(): Promise<void> {
    await withTimeout(closeTimeoutMs, Promise.all(this.#rechecks), undefined);
  }

  async #createCode(
    attempt: Attempt,
    query: string,
    state: string,
  ): Promise<{ code: string; person: AuthenticatedPerson }> {
    // Before the exchange, because the person can log out at the provider while the server waits for its responses.
    const startedAt = this.#options.clock.now();
    try {
      const person = await this.#provider.exchange(query, state, attempt.secrets);
      const code = await this.#attempts.createCode({ person, startedAt }, attempt.challenge);
      return { code, person };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#options.onWarning('A single sign-on failed.', error);
      throw toRefusal(error);
    }
  }

  async #logInPerson(checked: CheckedCode, client: ClientInfo): Promise<IssuedTokens> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#startSession(checked, client);
      } catch (error) {
        if (!(error instanceof IdentityChanged) || attempt === maxAttempts) throw error;
      }
    }
  }

  async #startSession({ person, digest, startedAt }: CheckedCode, client: ClientInfo): Promise<IssuedTokens> {
    const { database, clock, sessions, onWarning } = this.#options;
    const known = await findIdentity(database, person);
    const userId = known?.userId ?? randomUUID();
    const now = clock.now();
    const by: ChangeOrigin = { byUserId: null, now };
    let identityId = '';
    let warnings: readonly string[] = [];
    const issued = await sessions.startSession({ userId }, client, {
      method: 'SINGLE_SIGN_ON',
      writesJournal: true,
      inTransaction: async (transaction) => {
        await spendCode(transaction, digest, now);
        await this.#providerSessions.requireNoLogout(transaction, person, startedAt);
        const identity = await findIdentity(transaction, person);
        if (identity?.userId !== known?.userId) throw new IdentityChanged();
        identityId = identity
          ? await this.#admitKnown(transaction, identity, person, now)
          : await this.#createUser(transaction, userId, person, by);
        const { ssoGroups: mappings = [] as readonly GroupMapping[] } = this.#options.settings;
        warnings = await synchronizeGroups(transaction, userId, { groups: person.groups, mappings }, by);
      },
      onStarted: (transaction, sessionId) =>
        this.#providerSessions.add(transaction, person, { sessionId, identityId }, now),
    });
    for (const warning of warnings) onWarning(warning);
    if (!issued) throw disabled();
    return issued;
  }

  async #admitKnown(
    transaction: Transaction,
    { id, userId }: Identity,
    person: AuthenticatedPerson,
    now: number,
  ): Promise<string> {
    const user = await readUser(transaction, userId);
    // Checked before the groups change, which must not happen for a user who cannot sign in.
    if (!user || user.disabledAt !== null || user.kind === 'SERVICE') throw disabled();
    await recordUse(transaction, id, person, now);
    return id;
  }

  /** Creates a user without a password. Never takes over an existing user with the same name. */
  async #createUser(
    transaction: Transaction,
    id: string,
    person: AuthenticatedPerson,
    by: ChangeOrigin,
  ): Promise<string> {
    const { ssoCreateUsers, ssoUsernameClaim } = this.#options.settings;
    const username = newUserNameOf(person);
    if (username !== undefined && (await readUserByName(transaction, username))) throw takenName(username);
    if (!ssoCreateUsers) {
      throw new Refusal(
        'FORBIDDEN',
        `No user of this server is linked with ${nameAccount(username)} at the provider. If you have a user on this server, log in with the password and link the account on your account page. Otherwise ask an administrator.`,
      );
    }
    if (username === undefined) {
      throw new Refusal(
        'FORBIDDEN',
        `The provider sent no usable user name in the claim ${ssoUsernameClaim}. Ask an administrator to check ESPALIER_SSO_USERNAME_CLAIM.`,
      );
    }
    const user = { id, username, passwordHash: noPassword, isAdministrator: false };
    await createUser(transaction, { ...user, details: { singleSignOn: person.issuer } }, by);
    return insertIdentity(transaction, id, person, { now: by.now, isUsed: true });
  }

  async #recheck(sessionId: string): Promise<void> {
    const everyMs = this.#options.settings.ssoRecheckMinutes * minuteMs;
    const due = await this.#providerSessions.takeDue(sessionId, everyMs);
    if (!due) return;
    const { session, refreshToken } = due;
    const next = refreshToken === undefined ? undefined : await this.#provider.refresh(refreshToken);
    // Without its refresh token, the session could outlive the account at the provider.
    if (next === undefined) await this.#providerSessions.end(session);
    else if (next !== refreshToken) await this.#providerSessions.replaceRefreshToken(sessionId, next);
  }

  #recordFailure(
    client: ClientInfo,
    user: { readonly userId: string | null; readonly username: string | null },
    { message, code }: Refusal,
  ): void {
    const result = code === 'INVALID_CREDENTIALS' ? 'WRONG_CREDENTIALS' : 'REFUSED';
    this.#options.signIns.record({ ...user, ...client, method: 'SINGLE_SIGN_ON', result, detail: message });
  }
}

function unavailable(cause?: ProviderError): Refusal {
  return new Refusal('UNAVAILABLE', 'The single sign-on provider does not respond. Try again later.', {
    cause,
    retryAfterSeconds: 10,
  });
}

function toRefusal({ kind }: ProviderError): Refusal {
  switch (kind) {
    case 'UNAVAILABLE':
      return unavailable();
    case 'DENIED':
      return new Refusal(
        'FORBIDDEN',
        'The provider did not sign you in. Try again, or ask your administrator.',
      );
    case 'REFUSED':
      return new Refusal(
        'INVALID_CREDENTIALS',
        'The response of the single sign-on provider is not valid. Sign in again. If this happens repeatedly, ask your administrator.',
      );
  }
}

function disabled(): Refusal {
  return new Refusal(
    'FORBIDDEN',
    'Your user cannot sign in on this server: it is disabled, or a service account. Ask an administrator.',
  );
}

/** The sign-in history contains this text, so administrators see who was refused. */
function nameAccount(username: string | undefined): string {
  return username === undefined ? 'your account' : `your account ${JSON.stringify(username)}`;
}

function takenName(username: string): Refusal {
  return new Refusal(
    'CONFLICT',
    `The user name ${JSON.stringify(username)} already belongs to a user of this server. If this is you, log in with the password and link the account on your account page. Otherwise ask an administrator.`,
  );
}
