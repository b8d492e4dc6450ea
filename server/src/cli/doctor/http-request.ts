/** Sends a request without checking the certificate, unless `mustBeTrusted`; `server-check.ts` checks certificates. */

import { request as requestPlain, type IncomingHttpHeaders } from 'node:http';
import { request as requestSecure } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../clock.ts';

const responseTimeoutMs = 10_000;
const maxBodyBytes = 2 ** 20;

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The time of the response by the clock of this machine. */
  readonly atMs: number;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Rejects a response if this machine does not trust the certificate. */
  readonly mustBeTrusted?: boolean;
}

export function sendRequest(
  clock: Clock,
  url: string,
  { method = 'GET', headers, body, mustBeTrusted = false }: RequestOptions = {},
): Promise<HttpResponse> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: false,
      rejectUnauthorized: mustBeTrusted,
      signal: AbortSignal.timeout(responseTimeoutMs),
    });
    sent.once('error', (error) => reject(describeError(error)));
    sent.once('response', (response) => {
      const { statusCode = 0, headers: responseHeaders } = response;
      const atMs = clock.now();
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if ((size += chunk.length) > maxBodyBytes) response.destroy(new Error('the response is too large'));
      });
      text(response).then(
        (read) => resolve({ status: statusCode, headers: responseHeaders, body: read, atMs }),
        reject,
      );
    });
    sent.end(body);
  });
}

function describeError(error: NodeJS.ErrnoException): Error {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new Error(`no response within ${responseTimeoutMs / 1000} seconds`, { cause: error });
  }
  if (error.code === 'ECONNREFUSED') return new Error('no program listens on the port', { cause: error });
  if (error.code === 'ENOTFOUND') return new Error('the host does not exist', { cause: error });
  return new Error(error.message || error.code || 'the connection failed', { cause: error });
}

/** Returns undefined if the body is not JSON. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
