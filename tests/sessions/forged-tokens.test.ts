/** Tokens forged in every known way: no endpoint accepts one or reports it as expired. */

import assert from 'node:assert/strict';
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
  type SignKeyObjectInput,
} from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { readPrivateKeys } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

type Json = Record<string, unknown>;

interface Forgery {
  readonly title: string;
  readonly token: string;
}

/** A header value cannot contain a line break or trailing white space. */
const fitsInHeader = ({ token }: Forgery) => /^[\x21-\x7e]+$/.test(token);

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url');
const encodeJson = (value: unknown) => encode(JSON.stringify(value));
const decodeJson = (segment: string) => JSON.parse(Buffer.from(segment, 'base64url').toString()) as Json;

for (const kind of databaseKinds) {
  describe(`forged tokens on ${kind.name}`, () => {
    let testbed: Testbed;
    let tokens: LoginResponse;
    let forgeries: Forgery[];

    before(async () => {
      testbed = await Testbed.start(kind);
      tokens = await testbed.logIn();
      const stranger = await Testbed.start(kind);
      const strangersToken = (await stranger.logIn()).authToken;
      await stranger.stop();
      const [privateKey] = await readPrivateKeys(testbed.database.url);
      forgeries = forge(
        tokens.authToken,
        strangersToken,
        privateKey!,
        Math.floor(testbed.clock.now() / 1000),
      );
    });
    after(() => testbed.stop());

    test('are made from a token that the server accepts', async () => {
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 200);
    });

    test('include at least 100 different tokens', () => {
      const different = new Set(forgeries.filter(fitsInHeader).map(({ token }) => token)).size;
      assert.ok(different >= 100, `only ${different}`);
    });

    test('are rejected by /graphql', async () => {
      for (const { title, token } of forgeries.filter(fitsInHeader)) {
        const answer = await testbed.query('{folder{name}}', token);
        assert.equal(answer.status, 401, title);
        assert.equal(answer.headers.get('token-expired'), null, title);
        assert.ok(!answer.text.includes('"data"'), title);
      }
    });

    test('are rejected by /login/verify', async () => {
      for (const { title, token } of forgeries) {
        const answer = await testbed.post('/login/verify', { authToken: token });
        assert.equal(answer.status, 400, title);
        assert.equal(answer.headers.get('token-expired'), null, title);
      }
    });

    test('are rejected by /logout', async () => {
      for (const { title, token } of forgeries.filter(fitsInHeader)) {
        const answer = await testbed.post('/logout', { refreshToken: tokens.refreshToken }, token);
        assert.equal(answer.status, 401, title);
        assert.equal(answer.headers.get('token-expired'), null, title);
      }
    });

    test('are rejected by /login/refresh, and the session stays valid', async () => {
      for (const { title, token } of forgeries.filter(fitsInHeader)) {
        const answer = await testbed.refresh({ ...tokens, authToken: token });
        assert.equal(answer.status, 401, title);
        assert.equal(answer.headers.get('token-expired'), null, title);
      }
      assert.equal((await testbed.refresh(tokens)).status, 200);
    });

    test('are rejected even if they are signed with the real key', async () => {
      const [privateKey] = await readPrivateKeys(testbed.database.url);
      const [header, payload] = tokens.authToken.split('.').slice(0, 2).map(decodeJson) as [Json, Json];
      const future = Math.floor(testbed.clock.now() / 1000) + 120;
      const edits: [string, Json, Json][] = [
        ['another issuer', header, { ...payload, iss: 'urn:somebody:else' }],
        ['no issuer', header, { ...payload, iss: undefined }],
        ['issued in the future', header, { ...payload, iat: future }],
        ['not yet valid', header, { ...payload, nbf: future }],
        ['a longer lifetime than allowed', header, { ...payload, exp: (payload['iat'] as number) + 86_401 }],
        ['another type', { ...header, typ: 'JWT' }, payload],
        ['no type', { ...header, typ: undefined }, payload],
        ['a critical extension', { ...header, crit: ['exp'] }, payload],
        [
          'a header of another order',
          { typ: header['typ'], alg: header['alg'], kid: header['kid'] },
          payload,
        ],
      ];
      for (const [title, head, claims] of edits) {
        const signed = `${encodeJson(head)}.${encodeJson(claims)}`;
        const token = `${signed}.${encode(sign(null, Buffer.from(signed), privateKey!))}`;
        assert.equal((await testbed.query('{folder{name}}', token)).status, 401, title);
      }
    });
  });
}

