/** The time that clients have to send requests and to read responses, see docs/reference/limits.md. */

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from '../tcp-connections.ts';

export interface HttpTimeouts {
  /** From a new connection, or from the first byte of a later request, to the end of the headers. */
  readonly headersMs: number;
  /** From the headers to the end of the body, plus one second for each `bodyBytesPerSecond` received. */
  readonly bodyMs: number;
  readonly bodyBytesPerSecond: number;
  /** The upper bound for a body that arrives steadily. */
  readonly maxBodyMs: number;
  /** Between two requests of a connection. Longer than proxies wait, otherwise they would use a closed connection. */
  readonly keepAliveMs: number;
  /** From a new connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** How long a client may pause while it reads a long response. */
  readonly stalledResponseMs: number;
  /** How often Node and this file check the timeouts. */
  readonly checkEveryMs: number;
}

export const defaultTimeouts: HttpTimeouts = {
  headersMs: 20_000,
  bodyMs: 20_000,
  bodyBytesPerSecond: 16 * 1024,
  maxBodyMs: 300_000,
  keepAliveMs: 72_000,
  handshakeMs: 20_000,
  stalledResponseMs: 60_000,
  checkEveryMs: 1_000,
};

/** The maximum size of the request line and all headers together. */
const maxHeadBytes = 16 * 1024;

/** The options of Node's HTTP server. */
export function serverOptions({ headersMs, checkEveryMs }: HttpTimeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
    // Checked in guards.ts, where the refusal has a body.
    requireHostHeader: false,
  };
}

/**
 * Refuses requests whose body arrives too slowly. A steady upload may take a long time, but a client must not send only a byte from time to time.
 * Never refuses a request that has arrived completely. Returns a function that stops the checks.
 */
export function closeSlowBodies(
  server: Server,
  { bodyMs, bodyBytesPerSecond, maxBodyMs, checkEveryMs }: HttpTimeouts,
  refuse: (socket: Socket) => void,
): () => void {
  /** The latest request with a body of each connection. */
  const bodies = new Map<Socket, { request: IncomingMessage; bytesBefore: number; ageMs: number }>();
  server.on('request', (request) => {
    const { socket } = request;
    if (hasBody(request)) bodies.set(socket, { request, bytesBefore: socket.bytesRead, ageMs: 0 });
  });

  const timer = setInterval(() => {
    for (const [socket, body] of bodies) {
      if (body.request.complete || socket.destroyed) {
        bodies.delete(socket);
        continue;
      }
      // Counts checks instead of reading the clock: while this process was blocked, no client was late.
      body.ageMs += checkEveryMs;
      const extraMs = ((socket.bytesRead - body.bytesBefore) / bodyBytesPerSecond) * 1000;
      if (body.ageMs <= Math.min(bodyMs + extraMs, maxBodyMs)) continue;
      bodies.delete(socket);
      refuse(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Closes the connection if the client reads nothing of the response for this time. */
export function limitStall(response: ServerResponse, { stalledResponseMs }: HttpTimeouts): void {
  response.setTimeout(stalledResponseMs, () => response.destroy());
  // Removed before Node sets the keep-alive timeout, because a following pipelined request may take long.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}
