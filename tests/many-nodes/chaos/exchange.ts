/** Sends one HTTP request exactly once, without retries. */

import { request, type Agent, type IncomingHttpHeaders } from 'node:http';

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** `lost`: the connection ended before the response was complete. `late`: no response in time. */
export type ExchangeResult = HttpResponse | 'lost' | 'late';

export function exchange(
  agent: Agent,
  { method, url, headers, body }: Message,
  timeoutMs: number,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const clientRequest = request(url, { agent, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        clearTimeout(timeout);
        const text = Buffer.concat(chunks).toString();
        resolve(
          response.complete ? { status: response.statusCode!, headers: response.headers, text } : 'lost',
        );
      });
      response.on('error', () => undefined);
    });
    const timeout = setTimeout(() => {
      resolve('late');
      clientRequest.destroy();
    }, timeoutMs);
    clientRequest.on('error', () => {
      clearTimeout(timeout);
      resolve('lost');
    });
    clientRequest.end(body);
  });
}
