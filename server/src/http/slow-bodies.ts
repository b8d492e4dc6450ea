/**
 * Ends requests whose body comes too slowly. Who uploads steadily may take their time; who sends a byte now and then
 * may not. Never ends a request that has come whole, however long it is worked on.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpTimes } from './http-times.ts';

interface Receiving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytesBefore: number;
  ageMs: number;
}

/** Answers with what ends the watch. */
export function watchSlowBodies(
  server: Server,
  { bodyMs, bodyBytesPerSecond, longestBodyMs, checkEveryMs }: HttpTimes,
  refuse: (socket: Socket) => void,
): () => void {
  /** The latest of each connection: HTTP/1.1 sends one after the other. */
  const receiving = new Map<Socket, Receiving>();

  server.on('request', (request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length === undefined && encoding === undefined) return;
    const { socket } = request;
    receiving.set(socket, { request, response, bytesBefore: socket.bytesRead, ageMs: 0 });
  });

  const timer = setInterval(() => {
    for (const [socket, each] of receiving) {
      if (each.request.complete || socket.destroyed) {
        receiving.delete(socket);
        continue;
      }
      // By looks, not by the clock: while this process stood still, nobody was late.
      each.ageMs += checkEveryMs;
      const extraMs = ((socket.bytesRead - each.bytesBefore) / bodyBytesPerSecond) * 1000;
      if (each.ageMs <= Math.min(bodyMs + extraMs, longestBodyMs)) continue;
      receiving.delete(socket);
      // An answer has begun, or is due to an earlier request: another one would be taken for it.
      if (each.response.headersSent || each.response.socket !== socket) socket.destroy();
      else refuse(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
