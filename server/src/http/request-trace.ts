/**
 * The span of a request, from its head to the end of its answer, whichever way it goes. Says of it what the log says: never an
 * address, a header or a body.
 */

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Tracer } from '../tracer.ts';
import type { ReceivedRequest } from './received-request.ts';
import { clientLeft, isProbe, type TellRequest } from './request-log.ts';

export function beginTrace(tracer: Tracer, request: IncomingMessage): void {
  const { method = '', headers } = request;
  const from = { traceparent: headers['traceparent'], tracestate: headers['tracestate'] };
  const facts = { 'http.request.method': method, 'network.protocol.version': request.httpVersion };
  (request as ReceivedRequest).trace = tracer.begin({ name: method, kind: 'server', facts }, from);
}

/** Does the work inside the request's span, if it has one. A body comes from elsewhere: after it, this is needed again. */
function inTrace<T>(request: IncomingMessage, work: () => T): T {
  const { trace } = request as ReceivedRequest;
  return trace === undefined ? work() : trace.run(work);
}

/** For requests that go the usual way, some of them after they failed on the quick one. Who only asks how the node is, and does so every second, is left out. */
export function traceRequests(
  app: FastifyInstance,
  tracer: Tracer,
  hasFailed: (request: IncomingMessage) => boolean,
): void {
  app.addHook('onRequest', (request, _, done) => {
    if (!hasFailed(request.raw) && !isProbe(request)) beginTrace(tracer, request.raw);
    inTrace(request.raw, done);
  });
  app.addHook('preHandler', (request, _, done) => inTrace(request.raw, done));
}

export const endTrace: TellRequest = ({ trace, requestId, method, route, status, userId, refused }) => {
  trace?.end(
    {
      'espalier.request.id': requestId,
      ...(route !== undefined && { 'http.route': route }),
      ...(status === clientLeft
        ? { 'espalier.client.left': true }
        : { 'http.response.status_code': status, ...(status >= 500 && { 'error.type': String(status) }) }),
      ...(userId !== undefined && { 'user.id': userId }),
      ...(refused && { 'espalier.refusal': refused.code }),
    },
    { name: route === undefined ? method : `${method} ${route}`, isFailure: status >= 500 },
  );
};
