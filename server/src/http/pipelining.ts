/**
 * Bounds the requests of one connection that wait behind another. Node takes in all that came in one read, a thousand
 * and more, and keeps the answers for whoever does not read them.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export function limitPipelining(server: Server, most: number): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // Most find the connection theirs to write to, and nobody before them.
    if (response.socket !== null) return;
    const line = ((socket as Lined)[lineOf] ??= new Line());
    if (++line.waiting > most) socket.destroy();
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
  /** Of those that came when another one was not answered yet. */
  waiting = 0;
  readonly onAnswered = () => void this.waiting--;
}
