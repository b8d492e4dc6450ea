/** For other services that verify auth tokens: the public keys, and `/introspect` (RFC 7662). */

import { createHash, timingSafeEqual } from 'node:crypto';
import { endpoints, type IntrospectionResponse, type KeySet } from '@espalier/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { publicKeysCacheSeconds, type SigningKey } from '../../sessions/signing-keys.ts';
import type { HttpServices } from '../http-services.ts';
import { addEndpoint, sendJson } from './endpoint.ts';

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
    if (!timingSafeEqual(digestOf(basicCredentials(request)), expectedDigest)) {
      throw new Refusal('INVALID_CREDENTIALS', 'The name or password of the introspection client is wrong.');
    }
    done();
  };

  addEndpoint(
    app,
    endpoints.introspect,
    (request, reply) => sendJson(reply, introspect(readToken(request), sessions)),
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
      sid: sessionId,
      exp: Math.floor(tokenExpiresAt / 1000),
    };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return { active: false };
    throw error;
  }
}

function readToken({ headers, body }: FastifyRequest): string {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body with Content-Type: application/x-www-form-urlencoded.',
    );
  }
  const [token, ...more] = new URLSearchParams((body as Buffer | undefined)?.toString()).getAll('token');
  if (!token || more.length > 0)
    throw new Refusal('BAD_INPUT', 'The body must contain the field token exactly once.');
  return token;
}

function basicCredentials({ headers }: FastifyRequest): string {
  const encoded = /^basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return Buffer.from(encoded, 'base64').toString();
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
