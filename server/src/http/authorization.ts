/** Reads bearer tokens from headers and socket messages (RFC 6750; the scheme in any case, then exactly one space). */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../refusal.ts';

interface WithHeaders {
  readonly headers: IncomingHttpHeaders;
}

/** Undefined if there is no header. A header without a usable bearer token is refused. */
export function optionalBearer({ headers }: WithHeaders): string | undefined {
  return headers.authorization === undefined ? undefined : parseBearer(headers.authorization);
}

export function requiredBearer(request: WithHeaders): string {
  const token = optionalBearer(request);
  if (token) return token;
  throw new Refusal('INVALID_AUTH_TOKEN', 'This request needs an auth token: Authorization: Bearer <token>.');
}

/**
 * Caches the latest token of each connection. A repeated header is not parsed again, and its token is the same string
 * object, which the token cache finds much faster. Does not check whether the token is still valid.
 */
export function cachedBearer(request: IncomingMessage): string {
  const socket: TokenSocket = request.socket;
  const { authorization } = request.headers;
  const latest = socket[latestKey];
  if (latest !== undefined && latest.header === authorization) return latest.token;
  const token = requiredBearer(request);
  socket[latestKey] = { header: authorization!, token };
  return token;
}

/** Stored on the socket itself, which is faster than a lookup in a map. */
const latestKey = Symbol('latest token');

interface TokenSocket extends Socket {
  [latestKey]?: { readonly header: string; readonly token: string };
}

/** Reads the token from the payload of a socket message. The key may be in any case. Undefined if there is none. */
export function payloadBearer(payload: Readonly<Record<string, unknown>> | null): string | undefined {
  const key = Object.keys(payload ?? {}).find((name) => name.toLowerCase() === 'authorization');
  const authorization = key && payload?.[key];
  if (authorization === undefined || authorization === null) return undefined;
  return parseBearer(typeof authorization === 'string' ? authorization : '');
}

function parseBearer(authorization: string): string {
  const token = /^bearer ([\w.-]+)$/i.exec(authorization)?.[1];
  if (token) return token;
  throw new Refusal('INVALID_AUTH_TOKEN', 'Authorization must be: Bearer, one space, the auth token.');
}
