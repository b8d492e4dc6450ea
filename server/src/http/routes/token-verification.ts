/** For other services that verify auth tokens: the public keys, and `/introspect` (RFC 7662). */

import { createHash, timingSafeEqual } from 'node:crypto';
import { endpoints, type IntrospectionResponse, type KeySet } from '@espalier/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import { clientId } from '../../sessions/auth-token.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { publicKeysCacheSeconds, type SigningKey } from '../../sessions/signing-keys.ts';
import type { HttpServices } from '../http-services.ts';
import { addEndpoint, sendJson } from './endpoint.ts';
import { readFormField } from './form-field.ts';

export function addKeySet(app: FastifyInstance, { keys }: HttpServices): void {
  let listedKeys: readonly SigningKey[] = [];
  let body = '';
  let entityTag = '';

  addEndpoint(app, endpoints.keySet, ({ headers }, reply) => {
    if (listedKeys !== keys.all) {
      listedKeys = keys.all;
      body = JSON.stringify(toKeySet(listedKeys));
      entityTag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    }
    reply.header('cache-control', `public, max-age=${publicKeysCacheSeconds}`).header('etag', entityTag);
    if (headers['if-none-match']?.includes(entityTag)) return reply.code(304).send();
    return reply.header('content-type', 'application/json; charset=utf-8').send(body);
  });
}

function toKeySet(keys: readonly SigningKey[]): KeySet {
  return {
    keys: keys.map(({ id, publicKey }) => {
      const { x = '' } = publicKey.export({ format: 'jwk' });
      return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: id, x };
    }),
  };
}

export function addIntrospection(app: FastifyInstance, { sessions, settings }: HttpServices): void {
  /** The name and the password of the only service that may call the endpoint, separated by a colon. */
  const client = settings.introspectionClient;
  const expectedDigest = client === undefined ? undefined : digestOf(client);

  const onRequest = (request: FastifyRequest, _: unknown, done: () => void) => {
    if (!expectedDigest)
      throw new Refusal(
        'NOT_FOUND',
        'Introspection is not enabled on this server. Set ESPALIER_INTROSPECTION_CLIENT to enable it.',
      );
    // Digests have equal lengths, so the time of the comparison reveals nothing.
    const isExpected = (credentials: string) => timingSafeEqual(digestOf(credentials), expectedDigest);
    const credentials = basicCredentials(request);
    if (!isExpected(credentials) && !isExpected(decodeForm(credentials))) {
      throw new Refusal('INVALID_CREDENTIALS', 'The name or password of the introspection client is wrong.');
    }
    done();
  };

  addEndpoint(
    app,
    endpoints.introspect,
    (request, reply) => sendJson(reply, introspect(readFormField(request, 'token'), sessions)),
    { onRequest },
  );
}

function introspect(token: string, sessions: Sessions): IntrospectionResponse {
  try {
    const { userId, sessionId, tokenExpiresAt } = sessions.authenticate(token);
    return {
      active: true,
      token_type: 'Bearer',
      iss: sessions.issuer,
      sub: userId,
      aud: sessions.audience,
      client_id: clientId,
      sid: sessionId,
      exp: Math.floor(tokenExpiresAt / 1000),
    };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return { active: false };
    throw error;
  }
}

function basicCredentials({ headers }: FastifyRequest): string {
  const encoded = /^basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return Buffer.from(encoded, 'base64').toString();
}

/** OAuth clients encode the name and the password like a form before they join them with a colon (RFC 6749 §2.3.1). */
function decodeForm(credentials: string): string {
  try {
    return decodeURIComponent(credentials.replaceAll('+', ' '));
  } catch {
    // Not encoded. The text itself was compared already.
    return credentials;
  }
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
