/** Turns a refusal into an answer: its status by the endpoint, its form by the endpoint, and never a stack. */

import type { Socket } from 'node:net';
import { statusOf, toGraphCode, type Endpoint, type Problem, type RefusalCode } from '@espalier/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import type { Activity } from '../activity.ts';
import { Refusal } from '../refusal.ts';
import type { NoteTrouble } from '../trouble-log.ts';
import { drainBody } from './drain-body.ts';
import { acceptedMediaType } from './media-types.ts';
import { STATUS_CODES } from './node-http.ts';
import type { ReceivedRequest } from './received-request.ts';
import { apiHeaderLines } from './secured-response.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint;
  }
  interface FastifyRequest {
    /** Why it was refused, if it was. */
    refusalCode: RefusalCode | null;
  }
}

const problemMediaType = 'application/problem+json; charset=utf-8';
const realm = 'Bearer realm="espalier"';

export interface ErrorServices {
  readonly log: Logger;
  readonly activity: Activity;
  readonly noteTrouble: NoteTrouble;
}

/** For Fastify's error handler: anything that was thrown. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, activity, noteTrouble }: ErrorServices,
): void {
  if (isGone(error, request)) {
    const wasSentAway = (request.raw as ReceivedRequest).toldInstead !== undefined;
    if (!wasSentAway)
      log.debug({ requestId: request.id, route: request.routeOptions.url }, 'the client left');
    reply.hijack();
    return;
  }
  const refusal = toRefusal(error);
  request.refusalCode = refusal.code;
  logRefusal(refusal, request, { log, noteTrouble });
  const isError = statusOf(request.routeOptions.config.endpoint, refusal.code) >= 500;
  if (isError) activity.count('errors');
  drainBody(request.raw, (isRead) => {
    // Fastify would close the connection for what the client may still send; by now it has sent it.
    if (isRead) reply.removeHeader('connection');
    answerRefusal(refusal, request, reply);
  });
}

/** The connection ended while the body was on its way, or an answer: there is nobody to tell. */
function isGone(error: unknown, { raw }: FastifyRequest): boolean {
  const { code } = error as { code?: unknown };
  return raw.socket.destroyed && (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE');
}

/** Only what has a cause: that it was refused, and why, stands in the line of the request. */
function logRefusal(
  { code, cause, message }: Refusal,
  request: FastifyRequest,
  { log, noteTrouble }: Pick<ErrorServices, 'log' | 'noteTrouble'>,
): void {
  const facts = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    address: request.ip,
    code,
  };
  if (code === 'INTERNAL') log.error({ ...facts, err: cause }, 'request failed');
  else if (cause !== undefined) noteTrouble(message, cause, facts);
}

function answerRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  const { endpoint } = request.routeOptions.config;
  const status = statusOf(endpoint, refusal.code);
  const { allow, retryAfterSeconds, isExpired, checks, reasons } = refusal.details;
  reply.code(status).header('cache-control', 'no-store');
  if (status === 401) reply.header('www-authenticate', challenge(refusal, request));
  if (status === 401 && endpoint?.tellsExpiry && isExpired) reply.header('token-expired', 'true');
  if (allow) reply.header('allow', allow.join(', '));
  if (retryAfterSeconds) reply.header('retry-after', String(retryAfterSeconds));
  if (endpoint?.refusalFormat === 'graphql') {
    const mediaType = acceptedMediaType(request.headers.accept) ?? 'application/json';
    reply.header('content-type', `${mediaType}; charset=utf-8`);
    reply.send(JSON.stringify({ errors: [toGraphError(refusal, request.id)] }));
    return;
  }
  reply
    .header('content-type', problemMediaType)
    .send(problemText(status, refusal.code, refusal.message, request.id, { checks, reasons }));
}

/** With the request's id if there is a request that is refused. */
export function toGraphError({ code, message, details }: Refusal, requestId?: string): GraphQLFormattedError {
  return {
    message,
    extensions: { code: toGraphCode(code), ...details.facts, ...(requestId && { requestId }) },
  };
}

function problemText(
  status: number,
  code: RefusalCode,
  detail: string,
  requestId: string,
  { checks, reasons }: Pick<Problem, 'checks' | 'reasons'> = {},
): string {
  const title = STATUS_CODES[status] ?? '';
  const problem: Problem = {
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    requestId,
    ...(checks && { checks }),
    ...(reasons && { reasons }),
  };
  return JSON.stringify(problem);
}

/** While what still comes of a broken request is passed over, so that its sender can read the answer. */
export const lingerMs = 2_000;

const complaints: Readonly<Record<number, string>> = {
  400: 'This is not a request that can be read.',
  408: 'The request was not sent in time.',
  431: 'The address and the headers of the request are too long.',
};

/** For what is not even HTTP, or does not come, so that there is no request to answer: the connection ends with it. */
export function answerBrokenRequest(socket: Socket, status: number, requestId: string): void {
  const body = problemText(status, 'BAD_INPUT', complaints[status]!, requestId);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${apiHeaderLines}` +
      `content-type: ${problemMediaType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
  // What comes too late must not be done after all.
  if (status === 408) socket.destroySoon();
  else setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** RFC 9110 §10.1.1: nobody here knows another expectation than 100-continue. Its body is not waited for. */
export function answerExpectation(request: FastifyRequest, reply: FastifyReply): void {
  request.refusalCode = 'BAD_INPUT';
  reply
    .code(417)
    .header('content-type', problemMediaType)
    .header('connection', 'close')
    .send(problemText(417, 'BAD_INPUT', 'Expect can only be 100-continue.', request.id));
}

/** RFC 6750 §3.1: only who sent a bearer token is told what is wrong with it. */
function challenge({ code, message }: Refusal, request: FastifyRequest): string {
  if (request.routeOptions.config.endpoint?.authHeader === 'client') return 'Basic realm="espalier"';
  const isBearer = /^bearer\b/i.test(request.headers.authorization ?? '');
  return isBearer && code === 'INVALID_AUTH_TOKEN'
    ? `${realm}, error="invalid_token", error_description="${message}"`
    : realm;
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Refusal('TOO_LARGE');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('UNSUPPORTED_MEDIA_TYPE');
  if (code.startsWith('FST_ERR_') && statusCode < 500) return new Refusal('BAD_INPUT');
  // The client has hung up, and nobody reads the answer: in the middle of its body (the status is Fastify's mark of
  // that), or before the first of its events was sent.
  if (code === 'ECONNRESET' && statusCode === 400) return new Refusal('BAD_INPUT');
  if (code === 'ERR_STREAM_PREMATURE_CLOSE') return new Refusal('BAD_INPUT');
  return new Refusal('INTERNAL', undefined, { cause: error });
}
