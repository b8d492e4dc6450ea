/**
 * The two ceremonies of passkeys (https://www.w3.org/TR/webauthn-3/): an authenticator creates a passkey, and later signs a challenge with
 * it. The package is loaded at the first use, to keep the start fast. It reports each invalid response as an error.
 */

import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { PasskeyCredential, StoredCredential } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';

interface Ceremony {
  /** In base64url. */
  readonly challenge: string;
  readonly relyingParty: RelyingParty;
}

/** EdDSA, ES256 and RS256: every authenticator supports at least one. */
const algorithms = [-8, -7, -257];

const knownTransports: readonly string[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Longer values are not responses of authenticators. */
const maxTextLength = 16_384;
const maxCredentialIdLength = 1_400;

/** The options for `navigator.credentials.create`. The passkey works without a user name, and verifies the user. */
export async function createPasskeyOptions({
  challenge,
  relyingParty,
  user,
  existing,
}: Ceremony & {
  readonly user: { readonly id: string; readonly username: string };
  readonly existing: readonly StoredCredential[];
}): Promise<object> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    rpName: 'Espalier',
    rpID: relyingParty.id,
    userName: user.username,
    userDisplayName: user.username,
    userID: toUserHandle(user.id),
    challenge: Buffer.from(challenge, 'base64url'),
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports] as AuthenticatorTransport[],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
}

/** The options for `navigator.credentials.get`, for any passkey of this server. */
export async function usePasskeyOptions({ challenge, relyingParty }: Ceremony): Promise<object> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({
    rpID: relyingParty.id,
    challenge: Buffer.from(challenge, 'base64url'),
    userVerification: 'required',
  });
}

/** Returns the new passkey, or undefined if the response is invalid or was created for something else. */
export async function verifyNewPasskey(
  input: unknown,
  { challenge, relyingParty }: Ceremony,
): Promise<PasskeyCredential | undefined> {
  const response = toRegistration(input);
  if (!response || (await mayUseNetwork(response))) return undefined;
  const origin = ownOriginOf(response, relyingParty);
  if (origin === undefined) return undefined;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingParty.id,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified || !registrationInfo) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: response.response.transports ?? [],
      relyingParty: relyingParty.id,
      isSynced: credentialBackedUp,
    };
  } catch {
    return undefined;
  }
}

/** Returns the new counter of the passkey, or undefined if the response is invalid. */
export async function verifyPasskeyUse(
  response: AuthenticationResponseJSON,
  stored: Omit<StoredCredential, 'id' | 'isSynced'>,
  { challenge, relyingParty }: Ceremony,
): Promise<number | undefined> {
  const origin = ownOriginOf(response, relyingParty);
  if (origin === undefined) return undefined;
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingParty.id,
      credential: {
        id: stored.credentialId,
        publicKey: Uint8Array.from(stored.publicKey),
        counter: stored.counter,
      },
    });
    const handle = Buffer.from(response.response.userHandle ?? '', 'base64url');
    const isOwn = handle.equals(toUserHandle(stored.userId)) && stored.relyingParty === relyingParty.id;
    return verified && isOwn ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

/** The authenticator returns it at each use. A passkey without a user name names its user with it. */
function toUserHandle(userId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(userId));
}

/**
 * Statements about the make of an authenticator were not requested. To check one, the package would fetch an address from a
 * certificate in the statement, which an attacker can choose.
 */
async function mayUseNetwork(response: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  try {
    const bytes = new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url'));
    const decoded = decodeAttestationObject(bytes);
    const format = decoded.get('fmt');
    return format !== 'none' && (format !== 'packed' || decoded.get('attStmt').get('x5c') !== undefined);
  } catch {
    return true;
  }
}

/** The origin of the page that asked the authenticator, if the page belongs to this server. */
function ownOriginOf(
  { response }: { readonly response: { readonly clientDataJSON: string } },
  { isOwnOrigin }: RelyingParty,
): string | undefined {
  try {
    const text = Buffer.from(response.clientDataJSON, 'base64url').toString();
    const origin = (JSON.parse(text) as { origin?: unknown } | null)?.origin;
    return typeof origin === 'string' && isOwnOrigin(origin) ? origin : undefined;
  } catch {
    return undefined;
  }
}

function toRegistration(input: unknown): RegistrationResponseJSON | undefined {
  const parts = toParts(input, ['clientDataJSON', 'attestationObject']);
  if (!parts) return undefined;
  const { id, response, fields } = parts;
  const listed: readonly unknown[] = Array.isArray(fields['transports']) ? fields['transports'] : [];
  const transports = knownTransports.filter((each) => listed.includes(each)) as AuthenticatorTransport[];
  return {
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
    response: { ...(response as RegistrationResponseJSON['response']), transports },
  };
}

/** Returns undefined if the input does not have the form of a response. Ignores all other fields. */
export function toAuthentication(input: unknown): AuthenticationResponseJSON | undefined {
  const parts = toParts(input, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']);
  return (
    parts && {
      ...{ id: parts.id, rawId: parts.id, type: 'public-key', clientExtensionResults: {} },
      response: parts.response as AuthenticationResponseJSON['response'],
    }
  );
}

function toParts(input: unknown, names: readonly string[]) {
  const { id, rawId, type, response } = toObject(input);
  const fields = toObject(response);
  const isText = (value: unknown, max: number) =>
    typeof value === 'string' && value.length <= max && /^[\w-]+$/.test(value);
  const isValid =
    isText(id, maxCredentialIdLength) &&
    id === rawId &&
    type === 'public-key' &&
    names.every((name) => isText(fields[name], maxTextLength));
  if (!isValid) return undefined;
  const picked = Object.fromEntries(names.map((name) => [name, fields[name] as string]));
  return { id: id as string, response: picked as unknown, fields };
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
