/**
 * Ends requests whose body comes too slowly. Who uploads steadily may take their time; who sends a byte now and then
 * may not. Never ends a request that has come whole, however long it is worked on.
 */

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpTimes } from './http-times.ts';

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
  { bodyMs, bodyBytesPerSecond, longestBodyMs, checkEveryMs }: HttpTimes,
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
      if (each.ageMs <= Math.min(bodyMs + extraMs, longestBodyMs)) continue;
      forget(socket, each);
      refuse(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
