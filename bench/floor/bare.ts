/** Runs as a child process: a floor, which does what is asked for and nothing else. One of several kinds at a time. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from '../parent.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

export type BareInput = { readonly kind: 'bytes'; readonly answer: RecordedAnswer };

/** What is answered to a body. */
export type Respond = (body: Buffer) => string | Promise<string>;

answerParent(
  {
    async start({ answer, ...input }: BareInput): Promise<string> {
      return listen(answer, await respondAs(input, answer));
    },
  },
  () => undefined,
);

function respondAs(input: Omit<BareInput, 'answer'>, { body }: RecordedAnswer): Respond | Promise<Respond> {
  switch (input.kind) {
    case 'bytes':
      return () => body;
  }
}

/** Raw node:http: reads the whole body, and answers with the recorded status and headers. */
async function listen(answer: RecordedAnswer, respond: Respond): Promise<string> {
  const headers = answer.headers.flat();
  const send = (response: ServerResponse, body: string) => {
    response.writeHead(answer.status, headers);
    response.end(body);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const made = respond(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      if (typeof made === 'string') send(response, made);
      else
        made.then(
          (body) => send(response, body),
          (error: Error) => response.destroy(error),
        );
    });
  });
  server.keepAliveTimeout = answer.keepAliveSeconds * 1000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
