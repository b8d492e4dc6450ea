/**
 * The sessions that began with single sign-on, each with the session of the provider that it began with. The provider ends them with a
 * logout token, or by no longer accepting their refresh token.
 */

import type { Clock } from '../../clock.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../../database/database.ts';
import { decryptBytes, deriveKey, encryptBytes, sha256 } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';
import { runChange } from '../../journal/journal.ts';
import { pruneInBatches, pruneStatements } from '../../journal/prune.ts';
import { Refusal } from '../../refusal.ts';
import {
  mayHaveToken,
  revokeSession,
  tokenSince,
  type RevocationCache,
  type SessionOfUser,
} from '../revocation.ts';
import { codeMs } from './attempts.ts';
import type { AuthenticatedPerson, LogoutRequest } from './provider.ts';

interface ProviderSessionRow {
  readonly sessionId: string;
  readonly identityId: string;
  readonly sid: string | null;
  readonly encrypted: Uint8Array | null;
  readonly now: number;
}

/** A session whose refresh token of the provider must be checked. */
interface DueSession extends SessionOfUser {
  readonly encrypted: Uint8Array;
  readonly checkedAt: number;
}

const insertSession = sql<ProviderSessionRow>`
  insert into single_sign_on_sessions (session_id, identity_id, sid, sealed_refresh_token, checked_at)
  values (${'sessionId'}, ${'identityId'}, ${'sid'}, ${'encrypted'}, ${'now'})`;

/** The sessions that are active, or whose auth token may be valid after a logout. */
const usableSessions = sql`
  select sessions.id as "sessionId", sessions.user_id as "userId"
  from single_sign_on_sessions
  join user_identities on user_identities.id = identity_id
  join sessions on sessions.id = session_id and ${mayHaveToken}`;
const findOfIdentity = sql<{ identityId: string; since: number }, SessionOfUser>`
  ${usableSessions} where identity_id = ${'identityId'} order by sessions.id`;
const findOfSubject = sql<{ issuer: string; subject: string; since: number }, SessionOfUser>`
  ${usableSessions} where issuer = ${'issuer'} and subject = ${'subject'} order by sessions.id`;
const findOfSid = sql<{ issuer: string; sid: string; since: number }, SessionOfUser>`
  ${usableSessions} where sid = ${'sid'} and issuer = ${'issuer'} order by sessions.id`;
/** A session has no `sid` if the ID token of its sign-in had none. */
const findOfSubjectAndSid = sql<
  { issuer: string; subject: string; sid: string; since: number },
  SessionOfUser
>`
  ${usableSessions} where issuer = ${'issuer'} and subject = ${'subject'} and (sid = ${'sid'} or sid is null)
  order by sessions.id`;

const insertLogout = sql<{
  digest: Uint8Array;
  issuer: string;
  subject: string | null;
  sid: string | null;
  now: number;
}>`
  insert into single_sign_on_logouts (token_digest, issuer, subject, sid, received_at)
  values (${'digest'}, ${'issuer'}, ${'subject'}, ${'sid'}, ${'now'}) on conflict do nothing`;
const findLogout = sql<{ issuer: string; subject: string; sid: string; since: number }, { at: number }>`
  select received_at as at from single_sign_on_logouts
  where received_at >= ${'since'} and issuer = ${'issuer'}
    and (sid = ${'sid'} or (subject = ${'subject'} and (sid is null or ${'sid'} = ''))) limit 1`;
const oldLogouts = pruneStatements<{ before: number }>(
  sql`delete from single_sign_on_logouts`,
  sql`token_digest`,
  sql`from single_sign_on_logouts where received_at < ${'before'}`,
);

const findDue = sql<{ sessionId: string; before: number }, DueSession>`
  select session_id as "sessionId", user_id as "userId", sealed_refresh_token as encrypted, checked_at as "checkedAt"
  from single_sign_on_sessions join sessions on sessions.id = session_id and revoked_at is null
  where session_id = ${'sessionId'} and sealed_refresh_token is not null and checked_at <= ${'before'}`;
const claim = sql<{ sessionId: string; checkedAt: number; now: number }>`
  update single_sign_on_sessions set checked_at = ${'now'}
  where session_id = ${'sessionId'} and checked_at = ${'checkedAt'}`;
const storeToken = sql<{ sessionId: string; encrypted: Uint8Array | null }>`
  update single_sign_on_sessions set sealed_refresh_token = ${'encrypted'} where session_id = ${'sessionId'}`;

/** Longer than a logout token is valid, including the difference of clocks, so that none is accepted twice. */
const logoutMs = 15 * 60_000;
const pruneBatchSize = 1_000;

/** The sessions that began with an identity, also those that were logged out and may still have a valid auth token. */
export function sessionsOfIdentity(
  reader: Reader,
  { identityId, now }: { readonly identityId: string; readonly now: number },
): PromiseOrValue<readonly SessionOfUser[]> {
  return reader.all(findOfIdentity, { identityId, since: tokenSince(now) });
}

interface ProviderSessionOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly revoked: RevocationCache;
  /** Encrypts the refresh tokens of the provider. Without a secret, they are not stored. */
  readonly secret: string | undefined;
}

