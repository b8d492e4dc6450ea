/** Runs as a child process: a bare `node:http` server that reads the body and returns a recorded response. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from './parent.ts';
import type { RecordedResponse } from './request.ts';

answerParent({ start }, () => undefined);

/** Returns its URL. */
async function start({ status, headers, keepAliveSeconds, body }: RecordedResponse): Promise<string> {
  const flat = headers.flat();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (chunks.length > 1) Buffer.concat(chunks);
      response.writeHead(status, flat);
      response.end(body);
    });
  });
  server.keepAliveTimeout = keepAliveSeconds * 1000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
