/**
 * Connections that have not asked for anything yet, as browsers open them in advance. Node does not count them as idle
 * and would wait for them when it closes: they are ended first.
 */

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Returns what ends them. */
export function watchSilentConnections(server: Server, isTls: boolean): () => void {
  const silent = new Set<Socket>();
  const isHeard = ({ socket }: IncomingMessage) => silent.delete(socket);
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', isHeard).on('upgrade', isHeard);
  return () => silent.forEach((socket) => socket.destroy());
}
