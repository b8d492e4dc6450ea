/**
 * Bounds the requests of one connection that are not answered yet. Node takes in all that came in one read, a thousand
 * and more, and keeps the answers for whoever does not read them.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export function limitPipelining(server: Server, most: number): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const line = ((socket as Lined)[lineOf] ??= new Line());
    if (++line.unanswered > most) socket.destroy();
    response.on('close', line.onAnswered);
  });
}

/** On the connection itself: to look it up for each request would cost more than all the rest here. */
const lineOf = Symbol('line');

interface Lined extends Socket {
  [lineOf]?: Line;
}

/** One for each connection, so that a request makes nothing new. */
class Line {
  unanswered = 0;
  readonly onAnswered = () => void this.unanswered--;
}
