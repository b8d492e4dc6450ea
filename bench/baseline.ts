/** Runs as a child process: a minimal `node:http` server that reads the body and returns a recorded response. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@node-rs/argon2';
import { serveParent } from './child-handlers.ts';
import type { RecordedResponse } from './request.ts';

export interface BaselineInput {
  readonly response: RecordedResponse;
  /** A password and its hash. The baseline verifies the password for each request. */
  readonly passwordCheck?: { readonly hash: string; readonly password: string } | undefined;
}

let currentServer: Server | undefined;

serveParent({ serve }, () => undefined);

/** Closes the previous server, and starts one that returns the given response. Returns its URL. */
async function serve({ response: recordedResponse, passwordCheck }: BaselineInput): Promise<string> {
  currentServer?.close();
  const { status, body } = recordedResponse;
  const headers = recordedResponse.headers.flat();
  const server = (currentServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (chunks.length > 1) Buffer.concat(chunks);
      const respond = () => {
        response.writeHead(status, headers);
        response.end(body);
      };
      if (!passwordCheck) return respond();
      verify(passwordCheck.hash, passwordCheck.password).then(respond, (error: Error) =>
        response.destroy(error),
      );
    });
  }));
  server.keepAliveTimeout = recordedResponse.keepAliveSeconds * 1000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
