/** What the server stores with each request, as properties of Fastify's request and reply. */

import type { RefusalCode } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Viewer } from '../graph/viewer.ts';
import type { TracedSpan } from '../spans.ts';

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
