/**
 * The tokens and headers that random operations choose. A number selects one of the tokens that exist at run
 * time.
 */

import fc from 'fast-check';
import {
  authTokenDamage,
  refreshTokenDamage,
  type AuthTokenDamage,
  type RefreshTokenDamage,
} from './damaged-tokens.ts';
import { refreshTokenMs, type ModelSession, type TokenModel } from './token-model.ts';

interface Choice<Damage> {
  readonly session: number;
  readonly which: 'newest' | 'older' | 'spent';
  readonly damage: Damage | null;
  readonly index: number;
}

export type RefreshChoice = Choice<RefreshTokenDamage>;

export interface HeaderChoice extends Choice<AuthTokenDamage> {
  readonly header: keyof typeof headers;
}

const headers = {
  usual: (token: string) => `Bearer ${token}`,
  lowerCase: (token: string) => `bearer ${token}`,
  none: () => undefined,
  otherScheme: (token: string) => `Basic ${token}`,
  noScheme: (token: string) => token,
  twoSpaces: (token: string) => `Bearer  ${token}`,
  tab: (token: string) => `Bearer\t${token}`,
  twoTokens: (token: string) => `Bearer ${token}, Bearer ${token}`,
  bare: () => 'Bearer',
  empty: () => '',
};

export const number = fc.nat(10_000);
export const noToken = 'not.a.token';

const listKeys = <T extends object>(table: T) => Object.keys(table) as (keyof T)[];
const usually = <T>(usual: T, others: readonly T[]) =>
  fc.oneof(
    { weight: 14, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const choice = <Damage>(damage: readonly Damage[]) => ({
  session: number,
  which: fc.constantFrom('newest', 'newest', 'newest', 'older', 'spent', 'spent'),
  damage: usually<Damage | null>(null, damage),
  index: number,
});

export const refreshChoice: fc.Arbitrary<RefreshChoice> = fc.record(choice(listKeys(refreshTokenDamage)));

export const headerChoice: fc.Arbitrary<HeaderChoice> = fc.record({
  ...choice(listKeys(authTokenDamage)),
  header: usually<HeaderChoice['header']>('usual', listKeys(headers)),
});

/** Selects a live session in three of four cases. */
export function selectSession(model: TokenModel, index: number): ModelSession | undefined {
  const { sessions } = model;
  const alive = index % 4 === 0 ? [] : sessions.filter((session) => model.isAlive(session));
  return alive[index % (alive.length || 1)] ?? sessions[index % (sessions.length || 1)];
}

export function selectAuthToken(model: TokenModel, session: ModelSession, choice: HeaderChoice): string {
  const { which, damage, index } = choice;
  // The server may have purged the key of a token that is older than any refresh token. The model cannot predict
  // the response to such a token.
  const usable = session.authTokens.filter(({ issuedAt }) => model.now - issuedAt < refreshTokenMs);
  const spentWith = usable.find(({ text }) => text === session.refreshTokens.at(-2)?.spent?.withText);
  const older = which === 'older' ? usable[index % (usable.length || 1)] : undefined;
  if (usable.length === 0) return noToken;
  const { text } = (which === 'spent' ? spentWith : older) ?? usable.at(-1)!;
  return damage ? authTokenDamage[damage](text, index) : text;
}

export function selectRefreshToken(session: ModelSession, { which, damage, index }: RefreshChoice): string {
  const { refreshTokens } = session;
  const chosen =
    which === 'newest'
      ? refreshTokens.at(-1)
      : which === 'spent'
        ? refreshTokens.at(-2)
        : refreshTokens[index % refreshTokens.length];
  const { text } = chosen ?? refreshTokens.at(-1)!;
  return damage ? refreshTokenDamage[damage](text, index) : text;
}

export function formatHeader(text: string, { header }: HeaderChoice): string | undefined {
  return headers[header](text);
}
