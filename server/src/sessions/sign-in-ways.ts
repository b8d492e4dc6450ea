/** The ways in which a user can sign in. Users must not remove the last one of their own. */

import { noPassword } from '../accounts/users.ts';
import type { RelyingParty } from '../accounts/second-factors/relying-party.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';

/** The ways that this server offers. */
export interface OfferedWays {
  readonly passwordLogin: Settings['passwordLogin'];
  /** The issuer of single sign-on. Undefined if it is not configured. */
  readonly ssoIssuer: string | undefined;
  /** Undefined if this server is not configured for passkeys. */
  readonly relyingParty: RelyingParty | undefined;
}

interface WaysRow {
  readonly passwordHash: string;
  readonly isAdministrator: number;
  readonly passkeys: number;
}

/** Passkeys of an earlier host name no longer work. */
const findWays = sql<{ userId: string; relyingPartyId: string }, WaysRow>`
  select password_hash as "passwordHash", is_administrator as "isAdministrator",
    (select count(*) from passkeys where user_id = users.id and relying_party = ${'relyingPartyId'}) as passkeys
  from users where id = ${'userId'}`;
const findIssuers = sql<{ userId: string }, { issuer: string }>`
  select issuer from user_identities where user_id = ${'userId'}`;

/** Call it after the removal, in the same transaction. */
export async function requireWayToSignIn(
  transaction: Transaction,
  userId: string,
  { passwordLogin, ssoIssuer, relyingParty }: OfferedWays,
): Promise<void> {
  const relyingPartyId = relyingParty?.id ?? '';
  const ways = (await transaction.get(findWays, { userId, relyingPartyId }))!;
  const mayUsePassword =
    passwordLogin === 'on' || (passwordLogin === 'administrators' && ways.isAdministrator === 1);
  if (mayUsePassword && ways.passwordHash !== noPassword) return;
  if (ways.passkeys > 0) return;
  if (ssoIssuer !== undefined) {
    const issuers = await transaction.all(findIssuers, { userId });
    const { href } = new URL(ssoIssuer);
    // The discovery compares in the same way, so the slash after a host name does not matter.
    if (issuers.some(({ issuer }) => URL.parse(issuer)?.href === href)) return;
  }
  throw new Refusal(
    'CONFLICT',
    'This is your last way to sign in. Add a passkey first, or ask an administrator to set a password.',
  );
}
