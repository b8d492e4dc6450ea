/**
 * The one port of all workers. Each connection goes to the worker that has fewest: by turns, a worker that was busy for
 * a moment would stay behind for as long as connections are kept. Nothing is read here.
 */

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { listenOrExplain } from '../http/address.ts';
import { listen, type Listening } from '../http/listening.ts';

export interface Receiver {
  /** Answers whether it can be reached. */
  hand(socket: Socket): boolean;
}

/** While no worker is there; as many as the system itself would let wait. */
const mostWaiting = 511;

export class SharedPort {
  readonly #port = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
  /** The one that was given something longest ago comes first. */
  readonly #open = new Map<Receiver, number>();
  #waiting: Socket[] = [];
  #listening: Listening | undefined;
  #closing: Promise<void> | undefined;

  constructor() {
    this.#port.on('connection', (socket) => this.#handOut(socket));
  }

  async listen(at: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    this.#listening = await listenOrExplain(() => listen(this.#port, at), at);
    return this.#listening.address;
  }

  add(receiver: Receiver): void {
    this.#open.set(receiver, 0);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const socket of waiting) this.#handOut(socket);
  }

  remove(receiver: Receiver): void {
    this.#open.delete(receiver);
  }

  /** So many of its connections are gone. */
  release(receiver: Receiver, connections: number): void {
    const open = this.#open.get(receiver);
    if (open !== undefined) this.#open.set(receiver, open - connections);
  }

  /** Resolves when all that came were handed out, and nobody can come any more. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // Those who are still in line would be turned away.
    await nextRound();
    // Not waited for: that would be for the workers' connections.
    void this.#listening?.close();
    for (const socket of this.#waiting) socket.destroy();
    this.#waiting = [];
  }

  #handOut(socket: Socket): void {
    const least = Math.min(...this.#open.values());
    const receiver = [...this.#open.keys()].find((each) => this.#open.get(each) === least);
    if (!receiver) {
      if (this.#waiting.length < mostWaiting) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    this.#open.delete(receiver);
    if (receiver.hand(socket)) this.#open.set(receiver, least + 1);
    else this.#handOut(socket);
  }
}
