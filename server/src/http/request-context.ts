/** What the server stores with each request, as properties of Fastify's request and reply. */

import type { RefusalCode } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Viewer } from '../sessions/viewer.ts';
import type { TracedSpan } from '../observability/spans.ts';

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
    /** Called once the user is known. */
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
/**
 * The headers that every response has. They keep browsers from interpreting a response as anything else than its
 * content type says.
 */
/** A response of the API may load nothing in a browser and may not be framed. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'";
const twoYearsSeconds = 63072000;
/** A page of the console replaces `content-security-policy` with its own. */

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
/** The same as header lines, for responses that are written to a bare socket. */

export const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
