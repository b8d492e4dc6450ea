/** Runs as a child process: a minimal `node:http` server that reads the body and returns a recorded response. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@node-rs/argon2';
import { serveParent } from './child-handlers.ts';
import type { RecordedResponse } from './request.ts';

export interface BaselineInput {
  readonly response: RecordedResponse;
  /** A password to verify for each request. */
  readonly verified?: { readonly hash: string; readonly password: string } | undefined;
}

let current: Server | undefined;

serveParent({ serve }, () => undefined);

/** Starts a server that returns this response, and closes the previous server. Returns the URL. */
async function serve({ response: recorded, verified }: BaselineInput): Promise<string> {
  current?.close();
  const { status, body } = recorded;
  const headers = recorded.headers.flat();
  const server = (current = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (chunks.length > 1) Buffer.concat(chunks);
      const respond = () => {
        response.writeHead(status, headers);
        response.end(body);
      };
      if (!verified) return respond();
      verify(verified.hash, verified.password).then(respond, (error: Error) => response.destroy(error));
    });
  }));
  server.keepAliveTimeout = recorded.keepAliveSeconds * 1000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
