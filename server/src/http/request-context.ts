/**
 * The parts of every request and response: the id, the normalized URL, the security headers and the bearer token. Declares the
 * state that the server stores as properties of Fastify's request and reply.
 */

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { RefusalCode } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { TracedSpan } from '../observability/spans.ts';
import { Refusal } from '../refusal.ts';
import type { Viewer } from '../sessions/auth-token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** By `performance.now()`. */
    startedAt: number;
    /** The authenticated user; null before authentication. */
    userId: string | null;
    /** The authenticated user with the session and the token's expiry. Only set on routes of the graph. */
    viewer: Viewer | null;
    /** Null if the request is not traced. */
    trace: TracedSpan | null;
    /** Why the request was refused; null if it was not. */
    refusalCode: RefusalCode | null;
  }
  interface FastifyReply {
    /** Called once the user is authenticated. */
    setUser(userId: string): void;
  }
}

/** Only authenticated users receive the version, because others could search for servers with a known weakness. */
export function addRequestState(app: FastifyInstance, version: string): void {
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('userId', null);
  app.decorateRequest('viewer', null);
  app.decorateRequest('trace', null);
  app.decorateRequest('refusalCode', null);
  app.decorateReply('setUser', function (this: FastifyReply, userId: string) {
    this.request.userId = userId;
    this.header('espalier-version', version);
  });
}

/** A browser may load nothing for a response of the API and may not frame it. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'";
const twoYearsSeconds = 63_072_000;

/** The headers of every response. A page of the console or of the documentation replaces `content-security-policy` with its own. */
export function securityHeaders(isTls: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': apiPolicy,
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    // A proxy that terminates TLS decides about this header itself.
    ...(isTls && { 'strict-transport-security': `max-age=${twoYearsSeconds}` }),
  };
}

/** Creates ids that are unique across processes. */
export function requestIds(): () => string {
  const prefix = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `${prefix}-${++count}`;
}

/** Removes the origin and repeated slashes, and writes the base path in its configured case. */
export function normalizeUrl(url: string, basePath: string): string {
  return withBasePath(collapseSlashes(withoutOrigin(url)), basePath);
}

/** A proxy may send the absolute URL (RFC 9112 §3.2.2). */
function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
}

/** Contract §4 rule 4: clients may repeat slashes. Only the path is changed, never the query. */
function collapseSlashes(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') + url.slice(path.length) : url;
}

/** The base path matches in any letter case: `/Api/login` is `/api/login`. */
function withBasePath(url: string, basePath: string): string {
  const start = url.slice(0, basePath.length);
  const isOtherCase = start !== basePath && start.toLowerCase() === basePath.toLowerCase();
  return isOtherCase ? basePath + url.slice(basePath.length) : url;
}

/** RFC 6750: the scheme in upper or lower case, then exactly one space. */
function parseBearer(authorization: string): string {
  const token = /^bearer ([\w.-]+)$/i.exec(authorization)?.[1];
  if (token) return token;
  throw new Refusal(
    'INVALID_AUTH_TOKEN',
    'The header Authorization must have the form: Bearer <auth token>, with one space. Instead of an auth token, you can send an API key to /graphql.',
  );
}

/** The address of the client. Null once the connection is closed, or if a trusted proxy sent a text that is no address. */
export function clientAddress({ ip }: { readonly ip: string }): string | null {
  return isIP(ip ?? '') ? ip : null;
}

type WithHeaders = Pick<IncomingMessage, 'headers'>;

/** Undefined if there is no header. A header without a usable bearer token is refused. */
export function optionalBearer({ headers }: WithHeaders): string | undefined {
  return headers.authorization === undefined ? undefined : parseBearer(headers.authorization);
}

export function requiredBearer(request: WithHeaders): string {
  const token = optionalBearer(request);
  if (token) return token;
  throw new Refusal('INVALID_AUTH_TOKEN', 'Send an auth token in the header Authorization: Bearer <token>.');
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

/** The view token of the request. Any value of the header counts, so that a broken one is refused instead of ignored. */
export function viewTokenOf({ headers }: WithHeaders): string | undefined {
  const token = headers['espalier-view-as'];
  return Array.isArray(token) ? token.join() : token;
}

type Payload = Readonly<Record<string, unknown>> | null;

/** Reads the token from the payload of a socket message. The key may be in upper or lower case. Undefined if there is none. */
export function payloadBearer(payload: Payload): string | undefined {
  const authorization = payloadValue(payload, 'authorization');
  if (authorization === undefined || authorization === null) return undefined;
  return parseBearer(typeof authorization === 'string' ? authorization : '');
}

/** The same for the view token. Like in a header, any value counts. */
export function payloadViewToken(payload: Payload): string | undefined {
  const token = payloadValue(payload, 'viewas');
  return token === undefined || typeof token === 'string' ? token : '';
}

function payloadValue(payload: Payload, lowerCaseKey: string): unknown {
  const key = Object.keys(payload ?? {}).find((name) => name.toLowerCase() === lowerCaseKey);
  return key === undefined ? undefined : payload?.[key];
}
