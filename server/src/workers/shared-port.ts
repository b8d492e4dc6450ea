/**
 * The one port of all workers. Each connection goes to the worker that has fewest: by turns, a worker that was busy for
 * a moment would stay behind for as long as connections are kept. Nothing is read here.
 */

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { listenOrExplain } from '../http/address.ts';
import { listen, type Listening } from '../http/listening.ts';

export interface Receiver {
  readonly isReachable: boolean;
  /** Answers whether it takes it: one that has too many on their way takes no more. */
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
    this.#port.on('connection', (socket) => this.handOut(socket));
  }

  async listen(at: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    this.#listening = await listenOrExplain(() => listen(this.#port, at), at);
    return this.#listening.address;
  }

  add(receiver: Receiver): void {
    this.#open.set(receiver, 0);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const socket of waiting) this.handOut(socket);
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

  handOut(socket: Socket): void {
    const reachable = [...this.#open].filter(([{ isReachable }]) => isReachable);
    if (reachable.length === 0) {
      if (this.#closing === undefined && this.#waiting.length < mostWaiting) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    for (const [receiver, open] of reachable.toSorted(([, one], [, other]) => one - other)) {
      if (!receiver.hand(socket)) continue;
      this.#open.delete(receiver);
      this.#open.set(receiver, open + 1);
      return;
    }
    // All of them are behind: as a single server does that has as many as it can take.
    socket.destroy();
  }
}
