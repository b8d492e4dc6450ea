/**
 * The connections of the HTTP server, and how they end when the service stops. Node by itself waits for each of them:
 * for one that never asked anything, for a request that never comes to its end, for an answer that nobody reads.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface EndTimes {
  /** Those that wait for their next request are ended at every look. */
  readonly lookEveryMs: number;
  /** How long a client may be silent with half of a request sent. */
  readonly mostSilentMs: number;
  /** What is not done by then is cut. */
  readonly endWithinMs: number;
}

interface Silence {
  readonly bytes: number;
  readonly since: number;
}

export class OpenConnections {
  readonly #server: Server;
  /** Every one: with those that still agree on TLS, and those that became WebSockets. */
  readonly #all = new Set<Socket>();
  /** Those that speak HTTP, with the answer to the last request of each. */
  readonly #answers = new Map<Socket, ServerResponse | undefined>();
  /** Those that still agree on TLS, by the client's address and port: the secured socket is another object. */
  readonly #securing = new Map<string, Socket>();
  #isLastRequest = false;

  constructor(server: Server, isTls: boolean) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      const address = isTls ? addressOf(socket) : '';
      this.#all.add(socket);
      if (isTls) this.#securing.set(address, socket);
      socket.once('close', () => {
        this.#all.delete(socket);
        if (this.#securing.get(address) === socket) this.#securing.delete(address);
      });
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (isTls) this.#securing.delete(addressOf(socket));
      this.#answers.set(socket, undefined);
      socket.once('close', () => this.#answers.delete(socket));
    });
    // Before the request is handled, which may write the head of its answer at once.
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (this.#isLastRequest) response.shouldKeepAlive = false;
      if (this.#answers.has(socket)) this.#answers.set(socket, response);
    });
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#answers.delete(socket));
  }

  /** From now on every request is told that it was the last of its connection. */
  announceEnd(): void {
    this.#isLastRequest = true;
  }

  /**
   * Ends each when it has got its answer. To be called when no new ones come any more; `allGone` says when none is left.
   * Answers with how many requests were cut.
   */
  async end(allGone: Promise<unknown>, { lookEveryMs, mostSilentMs, endWithinMs }: EndTimes): Promise<number> {
    const silences = new Map<Socket, Silence>();
    let cut = 0;
    const look = () => {
      this.#server.closeIdleConnections();
      for (const socket of this.#awaited()) {
        if (!isSilent(socket, silences, mostSilentMs)) continue;
        if (socket.bytesRead > 0) cut++;
        socket.destroy();
      }
    };
    look();
    const timer = setInterval(look, lookEveryMs);
    const deadline = setTimeout(() => {
      for (const response of this.#answers.values()) if (response && !isDone(response)) cut++;
      for (const socket of this.#all) socket.destroy();
    }, endWithinMs);
    await allGone;
    clearInterval(timer);
    clearTimeout(deadline);
    return cut;
  }

  /** Those whose client has to send something before there is anything to do. */
  *#awaited(): Iterable<Socket> {
    yield* this.#securing.values();
    for (const [socket, response] of this.#answers) {
      if (!response || isDone(response) || !response.req.complete) yield socket;
    }
  }
}

function isDone(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** Who has never sent anything is silent at once. */
function isSilent(socket: Socket, silences: Map<Socket, Silence>, mostSilentMs: number): boolean {
  const { bytesRead: bytes } = socket;
  if (bytes === 0) return true;
  const now = performance.now();
  const before = silences.get(socket);
  if (before?.bytes !== bytes) silences.set(socket, { bytes, since: now });
  return before?.bytes === bytes && now - before.since >= mostSilentMs;
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
