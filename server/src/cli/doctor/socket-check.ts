/** Checks that WebSockets open and that messages pass through all proxies. */

import { WebSocket } from 'ws';
import { ok, problem, type Finding, type Findings } from './finding.ts';

const responseTimeoutMs = 10_000;
const subProtocol = 'graphql-transport-ws';
const fix =
  'The proxy must use HTTP/1.1 to the server and forward the headers Upgrade and Connection. See deploy/nginx.conf and docs/deployment.md.';

export async function* checkSocket(url: string, { origin }: { readonly origin?: string }): Findings {
  const address = `${url.replace(/^http/, 'ws')}/graphql`;
  yield await new Promise<Finding>((resolve) => {
    const socket = new WebSocket(address, subProtocol, {
      handshakeTimeout: responseTimeoutMs,
      rejectUnauthorized: false,
      ...(origin !== undefined && { origin }),
    });
    const timer = setTimeout(
      () => done(problem(`The WebSocket at ${address} opens, but no message arrives.`, fix)),
      responseTimeoutMs,
    );
    const done = (finding: Finding) => {
      clearTimeout(timer);
      resolve(finding);
      socket.terminate();
    };
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
    socket.once('message', () => done(ok(`WebSockets work at ${address}.`)));
    // The server closes a socket without a token with these codes.
    socket.once('close', (code) =>
      done(
        code === 4403 || code === 4401
          ? ok(`WebSockets work at ${address}.`)
          : problem(
              `The WebSocket at ${address} was closed with ${code}, which the server does not use here.`,
              fix,
            ),
      ),
    );
    socket.once('unexpected-response', (_, { statusCode = 0 }) =>
      done(notOpened(address, statusCode, origin)),
    );
    socket.once('error', (error) =>
      done(problem(`Cannot open a WebSocket at ${address}: ${error.message}.`, fix)),
    );
  });
}

function notOpened(address: string, status: number, origin: string | undefined): Finding {
  if (status === 403 && origin !== undefined) {
    return problem(
      `Pages of ${origin} may not open WebSockets at ${address}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS.`,
    );
  }
  return problem(`The upgrade to a WebSocket at ${address} returns ${status}.`, fix);
}
