/** The time that clients have to send requests and to read responses, see docs/limits.md. */

import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

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
  /** How long a client may read nothing of a long response. */
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

/** Of the request line and all headers together. */
const maxHeadBytes = 16 * 1024;

/** The options of Node's HTTP server. */
export function serverOptions({ headersMs, checkEveryMs }: HttpTimeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
    // Checked in head-limits.ts, where the refusal has a body.
    requireHostHeader: false,
  };
}

/** The latest request of a connection. The object is reused for each request of the connection. */
interface IncomingBody {
  request: IncomingMessage;
  bytesBefore: number;
  ageMs: number;
  isChecked: boolean;
}

const bodyKey = Symbol('incoming body');

interface BodySocket extends Socket {
  [bodyKey]?: IncomingBody;
}

/**
 * Refuses requests whose body arrives too slowly. A steady upload may take long; single bytes from time to time may not.
 * Never refuses a request that has arrived completely. Returns a function that stops the checks.
 */
export function closeSlowBodies(
  server: Server,
  { bodyMs, bodyBytesPerSecond, maxBodyMs, checkEveryMs }: HttpTimeouts,
  refuse: (socket: Socket) => void,
): () => void {
  const bodies = new Map<Socket, IncomingBody>();
  const remove = (socket: Socket, body: IncomingBody) => {
    body.isChecked = false;
    bodies.delete(socket);
  };

  server.on('request', (request) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length === undefined && encoding === undefined) return;
    const socket: BodySocket = request.socket;
    const bytesBefore = socket.bytesRead;
    const body = (socket[bodyKey] ??= { request, bytesBefore, ageMs: 0, isChecked: false });
    body.request = request;
    body.bytesBefore = bytesBefore;
    body.ageMs = 0;
    if (body.isChecked) return;
    body.isChecked = true;
    bodies.set(socket, body);
  });

  const timer = setInterval(() => {
    for (const [socket, body] of bodies) {
      if (body.request.complete || socket.destroyed) {
        remove(socket, body);
        continue;
      }
      // Counts checks instead of reading the clock: while this process was blocked, no client was late.
      body.ageMs += checkEveryMs;
      const extraMs = ((socket.bytesRead - body.bytesBefore) / bodyBytesPerSecond) * 1000;
      if (body.ageMs <= Math.min(bodyMs + extraMs, maxBodyMs)) continue;
      remove(socket, body);
      refuse(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
