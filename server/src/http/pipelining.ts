/**
 * Bounds the requests of one connection that are not answered yet. Node takes in all that came in one read, a thousand
 * and more, and keeps the answers for whoever does not read them.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export function limitPipelining(server: Server, most: number): void {
  const unanswered = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, unanswered.get(socket)! - 1));
    if (count > most) socket.destroy();
  });
}
