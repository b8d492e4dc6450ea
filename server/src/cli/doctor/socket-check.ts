/** Whether WebSockets get through whatever is between: opened, and answered as the server answers. */

import { WebSocket } from 'ws';
import { ok, problem, type Finding, type Findings } from './finding.ts';

const answerWithinMs = 10_000;
const subProtocol = 'graphql-transport-ws';
const fix =
  'The proxy must speak HTTP/1.1 to the server, and pass Upgrade and Connection on: deploy/nginx.conf and docs/deployment.md show how.';

export async function* checkSocket(url: string, { origin }: { readonly origin?: string }): Findings {
  const address = `${url.replace(/^http/, 'ws')}/graphql`;
  yield await new Promise<Finding>((resolve) => {
    const socket = new WebSocket(address, subProtocol, {
      handshakeTimeout: answerWithinMs,
      rejectUnauthorized: false,
      ...(origin !== undefined && { origin }),
    });
    const timer = setTimeout(
      () => done(problem(`The socket at ${address} is opened, and nothing comes through.`, fix)),
      answerWithinMs,
    );
    const done = (finding: Finding) => {
      clearTimeout(timer);
      resolve(finding);
      socket.terminate();
    };
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
    socket.once('message', () => done(ok(`WebSockets get through at ${address}.`)));
    // The server's own word for a socket without a token.
    socket.once('close', (code) =>
      done(
        code === 4403 || code === 4401
          ? ok(`WebSockets get through at ${address}.`)
          : problem(
              `The socket at ${address} was closed with ${code}, which is not the server's answer.`,
              fix,
            ),
      ),
    );
    socket.once('unexpected-response', (_, { statusCode = 0 }) =>
      done(notOpened(address, statusCode, origin)),
    );
    socket.once('error', (error) =>
      done(problem(`No socket can be opened at ${address}: ${error.message}.`, fix)),
    );
  });
}

function notOpened(address: string, status: number, origin: string | undefined): Finding {
  if (status === 403 && origin !== undefined) {
    return problem(
      `Pages of ${origin} may not open sockets at ${address}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS.`,
    );
  }
  return problem(`The upgrade to a WebSocket at ${address} is answered with ${status}.`, fix);
}
