/** The connections that a worker is handed: its HTTP server takes them as if they had come to a port of its own. */

import type { AddressInfo, Server, Socket } from 'node:net';
import type { Listening } from '../http/listening.ts';
import type { Report } from './messages.ts';

/** Those that go within this time are told of together. */
const tellGoneAfterMs = 10;

export class HandedConnections {
  readonly #tell: (report: Report) => void;
  readonly #ended = Promise.withResolvers<void>();
  readonly #allGone = Promise.withResolvers<void>();
  #server: Server | undefined;
  #open = 0;
  #gone = 0;
  #hasEnded = false;

  constructor(tell: (report: Report) => void) {
    this.#tell = tell;
  }

  giveTo(server: Server): Listening {
    this.#server = server;
    // What the server does by itself at a port: without this, it would let clients take any time for their headers.
    server.emit('listening');
    return {
      address: nowhere,
      close: async () => {
        this.#tell({ kind: 'closing' });
        await this.#ended.promise;
        await this.#allGone.promise;
      },
    };
  }

  take(socket: Socket | undefined): void {
    if (!socket) return this.#tellGone();
    const { maxConnections } = this.#server!;
    if (maxConnections && this.#open >= maxConnections) {
      socket.destroy();
      this.#server!.emit('drop');
      return this.#tellGone();
    }
    this.#open++;
    socket.once('close', () => {
      this.#open--;
      this.#tellGone();
      this.#check();
    });
    // As of a server that takes its own.
    socket.allowHalfOpen = true;
    this.#server!.emit('connection', socket);
  }

  /** No more will come. */
  end(): void {
    this.#hasEnded = true;
    this.#ended.resolve();
    this.#check();
  }

  #check(): void {
    if (this.#hasEnded && this.#open === 0) this.#allGone.resolve();
  }

  #tellGone(): void {
    if (this.#gone++ > 0) return;
    setTimeout(() => {
      const connections = this.#gone;
      this.#gone = 0;
      this.#tell({ kind: 'gone', connections });
    }, tellGoneAfterMs).unref();
  }
}

/** Only the primary knows the port. */
const nowhere: AddressInfo = { address: '', family: '', port: 0 };