export class ProviderSessions {
  readonly #options: ProviderSessionOptions;
  readonly #key: Uint8Array | undefined;

  constructor(options: ProviderSessionOptions) {
    this.#options = options;
    const { secret } = options;
    const purpose = 'espalier refresh tokens of the provider';
    this.#key = secret === undefined ? undefined : deriveKey(secret, { salt: '', purpose });
  }

  /** Stores the session of the provider with which a session begins. */
  async add(
    transaction: Transaction,
    {
      sid = null,
      refreshToken,
    }: Pick<AuthenticatedPerson, 'refreshToken'> & { readonly sid?: string | null | undefined },
    ids: { readonly sessionId: string; readonly identityId: string },
    now: number,
  ): Promise<void> {
    const encrypted = refreshToken === undefined ? null : this.#encrypt(refreshToken, ids.sessionId);
    await transaction.run(insertSession, { ...ids, sid, encrypted, now });
  }

  /** Refuses a person who logged out at the provider after the sign-in there. Without this check, the session would outlive the logout. */
  async requireNoLogout(
    transaction: Transaction,
    { issuer, subject, sid = '' }: AuthenticatedPerson,
    since: number,
  ): Promise<void> {
    if (!(await transaction.get(findLogout, { issuer, subject, sid, since }))) return;
    throw new Refusal(
      'INVALID_CREDENTIALS',
      'You logged out at the provider in the meantime. Sign in again.',
    );
  }

  /** Ends the sessions that a logout token names. Refuses a token that was used before. */
  async logOut({ issuer, tokenId, subject, sid }: LogoutRequest): Promise<void> {
    const { database, clock, revoked } = this.#options;
    const now = clock.now();
    const ended = await runChange(database, async (transaction) => {
      const digest = sha256(`${issuer} ${tokenId}`);
      const row = { digest, issuer, subject: subject ?? null, sid: sid ?? null, now };
      if ((await transaction.run(insertLogout, row)) === 0) {
        throw new Refusal('BAD_INPUT', 'This logout token was already used.');
      }
      const sessions = await findNamed(transaction, { issuer, subject, sid }, now);
      for (const session of sessions) {
        await revokeSession(transaction, session, { because: 'provider', now, byUserId: null });
      }
      return sessions;
    });
    for (const { sessionId } of ended) revoked.add(sessionId, now);
  }

  /**
   * Returns the session if its last check is at least `everyMs` ago, at most once on all nodes. The refresh token is missing if this
   * node cannot decrypt it.
   */
  async takeDue(
    sessionId: string,
    everyMs: number,
  ): Promise<{ session: SessionOfUser; refreshToken: string | undefined } | undefined> {
    const { database, clock } = this.#options;
    const now = clock.now();
    const session = await database.get(findDue, { sessionId, before: now - everyMs });
    if (!session) return undefined;
    const { checkedAt } = session;
    const claimed = await database.transaction((transaction) =>
      transaction.run(claim, { sessionId, checkedAt, now }),
    );
    if (claimed === 0) return undefined;
    const bytes = this.#key && decryptBytes(session.encrypted, this.#key, sessionId);
    return { session, refreshToken: bytes && Buffer.from(bytes).toString() };
  }

  async replaceRefreshToken(sessionId: string, refreshToken: string): Promise<void> {
    const encrypted = this.#encrypt(refreshToken, sessionId);
    await this.#options.database.transaction((transaction) =>
      transaction.run(storeToken, { sessionId, encrypted }),
    );
  }

  /** Ends a session that the server can no longer check, or that the provider no longer accepts. */
  async end(session: SessionOfUser): Promise<void> {
    const { database, clock, revoked } = this.#options;
    const now = clock.now();
    await runChange(database, (transaction) =>
      revokeSession(transaction, session, { because: 'provider', now, byUserId: null }),
    );
    revoked.add(session.sessionId, now);
  }

  async prune(): Promise<void> {
    const { database, clock } = this.#options;
    const before = clock.now() - Math.max(logoutMs, 2 * codeMs);
    await pruneInBatches(database, oldLogouts, { before, batch: pruneBatchSize });
  }

  /** Bound to the session, so that a token in another row is useless. */
  #encrypt(refreshToken: string, sessionId: string): Uint8Array | null {
    return this.#key ? encryptBytes(Buffer.from(refreshToken), this.#key, sessionId) : null;
  }
}

/** OpenID Connect Back-Channel Logout 1.0 §2.7: with `sid`, only the sessions of this session of the provider; otherwise all of the user. */
function findNamed(
  transaction: Transaction,
  { issuer, subject, sid }: Pick<LogoutRequest, 'issuer' | 'subject' | 'sid'>,
  now: number,
): PromiseOrValue<readonly SessionOfUser[]> {
  const since = tokenSince(now);
  if (sid === undefined) return transaction.all(findOfSubject, { issuer, subject: subject!, since });
  if (subject === undefined) return transaction.all(findOfSid, { issuer, sid, since });
  return transaction.all(findOfSubjectAndSid, { issuer, subject, sid, since });
}
