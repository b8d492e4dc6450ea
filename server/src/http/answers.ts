/** Turns a refusal into an answer: its status by the endpoint, its form by the endpoint, and never a stack. */

import { STATUS_CODES } from 'node:http';
import { statusOf, toGraphCode, type Endpoint, type Problem } from '@espalier/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from '../refusal.ts';
import { acceptedMediaType } from './media-types.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint;
  }
}

const realm = 'Bearer realm="espalier"';

/** For Fastify's error handler: anything that was thrown. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const refusal = toRefusal(error);
  if (refusal.code === 'INTERNAL') log.error({ requestId: request.id, err: refusal.cause }, 'request failed');
  else if (refusal.cause) log.warn({ requestId: request.id, err: refusal.cause }, refusal.message);
  answerRefusal(refusal, request, reply);
}

function answerRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  const { endpoint } = request.routeOptions.config;
  const status = statusOf(endpoint, refusal.code);
  const { allow, retryAfterSeconds, isExpired } = refusal.details;
  reply.code(status).header('cache-control', 'no-store');
  if (status === 401) reply.header('www-authenticate', challenge(refusal, request));
  if (status === 401 && endpoint?.tellsExpiry && isExpired) reply.header('token-expired', 'true');
  if (allow) reply.header('allow', allow.join(', '));
  if (retryAfterSeconds) reply.header('retry-after', String(retryAfterSeconds));
  if (endpoint?.refusalFormat === 'graphql') {
    const mediaType = acceptedMediaType(request.headers.accept) ?? 'application/json';
    const extensions = { code: toGraphCode(refusal.code), requestId: request.id };
    reply.header('content-type', `${mediaType}; charset=utf-8`);
    reply.send(JSON.stringify({ errors: [{ message: refusal.message, extensions }] }));
    return;
  }
  const problem: Problem = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? '',
    status,
    detail: refusal.message,
    code: refusal.code,
    requestId: request.id,
  };
  reply.header('content-type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
}

/** RFC 6750 §3.1: who sent no token is told of the scheme only, who sent one also what is wrong. */
function challenge(refusal: Refusal, request: FastifyRequest): string {
  return request.headers.authorization === undefined
    ? realm
    : `${realm}, error="invalid_token", error_description="${refusal.message}"`;
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Refusal('TOO_LARGE');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('UNSUPPORTED_MEDIA_TYPE');
  if (code.startsWith('FST_ERR_') && statusCode < 500) return new Refusal('BAD_INPUT');
  return new Refusal('INTERNAL', undefined, { cause: error });
}
