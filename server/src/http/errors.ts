/** Turns a refusal into a response. The endpoint determines the status and the format. A response never contains a stack. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  refusalStatus,
  toGraphCode,
  type Endpoint,
  type Problem,
  type RefusalCode,
} from '@espalier/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import type { Activity } from '../observability/activity.ts';
import type { LogOutage } from '../observability/outage-log.ts';
import { Refusal } from '../refusal.ts';
import { drainBody } from './guards/body-limits.ts';
import { acceptedMediaType } from './media-types.ts';
import { securityHeaders } from './request-context.ts';

/** Not imported: an import of `node:http` loads a client for `fetch` as well, about 50 ms and 14 MB. */
export const { ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint;
  }
}

const problemMediaType = 'application/problem+json; charset=utf-8';
const realm = 'Bearer realm="espalier"';

interface ErrorServices {
  readonly log: Logger;
  readonly activity: Activity;
  readonly logOutage: LogOutage;
}

/** Fastify's error handler. `error` is any value that was thrown. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  services: ErrorServices,
  /** `hasRefused` returns whether the client has already received a response, because its body was broken or late. */
  brokenRequests: { hasRefused(request: IncomingMessage): boolean },
): void {
  const { log, activity } = services;
  if (hasClientLeft(error, request)) {
    if (!brokenRequests.hasRefused(request.raw)) {
      log.debug({ requestId: request.id, route: request.routeOptions.url }, 'the client left');
    }
    reply.hijack();
    return;
  }
  const refusal = toRefusal(error);
  request.refusalCode = refusal.code;
  logRefusal(refusal, request, services);
  const isError = refusalStatus(request.routeOptions.config.endpoint, refusal.code) >= 500;
  if (isError) activity.count('errors');
  drainBody(request.raw, (isRead) => {
    // Fastify closes the connection because the client may still be sending. Here it has finished.
    if (isRead) reply.removeHeader('connection');
    sendRefusal(refusal, request, reply);
  });
}

/** Whether the connection was closed during the body or the response. No client then waits for a refusal. */
function hasClientLeft(error: unknown, { raw }: FastifyRequest): boolean {
  const { code } = partsOf(error);
  return raw.socket.destroyed && (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE');
}

/** Only a refusal with a cause gets its own log line. The access log contains the code of every refusal. */
function logRefusal(
  { code, cause, message }: Refusal,
  request: FastifyRequest,
  { log, logOutage }: ErrorServices,
): void {
  const fields = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    address: request.ip,
    code,
  };
  if (code === 'INTERNAL') log.error({ ...fields, err: cause }, 'The request failed. This is a bug.');
  else if (cause !== undefined) logOutage(message, cause, fields);
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  const { endpoint } = request.routeOptions.config;
  const status = refusalStatus(endpoint, refusal.code);
  const { allow, retryAfterSeconds, isExpired, ...details } = refusal.details;
  const { methods, enrolmentToken, checks, reasons } = details;
  reply.code(status).header('cache-control', 'no-store');
  if (status === 401) reply.header('www-authenticate', challenge(refusal, request));
  if (status === 401 && endpoint?.reportsExpiry && isExpired) reply.header('token-expired', 'true');
  if (allow) reply.header('allow', allow.join(', '));
  if (retryAfterSeconds) reply.header('retry-after', String(retryAfterSeconds));
  if (endpoint?.refusalFormat === 'graphql') {
    const mediaType = acceptedMediaType(request.headers.accept) ?? 'application/json';
    reply.header('content-type', `${mediaType}; charset=utf-8`);
    reply.send(JSON.stringify({ errors: [toGraphError(refusal, request.id)] }));
    return;
  }
  reply.header('content-type', problemMediaType).send(
    problemText(status, refusal.code, refusal.message, request.id, {
      methods,
      enrolmentToken,
      checks,
      reasons,
    }),
  );
}

/** `requestId` is the id of the request, or of the request that opened the socket. */
export function toGraphError({ code, message, details }: Refusal, requestId: string): GraphQLFormattedError {
  return {
    message,
    extensions: { code: toGraphCode(code), ...details.facts, requestId },
  };
}

type ProblemMembers = Pick<Problem, 'methods' | 'enrolmentToken' | 'checks' | 'reasons'>;

function problemText(
  status: number,
  code: RefusalCode,
  detail: string,
  requestId: string,
  members: ProblemMembers = {},
): string {
  const title = STATUS_CODES[status] ?? '';
  const problem: Problem = { type: 'about:blank', title, status, detail, code, requestId, ...members };
  return JSON.stringify(problem);
}

/** How long the rest of a broken request is discarded, so that the client can read the response. */
export const lingerMs = 2_000;

const brokenDetails: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  408: 'The request did not arrive in time. Send it again.',
  431: 'The request line and the headers have more than 16 KiB. Send fewer or shorter headers.',
};

const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/**
 * Writes a response directly to the socket and closes the socket. Used if a request cannot be parsed or did not arrive in time.
 */
export function sendBrokenRequest(socket: Socket, status: number, requestId: string): void {
  const body = problemText(status, 'BAD_INPUT', brokenDetails[status]!, requestId);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${securityHeaderLines}` +
      `content-type: ${problemMediaType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
  // A late request must not be executed.
  if (status === 408) socket.destroySoon();
  else setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** RFC 9110 §10.1.1: the only supported expectation is 100-continue. The response does not wait for the body. */
export function refuseExpectation(request: FastifyRequest, reply: FastifyReply): void {
  request.refusalCode = 'BAD_INPUT';
  reply
    .code(417)
    .header('content-type', problemMediaType)
    .header('connection', 'close')
    .send(
      problemText(
        417,
        'BAD_INPUT',
        'The only supported value of the header Expect is 100-continue.',
        request.id,
      ),
    );
}

/** RFC 6750 §3.1: the error is included only if the client sent a bearer token. */
function challenge({ code, message }: Refusal, request: FastifyRequest): string {
  if (request.routeOptions.config.endpoint?.authHeader === 'client') return 'Basic realm="espalier"';
  const isBearer = /^bearer\b/i.test(request.headers.authorization ?? '');
  return isBearer && code === 'INVALID_AUTH_TOKEN'
    ? `${realm}, error="invalid_token", error_description="${message}"`
    : realm;
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = partsOf(error);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('UNSUPPORTED_MEDIA_TYPE');
  if (code.startsWith('FST_ERR_') && statusCode < 500) return new Refusal('BAD_INPUT');
  // The client closed the connection during the body (Fastify then sets this status), or before the first event.
  if (code === 'ECONNRESET' && statusCode === 400) return new Refusal('BAD_INPUT');
  if (code === 'ERR_STREAM_PREMATURE_CLOSE') return new Refusal('BAD_INPUT');
  const cause = error ?? new Error('A promise was rejected, or an exception thrown, without an error.');
  return new Refusal('INTERNAL', undefined, { cause });
}

/** Anything can be thrown, even `undefined`. */
function partsOf(error: unknown): { readonly code?: string; readonly statusCode?: number } {
  return error ?? {};
}
