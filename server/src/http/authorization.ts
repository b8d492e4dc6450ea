/** Reads auth tokens as clients write them (RFC 6750; the scheme word in any case, then exactly one space). */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../refusal.ts';

interface WithHeaders {
  readonly headers: IncomingHttpHeaders;
}

/** Undefined if there is no header at all; a header that is no usable bearer token is refused. */
export function optionalBearer(request: WithHeaders): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : parseBearer(header);
}

export function requiredBearer(request: WithHeaders): string {
  const token = optionalBearer(request);
  if (token) return token;
  throw new Refusal('INVALID_AUTH_TOKEN', 'This request needs an auth token: Authorization: Bearer <token>.');
}

/**
 * For requests by the thousand: the same header over the same connection is not taken apart again, and its token is the
 * same string again, which is found much faster among those that are known. Says nothing of whether it is still good.
 */
export function repeatedBearer(request: IncomingMessage): string {
  const socket: Known = request.socket;
  const { authorization } = request.headers;
  const latest = socket[latestOf];
  if (latest !== undefined && latest.header === authorization) return latest.token;
  const token = requiredBearer(request);
  socket[latestOf] = { header: authorization!, token };
  return token;
}

/** On the connection itself, where it is found soonest. */
const latestOf = Symbol('latest token');

interface Known extends Socket {
  [latestOf]?: { readonly header: string; readonly token: string };
}

/** In the payload of a message, where the key may be in any case; undefined if it is not there. */
export function bearerIn(payload: Readonly<Record<string, unknown>> | null): string | undefined {
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
