/** How long clients may take for what they send, and how many may be there: see docs/limits.md. */

import type { Socket } from 'net';
import type { IncomingMessage, Server } from 'http';
import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:http';
import type { HttpTimeouts } from './timeouts.ts';

export interface HttpTimeouts {
  /** From a connection, or the first byte of a further request, to the end of its headers. */
  readonly headersMs: number;
  /** From there to the end of the body, and longer by a second for each `bodyBytesPerSecond` that have come. */
  readonly bodyMs: number;
  readonly bodyBytesPerSecond: number;
  /** However steadily it comes. */
  readonly maxBodyMs: number;
  /** Between two requests on one connection. Longer than what proxies wait, or they would meet a closed one. */
  readonly keepAliveMs: number;
  /** From a connection to a finished TLS handshake. */
  readonly handshakeMs: number;
  /** For taking in something of a long answer. */
  readonly stalledResponseMs: number;
  /** How often all of that is looked at. */
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
export const maxHeadBytes = 16 * 1024;

/** What Node's server is made with. */
export function serverOptions({ headersMs, checkEveryMs }: HttpTimeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
    // It is asked for in request-head.ts, where the refusal has a body.
    requireHostHeader: false,
  };
}

/** Requests of one connection that came while an earlier one was not answered, and are not answered yet themselves. */
export const maxPipelined = 100;

/** A node with more has no memory for them. */
const mostConnections = 50_000;
/** For the database, the log, and what is opened for a moment. */
const otherFiles = 200;

/** Each takes a file descriptor, and without one left the database could not open its files. */
export function connectionLimit(openFiles = openFilesLimit()): number {
  return Math.min(mostConnections, Math.max(openFiles - otherFiles, Math.ceil(openFiles / 2)));
}

/** Linux tells; Node has raised it as far as it may. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
/** The latest request of a connection: HTTP/1.1 sends one after the other. One for each connection, used again. */
interface Receiving {
  request: IncomingMessage;
  bytesBefore: number;
  ageMs: number;
  /** It is among those that are looked at. */
  isWatched: boolean;
}
const receivingOf = Symbol('receiving');
interface Watched extends Socket {
  [receivingOf]?: Receiving;
}
/** Answers with what ends the watch. */

export function watchSlowBodies(
  server: Server,
  { bodyMs, bodyBytesPerSecond, maxBodyMs, checkEveryMs }: HttpTimeouts,
  refuse: (socket: Socket) => void,
): () => void {
  const watched = new Map<Socket, Receiving>();
  const forget = (socket: Socket, each: Receiving) => {
    each.isWatched = false;
    watched.delete(socket);
  };

  server.on('request', (request) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length === undefined && encoding === undefined) return;
    const socket: Watched = request.socket;
    const bytesBefore = socket.bytesRead;
    const each = (socket[receivingOf] ??= { request, bytesBefore, ageMs: 0, isWatched: false });
    each.request = request;
    each.bytesBefore = bytesBefore;
    each.ageMs = 0;
    if (each.isWatched) return;
    each.isWatched = true;
    watched.set(socket, each);
  });

  const timer = setInterval(() => {
    for (const [socket, each] of watched) {
      if (each.request.complete || socket.destroyed) {
        forget(socket, each);
        continue;
      }
      // By looks, not by the clock: while this process stood still, nobody was late.
      each.ageMs += checkEveryMs;
      const extraMs = ((socket.bytesRead - each.bytesBefore) / bodyBytesPerSecond) * 1000;
      if (each.ageMs <= Math.min(bodyMs + extraMs, maxBodyMs)) continue;
      forget(socket, each);
      refuse(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
