/**
 * The quick way of a short JSON body to its answer: past the stages of Fastify that have nothing to do for it. Never
 * gives another answer than the usual way: whatever is out of the ordinary, and every refusal, goes that one.
 */

import type { Endpoint } from '@espalier/contract';
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { isPromise, whenDone, type PromiseOrValue } from '../database/database.ts';
import { smallBodyBytes } from './pressure.ts';
import { addHeaderLines } from './secured-response.ts';

/** What there is to say when all went well. */
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

export type AnswerTo = (request: FastifyRequest, reply: FastifyReply) => PromiseOrValue<Answer>;

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
  return (request, reply) => whenDone(answerTo(request, reply), (answer) => sendUsually(reply, answer));
}

/** For the last `onRequest` hook of the same route; goes on to its handler with what is not for it. */
export function quickWay(
  { request: body }: Endpoint,
  answerTo: AnswerTo,
): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  const mostBytes = Math.min(smallBodyBytes, body?.limitBytes ?? 0);

  return (request, reply, done) => {
    const { raw } = request;
    if (!isShortJson(raw, mostBytes)) {
      done();
      return;
    }
    const chunks: Buffer[] = [];
    let isWhole = false;
    raw.on('data', (chunk: Buffer) => chunks.push(chunk));
    raw.on('end', () => {
      isWhole = true;
      request.body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      try {
        const answer = answerTo(request, reply);
        if (isPromise(answer)) answer.then((given) => sendQuickly(reply, given)).catch(done);
        else sendQuickly(reply, answer);
      } catch (error) {
        done(error as Error);
      }
    });
    raw.on('error', (error) => {
      // Who hangs up while the answer is made is told nothing. The status is Fastify's mark of a body that broke off.
      if (!isWhole) done(Object.assign(error, { statusCode: 400 }));
    });
  };
}

/** Node sees to it that no more comes than was announced. */
function isShortJson({ method, headers }: FastifyRequest['raw'], mostBytes: number): boolean {
  const mediaType = headers['content-type'];
  if (mediaType !== 'application/json' && mediaType !== 'application/json; charset=utf-8') return false;
  const bytes = Number(headers['content-length'] ?? 0);
  return method === 'POST' && bytes > 0 && bytes <= mostBytes;
}

function sendQuickly(reply: FastifyReply, answer: Answer): void {
  // Of others, for example for browsers of another origin: they come first.
  if (Object.keys(reply.getHeaders()).length > 0) {
    sendUsually(reply, answer);
    return;
  }
  const { raw } = reply;
  const { status, head, text } = answer;
  addHeaderLines(raw, head.lines);
  if (text === undefined) {
    raw.writeHead(status).end();
    return;
  }
  const bytes = Buffer.byteLength(text);
  // Text of ASCII only is the same bytes either way, and this way it is not looked through again.
  raw.writeHead(status, { 'content-length': bytes }).end(text, bytes === text.length ? 'latin1' : 'utf8');
}

export function sendUsually(reply: FastifyReply, { status, head, text }: Answer): FastifyReply {
  return reply.code(status).headers(head.headers).send(text);
}
