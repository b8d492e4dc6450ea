/** What an endpoint is asked and what it answers when all goes well, whichever way the request came. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, RouteHandlerMethod } from 'fastify';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import type { Viewer } from '../graph/viewer.ts';

/** A request that has come whole; each of Fastify's is one. */
export interface Asked {
  readonly raw: IncomingMessage;
  readonly headers: IncomingHttpHeaders;
  /** Of the client, as a trusted proxy tells it; without it, that of the connection. */
  readonly ip?: string;
  /** A buffer, if there is any. */
  readonly body: unknown;
  /** Null where nobody asked who it is. */
  readonly viewer: Viewer | null;
}

export interface Answer {
  readonly status: number;
  readonly head: AnswerHead;
  /** Only a 204 has none. */
  readonly text?: string;
}

/** Headers that many answers share, made once. */
export interface AnswerHead {
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: string;
}

/** Leaves the response to whoever sends the answer; may only watch it. */
export type AnswerTo = (asked: Asked, response: ServerResponse) => PromiseOrValue<Answer>;

export function answerHead(headers: Readonly<Record<string, string>>): AnswerHead {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return { headers, lines: lines.join('') };
}

export const noHead = answerHead({});

export function jsonHead(mediaType: string): AnswerHead {
  return answerHead({ 'content-type': `${mediaType}; charset=utf-8`, 'cache-control': 'no-store' });
}

/** For the handler of a route. */
export function usualWay(answerTo: AnswerTo): RouteHandlerMethod {
  return (request, reply) => whenDone(answerTo(request, reply.raw), (answer) => sendUsually(reply, answer));
}

export function sendUsually(reply: FastifyReply, { status, head, text }: Answer): FastifyReply {
  return reply.code(status).headers(head.headers).send(text);
}
