/** The spans of requests and of operations on sockets. They contain the same data as the access log: no URL, header or body. */

import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { startTrace, type Tracing } from '../observability/spans.ts';
import { clientLeftStatus, isProbe, type ReportRequest } from './access-log.ts';

/** The hooks that the server calls if traces are sent. */
export type RequestTracing = ReturnType<typeof createRequestTracing>;

export function createRequestTracing(tracing: Tracing) {
  return {
    /** Health probes are not traced: some programs send one every second. */
    traceRequests(app: FastifyInstance): void {
      app.addHook('onRequest', (request, _, done) => {
        if (!isProbe(request.routeOptions.config)) startRequest(tracing, request);
        inTrace(request, done);
      });
      // The events of the body are emitted outside the span, so the handler enters the span again.
      app.addHook('preHandler', (request, _, done) => inTrace(request, done));
    },

    endRequest,

    /** Traces an operation on a socket until it is open: the socket itself may stay open for hours. */
    async traceOperation<T>(protocol: string, userId: string, open: () => Promise<T>): Promise<T> {
      const attributes = { 'network.protocol.name': protocol, 'user.id': userId };
      const operationTrace = startTrace(tracing, 'socket operation', { kind: SpanKind.SERVER, attributes });
      try {
        return await (operationTrace ? context.with(operationTrace.context, open) : open());
      } finally {
        operationTrace?.end();
      }
    },
  };
}

function startRequest(tracing: Tracing, request: FastifyRequest): void {
  const { method, headers, raw } = request;
  const attributes = { 'http.request.method': method, 'network.protocol.version': raw.httpVersion };
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  request.trace = startTrace(tracing, method, { kind: SpanKind.SERVER, attributes }, parent) ?? null;
}

/** Runs the work inside the request's span, if it has one. */
function inTrace<T>({ trace }: FastifyRequest, work: () => T): T {
  return trace === null ? work() : context.with(trace.context, work);
}

const endRequest: ReportRequest = ({ trace, requestId, method, route, status, userId, refusal }) => {
  // The span of an event stream has ended with its first event.
  if (!trace?.span.isRecording()) return;
  trace.span.updateName(route === undefined ? method : `${method} ${route}`).setAttributes({
    'espalier.request.id': requestId,
    ...(route !== undefined && { 'http.route': route }),
    ...(status === clientLeftStatus
      ? { 'espalier.client.left': true }
      : { 'http.response.status_code': status, ...(status >= 500 && { 'error.type': String(status) }) }),
    ...(userId !== undefined && { 'user.id': userId }),
    ...(refusal && { 'espalier.refusal': refusal.code }),
  });
  if (status >= 500) trace.span.setStatus({ code: SpanStatusCode.ERROR });
  trace.end();
};