/** Returns every forgery that is possible without the private key, and encodings that lenient decoders accept. */
function forge(genuine: string, strangers: string, privateKey: KeyObject, now: number): Forgery[] {
  const [headerText, payloadText, signatureText] = genuine.split('.') as [string, string, string];
  const header = decodeJson(headerText);
  const payload = decodeJson(payloadText);
  const publicKey = createPublicKey(privateKey);
  const attackerKey = generateKeyPairSync('ed25519').privateKey;
  const forgeries: Forgery[] = [];
  const add = (title: string, token: string) => forgeries.push({ title, token });
  const signWith = (
    key: KeyObject | SignKeyObjectInput,
    head: Json,
    claims: Json,
    digest: string | null = null,
  ) => {
    const signed = `${encodeJson(head)}.${encodeJson(claims)}`;
    return `${signed}.${encode(sign(digest, Buffer.from(signed), key))}`;
  };
  const signWithHmac = (secret: string | Uint8Array, head: Json, hash: string) => {
    const signed = `${encodeJson(head)}.${payloadText}`;
    return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
  };

  for (const alg of ['none', 'None', 'NONE', 'nOnE', 'none ', '', null, undefined, 0, [], ['EdDSA']]) {
    for (const [signatureKind, signature] of [
      ['no signature', ''],
      ['the old signature', signatureText],
      ['one dot fewer', undefined],
    ] as const) {
      const parts = [
        encodeJson({ ...header, alg }),
        payloadText,
        ...(signature === undefined ? [] : [signature]),
      ];
      add(`alg ${JSON.stringify(alg)} with ${signatureKind}`, parts.join('.'));
    }
  }

  const secrets = {
    'the public key as PEM': publicKey.export({ format: 'pem', type: 'spki' }),
    'the public key as DER': publicKey.export({ format: 'der', type: 'spki' }),
    'the public key as JWK text': JSON.stringify(publicKey.export({ format: 'jwk' })),
    'the raw public key': Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'),
    nothing: '',
    'the word secret': 'secret',
  };
  for (const [name, secret] of Object.entries(secrets)) {
    for (const bits of [256, 384, 512]) {
      add(`HS${bits} with ${name}`, signWithHmac(secret, { ...header, alg: `HS${bits}` }, `sha${bits}`));
    }
  }

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  add("RS256 with an attacker's key", signWith(rsa, { ...header, alg: 'RS256' }, payload, 'sha256'));
  add('alg PS256 with an RS256 signature', signWith(rsa, { ...header, alg: 'PS256' }, payload, 'sha256'));
  add(
    "ES256 with an attacker's key",
    signWith({ key: ec, dsaEncoding: 'ieee-p1363' }, { ...header, alg: 'ES256' }, payload, 'sha256'),
  );
  add(
    'ES256 with a zero signature',
    `${encodeJson({ ...header, alg: 'ES256' })}.${payloadText}.${encode(Buffer.alloc(64))}`,
  );
  for (const alg of ['EdDSA', 'Ed25519', 'Ed448', 'eddsa', 'EDDSA', 'HS256', 'RS256', 'ES256']) {
    add(`another Ed25519 key, with alg ${alg}`, signWith(attackerKey, { ...header, alg }, payload));
  }

  const jwk = createPublicKey(attackerKey).export({ format: 'jwk' });
  const kids = [
    randomUUID(),
    '',
    '../../../../dev/null',
    '/dev/null',
    "' or '1'='1",
    'https://attacker.example/key',
    null,
    undefined,
    1,
    [header['kid']],
    { toString: 'x' },
    '__proto__',
    'constructor',
  ];
  for (const kid of kids) {
    add(
      `kid ${JSON.stringify(kid)} with an attacker's key`,
      signWith(attackerKey, { ...header, kid }, payload),
    );
    add(
      `kid ${JSON.stringify(kid)} with the original signature`,
      `${encodeJson({ ...header, kid })}.${payloadText}.${signatureText}`,
    );
  }
  const headerExtras: [string, Json][] = [
    ['jwk', { jwk }],
    ['jku', { jku: 'https://attacker.example/jwks.json' }],
    ['x5u', { x5u: 'https://attacker.example/cert.pem' }],
    ['x5c', { x5c: ['MIIB'] }],
    ['x5t', { x5t: 'abc' }],
    ['crit', { crit: ['exp'] }],
    ['crit with an extension', { crit: ['x'], x: 1 }],
    ['b64', { b64: false, crit: ['b64'] }],
    ['zip', { zip: 'DEF' }],
    ['cty', { cty: 'JWT' }],
    ['typ JWT', { typ: 'JWT' }],
    ['typ of an id token', { typ: 'id+jwt' }],
    ['typ in capitals', { typ: 'AT+JWT' }],
    ['typ with its prefix', { typ: 'application/at+jwt' }],
    ['no typ', { typ: undefined }],
    ['iss in the header', { iss: payload['iss'] }],
  ];
  for (const [name, extra] of headerExtras) {
    add(`${name}, an attacker's key`, signWith(attackerKey, { ...header, ...extra }, payload));
    add(
      `${name}, the original signature`,
      `${encodeJson({ ...header, ...extra })}.${payloadText}.${signatureText}`,
    );
  }

  const claimEdits: Json[] = [
    { sub: randomUUID() },
    { sid: randomUUID() },
    { exp: now + 999_999 },
    { exp: now - 1 },
    { exp: undefined },
    { exp: 'never' },
    { exp: 1e300 },
    { iat: 0 },
    { nbf: 0 },
    { iss: 'urn:somebody:else' },
    { jti: 'x' },
    { aud: 'espalier' },
    { admin: true },
  ];
  for (const edit of claimEdits) {
    const claims = encodeJson({ ...payload, ...edit });
    add(`claims edited: ${JSON.stringify(edit)}`, `${headerText}.${claims}.${signatureText}`);
  }

  add('a token of another installation', strangers);
  add(
    'our claims with the signature of another installation',
    `${headerText}.${payloadText}.${strangers.split('.')[2]}`,
  );
  add('the header of another installation', `${strangers.split('.')[0]}.${payloadText}.${signatureText}`);
  add('the signature of zeros', `${headerText}.${payloadText}.${encode(Buffer.alloc(64))}`);
  add('no signature', `${headerText}.${payloadText}.`);
  add('no signature and no dot', `${headerText}.${payloadText}`);
  add('no payload', `${headerText}..${signatureText}`);
  add('no header', `.${payloadText}.${signatureText}`);
  add('only dots', '..');
  add('five segments', `${genuine}.AA.AA`);
  add('four segments', `${genuine}.AA`);
  add('a dot at the end', `${genuine}.`);
  add('a dot at the start', `.${genuine}`);
  add('the token twice', genuine + genuine);
  for (const cut of [1, 2, 3, 4, 43, 85]) add(`cut by ${cut}`, genuine.slice(0, -cut));
  for (const [index, segment] of [headerText, payloadText, signatureText].entries()) {
    const replaced = (text: string) => [headerText, payloadText, signatureText].with(index, text).join('.');
    add(`padding in segment ${index}`, replaced(`${segment}=`));
    add(`double padding in segment ${index}`, replaced(`${segment}==`));
    add(`a stray letter in segment ${index}`, replaced(`${segment}A`));
    add(`a foreign character in segment ${index}`, replaced(`${segment}*`));
    add(`white space in segment ${index}`, replaced(`${segment} `));
    add(`a line break in segment ${index}`, replaced(`${segment.slice(0, 10)}\n${segment.slice(10)}`));
    add(`segment ${index} with standard base64 letters`, replaced(`+/${segment.slice(2)}`));
    add(`other bits at the end of segment ${index}`, replaced(nextLastLetter(segment)));
  }
  return forgeries.filter(({ token }) => token !== genuine);
}

/** Changes unused bits of the last letter, which lenient decoders ignore. For example, 64 bytes leave four bits unused. */
function nextLastLetter(segment: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = letters.indexOf(segment.at(-1)!);
  return segment.slice(0, -1) + letters[(last & ~3) | ((last + 1) & 3)];
}
