/**
 * What every request and response has: an id, a normalized URL, security headers, and the state that the server stores
 * with a request as properties of Fastify's request and reply.
 */

import { randomBytes } from 'node:crypto';
import type { RefusalCode } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { TracedSpan } from '../observability/spans.ts';
import type { Viewer } from '../sessions/viewer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** By `performance.now()`. */
    startedAt: number;
    /** The authenticated user; null before authentication. */
    userId: string | null;
    /** The same with the session and the token's expiry, on routes of the graph. */
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

/** Only authenticated users receive the version: others could search for servers with a known weakness. */
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

/**
 * The headers of every response. They prevent browsers from interpreting a response differently from its content type. A
 * page of the console replaces `content-security-policy` with its own.
 */
export function securityHeaders(isTls: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': apiPolicy,
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    // Behind a proxy that terminates TLS, this header is the proxy's decision.
    ...(isTls && { 'strict-transport-security': `max-age=${twoYearsSeconds}` }),
  };
}

/** Creates ids that are unique across processes. The 1296 endings are created once, because ids must be cheap. */
export function requestIds(): () => string {
  const prefix = randomBytes(6).toString('base64url');
  const endings = Array.from({ length: 36 ** 2 }, (_, count) => count.toString(36).padStart(2, '0'));
  let round = 0;
  let index = 0;
  let beginning = `${prefix}-0`;
  return () => {
    if (++index === endings.length) {
      index = 0;
      beginning = `${prefix}-${(++round).toString(36)}`;
    }
    return beginning + endings[index]!;
  };
}

/** Removes the origin and repeated slashes, and writes the base path in its configured case. */
export function normalizeUrl(url: string, basePath: string): string {
  return withBasePath(foldSlashes(withoutOrigin(url)), basePath);
}

/** A proxy may send the absolute URL (RFC 9112 §3.2.2). */
function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
}

/** Contract §4 rule 4: clients may repeat slashes. Only the path is changed, never the query. */
function foldSlashes(url: string): string {
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
