/**
 * The span of a request, from its head to the end of its response. It contains what the access log contains: no URL, no
 * header and no body.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Tracer } from '../tracer.ts';
import { clientLeft, isProbe, type ReportRequest } from './request-log.ts';

/** Health probes are not traced: some programs send one every second. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, _, done) => {
    if (!isProbe(request)) beginTrace(tracer, request);
    inTrace(request, done);
  });
  // The body's events are emitted outside the span.
  app.addHook('preHandler', (request, _, done) => inTrace(request, done));
}

function beginTrace(tracer: Tracer, request: FastifyRequest): void {
  const { method, headers, raw } = request;
  const from = { traceparent: headers['traceparent'], tracestate: headers['tracestate'] };
  const facts = { 'http.request.method': method, 'network.protocol.version': raw.httpVersion };
  request.trace = tracer.begin({ name: method, kind: 'server', facts }, from) ?? null;
}

/** Runs the work inside the request's span, if it has one. */
function inTrace<T>({ trace }: FastifyRequest, work: () => T): T {
  return trace === null ? work() : trace.run(work);
}

export const endTrace: ReportRequest = ({ trace, requestId, method, route, status, userId, refused }) => {
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
