/** Reads the claims about a person that the provider sends. */

import { toAccountName } from '../../accounts/users.ts';
import { Refusal } from '../../refusal.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimNames {
  readonly usernameClaim: string;
  /** Undefined if groups are not synchronized. */
  readonly groupsClaim: string | undefined;
}

/** A person as the provider describes them. */
export interface Person {
  /** The id of the person at the provider. */
  readonly subject: string;
  /** The id of the session at the provider. */
  readonly sid: string | undefined;
  readonly username: string | undefined;
  readonly groups: readonly string[];
}

const maxIdLength = 255;
const maxNameLength = 255;
const maxGroups = 10_000;
/** Names the claims that were too long for the token (OpenID Connect Core 1.0 §5.6.2). */
const distributedClaims = '_claim_names';

export function readPerson(claims: Claims, { usernameClaim, groupsClaim }: ClaimNames): Person {
  const { sub, sid } = claims;
  const subject = toProviderId(sub);
  if (subject === undefined) {
    throw new Refusal(
      'FORBIDDEN',
      'The provider sent an id for this person that is too long or has control characters.',
    );
  }
  // Some providers let people enter any address.
  const isUnverified = usernameClaim === 'email' && String(claims['email_verified']) === 'false';
  const username = isUnverified ? undefined : findClaim(claims, usernameClaim);
  return {
    subject,
    sid: toProviderId(sid),
    username: typeof username === 'string' ? username : undefined,
    groups: groupsClaim === undefined ? [] : readGroups(claims, groupsClaim),
  };
}

/** The name for a new user, or undefined if the name is missing or could be confused with the name of another user. */
export function newUserNameOf({ username }: Pick<Person, 'username'>): string | undefined {
  const name = username === undefined ? undefined : toAccountName(username);
  return name !== undefined && name === name.trim() && !/\p{Cf}/u.test(name) ? name : undefined;
}

/** The user name at the provider, only for display. PostgreSQL cannot store a null character. */
export function displayNameOf({ username }: Pick<Person, 'username'>): string | null {
  const name = username?.replaceAll(/\p{Cc}/gu, '').toWellFormed();
  return name ? name.slice(0, maxNameLength).toWellFormed() : null;
}

/** A missing claim means that the person is in no group. */
function readGroups(claims: Claims, groupsClaim: string): readonly string[] {
  const value = findClaim(claims, groupsClaim);
  if (value === undefined && findClaim(claims, `${distributedClaims}.${groupsClaim}`) !== undefined) {
    throw new Refusal(
      'FORBIDDEN',
      'The provider did not send the groups of this person, because there are too many. Ask an administrator to send only the assigned groups.',
    );
  }
  const groups = (Array.isArray(value) ? value : [value]).filter((group) => typeof group === 'string');
  return groups.slice(0, maxGroups);
}

/** The name of a claim may contain dots, for example if it is a URL. Otherwise dots separate the names of nested claims. */
export function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** An id of the provider in a form that every database can store. */
export function toProviderId(value: unknown): string | undefined {
  const isId = typeof value === 'string' && value.length <= maxIdLength && /^[^\p{Cc}]+$/u.test(value);
  return isId && value.isWellFormed() ? value : undefined;
}
