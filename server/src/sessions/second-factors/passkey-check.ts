/** Checks that an authenticator has signed a challenge with a passkey of this server. */

import {
  readCredential,
  recordPasskeyUse,
  type StoredCredential,
} from '../../accounts/second-factors/passkeys.ts';
import type { RelyingParty } from '../../accounts/second-factors/relying-party.ts';
import {
  toAuthentication,
  usePasskeyOptions,
  verifyPasskeyUse,
} from '../../accounts/second-factors/webauthn.ts';
import { Refusal } from '../../refusal.ts';
import { usedCredential, type CheckedCredential } from './code-check.ts';
import { isChallengeSpent, spendChallenge } from './passkey-challenges.ts';
import type { SecondFactorServices } from './second-factor-services.ts';

/** The response of an authenticator, with the challenge that it signed. */
export interface PasskeyResponse {
  readonly challengeId: string;
  /** An `AuthenticationResponseJSON`. */
  readonly response?: unknown;
}

interface CheckedPasskey extends CheckedCredential {
  readonly userId: string;
}

/** The options for `navigator.credentials.get`, with the id of their challenge. */
export interface PasskeyRequest {
  readonly challengeId: string;
  readonly options: object;
}

/** An unknown passkey is checked with this key (P-256), so that the response takes as long as for a known one. */
const unknownPasskey: Omit<StoredCredential, 'id' | 'isSynced'> = {
  userId: '',
  credentialId: '',
  publicKey: Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from('6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296', 'hex'),
    Buffer.from('225820', 'hex'),
    Buffer.from('4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5', 'hex'),
  ]),
  counter: 0,
  transports: [],
  relyingParty: '',
};

export function requireRelyingParty({ relyingParty }: SecondFactorServices): RelyingParty {
  if (relyingParty) return relyingParty;
  throw new Refusal(
    'NOT_FOUND',
    'This server is not configured for passkeys. The operator can set ESPALIER_PUBLIC_URL to its https URL.',
  );
}

export async function createPasskeyRequest(services: SecondFactorServices): Promise<PasskeyRequest> {
  const relyingParty = requireRelyingParty(services);
  const { id, challenge } = services.challenges.issue({ use: 'sign-in' });
  return { challengeId: id, options: await usePasskeyOptions({ challenge, relyingParty }) };
}

/** Returns undefined for any response that is not accepted. */
export async function checkPasskey(
  services: SecondFactorServices,
  { challengeId, response: input }: PasskeyResponse,
): Promise<CheckedPasskey | undefined> {
  const { database, clock, challenges } = services;
  const relyingParty = requireRelyingParty(services);
  const issued = challenges.read(challengeId, { use: 'sign-in' });
  const response = toAuthentication(input);
  if (!issued || !response || (await isChallengeSpent(database, issued))) return undefined;
  const stored = await readCredential(database, response.id);
  const { challenge } = issued;
  const newCounter = await verifyPasskeyUse(response, stored ?? unknownPasskey, { challenge, relyingParty });
  if (!stored || newCounter === undefined) return undefined;
  return {
    userId: stored.userId,
    writesJournal: false,
    spend: async (transaction) => {
      const isFirst =
        (await spendChallenge(transaction, issued)) &&
        (await recordPasskeyUse(transaction, stored, { newCounter, now: clock.now() }));
      if (!isFirst) throw usedCredential();
    },
  };
}
