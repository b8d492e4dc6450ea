/** One HTTP request, sent once: nothing is tried again behind anybody's back. */

import { request, type Agent, type IncomingHttpHeaders } from 'node:http';

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Lost: the connection was, before there was a whole answer. Late: there was none in time. */
export type Exchanged = Answer | 'lost' | 'late';

export function exchange(
  agent: Agent,
  { method, url, headers, body }: Message,
  withinMs: number,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        clearTimeout(late);
        const text = Buffer.concat(chunks).toString();
        resolve(
          response.complete ? { status: response.statusCode!, headers: response.headers, text } : 'lost',
        );
      });
      response.on('error', () => undefined);
    });
    const late = setTimeout(() => {
      resolve('late');
      sent.destroy();
    }, withinMs);
    sent.on('error', () => {
      clearTimeout(late);
      resolve('lost');
    });
    sent.end(body);
  });
}
