/** A plain request to a server, whatever its certificate is unless asked otherwise: that is judged by itself. */

import { request as requestPlain, type IncomingHttpHeaders } from 'node:http';
import { request as requestSecure } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../clock.ts';

const answerWithinMs = 10_000;
const maxBodyBytes = 2 ** 20;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** By the clock here. */
  readonly atMs: number;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** No answer counts unless its certificate is trusted here. */
  readonly mustBeTrusted?: boolean;
}

export function ask(
  clock: Clock,
  url: string,
  { method = 'GET', headers, body, mustBeTrusted = false }: Question = {},
): Promise<Answer> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: false,
      rejectUnauthorized: mustBeTrusted,
      signal: AbortSignal.timeout(answerWithinMs),
    });
    sent.once('error', (error) => reject(asSaid(error)));
    sent.once('response', (response) => {
      const { statusCode = 0, headers: answered } = response;
      const atMs = clock.now();
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if ((size += chunk.length) > maxBodyBytes) response.destroy(new Error('It answers without end.'));
      });
      text(response).then(
        (read) => resolve({ status: statusCode, headers: answered, body: read, atMs }),
        reject,
      );
    });
    sent.end(body);
  });
}

/** In a few words. */
function asSaid(error: NodeJS.ErrnoException): Error {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new Error(`no answer within ${answerWithinMs / 1000} seconds`, { cause: error });
  }
  if (error.code === 'ECONNREFUSED') return new Error('nothing listens there', { cause: error });
  if (error.code === 'ENOTFOUND') return new Error('there is no such host', { cause: error });
  return new Error(error.message || error.code || 'the connection failed', { cause: error });
}

/** The value of a JSON body; undefined if it is none. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
