/** The methods with which users can sign in. Users must not remove their own last one. */

import { noPassword } from '../accounts/users.ts';
import type { RelyingParty } from '../accounts/second-factors/relying-party.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';

/** The methods that this server offers. */
export interface OfferedMethods {
  readonly passwordLogin: Settings['passwordLogin'];
  /** The issuer of single sign-on. Undefined if it is not configured. */
  readonly ssoIssuer: string | undefined;
  /** Undefined if this server is not configured for passkeys. */
  readonly relyingParty: RelyingParty | undefined;
}

interface MethodsRow {
  readonly passwordHash: string;
  readonly isAdministrator: number;
  readonly passkeys: number;
}

/** Passkeys of an earlier host name no longer work. */
const findMethods = sql<{ userId: string; relyingPartyId: string }, MethodsRow>`
  select password_hash as "passwordHash", is_administrator as "isAdministrator",
    (select count(*) from passkeys where user_id = users.id and relying_party = ${'relyingPartyId'}) as passkeys
  from users where id = ${'userId'}`;
const findIssuers = sql<{ userId: string }, { issuer: string }>`
  select issuer from user_identities where user_id = ${'userId'}`;

/** Call it after the removal, in the same transaction. */
export async function requireSignInMethod(
  transaction: Transaction,
  userId: string,
  { passwordLogin, ssoIssuer, relyingParty }: OfferedMethods,
): Promise<void> {
  const relyingPartyId = relyingParty?.id ?? '';
  const user = (await transaction.get(findMethods, { userId, relyingPartyId }))!;
  const mayUsePassword =
    passwordLogin === 'on' || (passwordLogin === 'administrators' && user.isAdministrator === 1);
  if (mayUsePassword && user.passwordHash !== noPassword) return;
  if (user.passkeys > 0) return;
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
