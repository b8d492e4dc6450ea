/**
 * The challenges that authenticators sign. A challenge is the digest of a signed token, so no request without a valid passkey writes to the
 * database. A used challenge is stored until it expires, so that it works once on all nodes.
 */

import type { Reader, Transaction } from '../../database/database.ts';
import { sha256 } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';
import { pruneStatements } from '../../journal/prune.ts';
import { SignedTokens, type TokenServices } from '../signed-token.ts';

const challengeMs = 5 * 60_000;

/** A challenge to sign in names no user. A challenge to create a passkey belongs to a session. */
type ChallengePurpose =
  | { readonly use: 'sign-in' }
  | { readonly use: 'enrol'; readonly userId: string; readonly sessionId: string };

/** No claim is called `sub`: no other service may take a challenge for an auth token. */
interface Claims {
  readonly use: ChallengePurpose['use'];
  readonly user?: string;
  readonly sid?: string;
}

interface Challenge {
  /** The token. The client returns it with the response of the authenticator. */
  readonly id: string;
  /** The bytes that the authenticator signs, in base64url. */
  readonly challenge: string;
  readonly expiresAt: number;
}

interface TokenContent extends Claims {
  readonly expiresAt: number;
}

const insertSpent = sql<{ digest: Uint8Array; expiresAt: number }>`
  insert into spent_challenges (digest, expires_at) values (${'digest'}, ${'expiresAt'})
  on conflict (digest) do nothing`;
const findSpent = sql<{ digest: Uint8Array }, object>`
  select expires_at from spent_challenges where digest = ${'digest'}`;

export const expiredChallenges = pruneStatements<{ before: number }>(
  sql`delete from spent_challenges`,
  sql`digest`,
  sql`from spent_challenges where expires_at <= ${'before'}`,
);

export class PasskeyChallenges {
  readonly #services: TokenServices;
  readonly #tokens: SignedTokens<Claims, TokenContent>;

  constructor(services: TokenServices) {
    this.#services = services;
    this.#tokens = new SignedTokens<Claims, TokenContent>({
      ...services,
      type: 'passkey+jwt',
      maxLifetimeMs: challengeMs,
      toContent: (claims, { expiresAt }) => ({ ...claims, expiresAt }),
    });
  }

  issue(purpose: ChallengePurpose): Challenge {
    const { token, content } = this.#tokens.issue(toClaims(purpose), challengeMs);
    return { id: token, challenge: sha256(token).toString('base64url'), expiresAt: content.expiresAt };
  }

  /** Returns undefined if the challenge has expired, was issued for another purpose, or was not issued by this server. */
  read(id: string, purpose: ChallengePurpose): Challenge | undefined {
    const content = this.#tokens.read(id);
    const expected = toClaims(purpose);
    const isValid =
      content !== undefined &&
      content.expiresAt > this.#services.clock.now() &&
      content.use === expected.use &&
      content.user === expected.user &&
      content.sid === expected.sid;
    if (!isValid) return undefined;
    return { id, challenge: sha256(id).toString('base64url'), expiresAt: content.expiresAt };
  }
}

/** Returns false if the challenge was used before, on any node. */
export async function spendChallenge(
  transaction: Transaction,
  { id, expiresAt }: Pick<Challenge, 'id' | 'expiresAt'>,
): Promise<boolean> {
  return (await transaction.run(insertSpent, { digest: sha256(id), expiresAt })) === 1;
}

export async function isChallengeSpent(reader: Reader, { id }: Pick<Challenge, 'id'>): Promise<boolean> {
  return (await reader.get(findSpent, { digest: sha256(id) })) !== undefined;
}

function toClaims(purpose: ChallengePurpose): Claims {
  const { use } = purpose;
  return use === 'sign-in' ? { use } : { use, user: purpose.userId, sid: purpose.sessionId };
}
