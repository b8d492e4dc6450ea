/** Reads the Authorization header (RFC 6750; the scheme word in any case, then exactly one space). */

import type { FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';

/** Undefined if there is no header at all; a header that is no usable bearer token is refused. */
export function optionalBearer(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  const token = /^bearer ([\w.-]+)$/i.exec(header)?.[1];
  if (!token) {
    throw new Refusal(
      'INVALID_AUTH_TOKEN',
      'The Authorization header must be: Bearer, one space, the auth token.',
    );
  }
  return token;
}

export function requiredBearer(request: FastifyRequest): string {
  const token = optionalBearer(request);
  if (token) return token;
  throw new Refusal('INVALID_AUTH_TOKEN', 'This request needs an auth token: Authorization: Bearer <token>.');
}
