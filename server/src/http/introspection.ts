/** `/introspect` (RFC 7662): another service, which has a name and a password of its own, asks about an auth token. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { endpoints, type IntrospectionResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { addEndpoint } from './endpoint-route.ts';

/** `client` is its name, a colon and its password; without one there is nobody who may ask. */
export function addIntrospection(app: FastifyInstance, sessions: Sessions, client: string | undefined): void {
  const expected = client === undefined ? undefined : digestOf(client);

  const onRequest = (request: FastifyRequest, _: unknown, done: () => void) => {
    if (!expected) throw new Refusal('NOT_FOUND', 'No client for introspection has been set up here.');
    // Of the same length whatever is given, so that comparing tells nothing.
    if (!timingSafeEqual(digestOf(basicCredentials(request)), expected)) {
      throw new Refusal('INVALID_CREDENTIALS', 'The name or the password of the client is wrong.');
    }
    done();
  };

  addEndpoint(
    app,
    endpoints.introspect,
    (request, reply) =>
      reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(JSON.stringify(introspect(tokenIn(request), sessions))),
    { onRequest },
  );
}

function introspect(token: string, sessions: Sessions): IntrospectionResponse {
  try {
    const { userId, sessionId, expiresAt } = sessions.authenticate(token);
    return {
      active: true,
      token_type: 'Bearer',
      iss: sessions.issuer,
      sub: userId,
      sid: sessionId,
      exp: Math.floor(expiresAt / 1000),
    };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return { active: false };
    throw error;
  }
}

function tokenIn({ headers, body }: FastifyRequest): string {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be sent with Content-Type: application/x-www-form-urlencoded.',
    );
  }
  const [token, ...more] = new URLSearchParams((body as Buffer | undefined)?.toString()).getAll('token');
  if (!token || more.length > 0) throw new Refusal('BAD_INPUT', 'The body needs the field token, once.');
  return token;
}

function basicCredentials({ headers }: FastifyRequest): string {
  const encoded = /^basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return Buffer.from(encoded, 'base64').toString();
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
