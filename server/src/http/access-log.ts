/** The access log: one line for each finished request. Never contains a query string, a header or a body. */

import { endpoints } from '@espalier/contract';
import type { FastifyContextConfig, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { TracedSpan } from '../observability/spans.ts';

export interface FinishedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern, never the URL: a query string may contain anything. Undefined if no route matches. */
  readonly route: string | undefined;
  readonly status: number;
  /** The time until the response was sent or the client left. */
  readonly ms: number;
  /** Undefined if the request was not authenticated. */
  readonly userId: string | undefined;
  /** The header of the request. */
  readonly traceparent: string | string[] | undefined;
  /** Undefined if the request is not traced here. */
  readonly trace?: TracedSpan | undefined;
  /** Why the request was refused, and the client's address if it is still known. */
  readonly refusal?: { readonly code: string; readonly address: string | undefined } | undefined;
  /** Some programs send a health probe every second. */
  readonly isProbe?: boolean;
  /** Whether the response was an event stream, which can last for days. */
  readonly isStream?: boolean;
}

export type ReportRequest = (request: FinishedRequest) => void;

/** The status in the log if the client left before the response. Several proxies use the same status. */
export const clientLeftStatus = 499;

/** Returns a function that calls all functions, one after another. Undefined if there are none. */
export function reportToAll(...reporters: readonly (ReportRequest | undefined)[]): ReportRequest | undefined {
  const reports = reporters.filter((report) => report !== undefined);
  if (reports.length <= 1) return reports[0];
  return (request) => {
    for (const report of reports) report(request);
  };
}

export function describeFinished(reply: FastifyReply): FinishedRequest {
  const { request } = reply;
  const { raw, refusalCode } = request;
  const { url: route, config } = request.routeOptions;
  const { headersSent, writableFinished } = reply.raw;
  const contentType = reply.getHeader('content-type');
  return {
    requestId: request.id,
    method: request.method,
    route,
    status: headersSent || writableFinished ? reply.statusCode : clientLeftStatus,
    ms: performance.now() - request.startedAt,
    userId: request.userId ?? undefined,
    traceparent: raw.headers['traceparent'],
    trace: request.trace ?? undefined,
    refusal: refusalCode === null ? undefined : { code: refusalCode, address: request.ip },
    isStream: typeof contentType === 'string' && contentType.startsWith('text/event-stream'),
    isProbe: isProbe(config),
  };
}

export function isProbe({ endpoint }: FastifyContextConfig): boolean {
  return endpoint === endpoints.livez || endpoint === endpoints.readyz;
}

/** Undefined if the log level excludes these lines. */
export function createAccessLog(log: Logger): ReportRequest | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  return ({ requestId, method, route, status, ms, userId, traceparent, trace, refusal, isProbe }) => {
    const fields = {
      requestId,
      method,
      route,
      status,
      // Rounded to microseconds.
      ms: Math.round(ms * 1000) / 1000,
      userId,
      traceId: trace?.span.spanContext().traceId ?? traceIdOf(traceparent),
      code: refusal?.code,
      address: refusal?.address,
    };
    // Do not change the text: `observability/log.ts` recognizes these lines by it.
    if (isProbe) log.debug(fields, 'request');
    else log.info(fields, 'request');
  };
}

/** Reads the trace id from a header as in https://www.w3.org/TR/trace-context/#traceparent-header. Later versions may append fields. */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, parentId, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  return /^0+$/.test(traceId!) || /^0+$/.test(parentId!) ? undefined : traceId;
}
