/** A passkey in software, written from https://www.w3.org/TR/webauthn-3/ and RFC 9053: it creates keys (P-256) and signs challenges. */

import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** The part of `PublicKeyCredentialCreationOptionsJSON` that the tests use. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/** The part of `PublicKeyCredentialRequestOptionsJSON` that the tests use. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** Deviations from a correct response, for tests of attacks. */
export interface Deviations {
  readonly origin?: string;
  readonly type?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isUserVerified?: boolean;
  readonly userHandle?: string;
  readonly credentialId?: string;
  /** Signs with another key. */
  readonly signingKey?: KeyObject;
  readonly format?: string;
}

type Cbor = number | string | Uint8Array | ReadonlyMap<Cbor, Cbor>;

export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(32).toString('base64url');
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  #userHandle = '';
  /** Zero for a synced passkey. */
  counter: number;

  constructor(origin: string, { counter = 1 }: { readonly counter?: number } = {}) {
    this.#origin = origin;
    this.counter = counter;
  }

  /** Answers `navigator.credentials.create`. */
  create(options: CreationOptions, deviations: Deviations = {}): Record<string, unknown> {
    this.#userHandle = options.user.id;
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const publicKey = encode(
      new Map<Cbor, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]),
    );
    const id = Buffer.from(this.credentialId, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([
      this.#authenticatorData(deviations.rpId ?? options.rp.id, 0x40, deviations),
      Buffer.alloc(16),
      length,
      id,
      publicKey,
    ]);
    const attestation = new Map<Cbor, Cbor>([
      ['fmt', deviations.format ?? 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', options.challenge, deviations),
      attestationObject: encode(attestation).toString('base64url'),
      transports: ['internal', 'unknown'],
    });
  }

  /** Answers `navigator.credentials.get`. */
  get(options: RequestOptions, deviations: Deviations = {}): Record<string, unknown> {
    if (this.counter > 0) this.counter++;
    const authData = this.#authenticatorData(deviations.rpId ?? options.rpId, 0, deviations);
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, deviations);
    const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signed = Buffer.concat([authData, clientDataHash]);
    const key = deviations.signingKey ?? this.#keys.privateKey;
    return this.#credential(
      {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, key).toString('base64url'),
        userHandle: deviations.userHandle ?? this.#userHandle,
      },
      deviations.credentialId,
    );
  }

  #credential(response: object, id = this.credentialId): Record<string, unknown> {
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, deviations: Deviations): string {
    const data = {
      type: deviations.type ?? type,
      challenge: deviations.challenge ?? challenge,
      origin: deviations.origin ?? this.#origin,
      crossOrigin: false,
    };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }

  #authenticatorData(rpId: string, flags: number, { isUserVerified = true }: Deviations): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const userPresent = 0x01;
    const userVerified = isUserVerified ? 0x04 : 0;
    return Buffer.concat([
      createHash('sha256').update(rpId).digest(),
      Buffer.from([flags | userPresent | userVerified]),
      counter,
    ]);
  }
}

/** CBOR (RFC 8949), as far as passkeys need it. */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([key, item]) => [encode(key), encode(item)]),
  ]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 0x100) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}
