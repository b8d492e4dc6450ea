/** A worker's side of the link to its primary, which hands it connections and keeps what all workers share. */

import type { Socket } from 'node:net';
import type { ConnectionsElsewhere } from '../http/live-connections.ts';
import type { Samples } from '../metrics/metrics.ts';
import type { Places } from '../places.ts';
import { tooManyInLine, type Attempt, type SharedLines } from '../sessions/attempt-lines.ts';
import { HandedConnections } from './handed-connections.ts';
import type { Orders, Report, Sharing, ToPrimary, ToWorker } from './messages.ts';
import type { Neighbours } from './neighbours.ts';

export class PrimaryLink {
  readonly #stopping = new AbortController();
  readonly #handed = new HandedConnections((said) => void report(said));
  readonly #lines = new LinesOfPrimary();
  readonly #places = new PlacesOfPrimary();
  readonly #connections = new ConnectionsOfOthers();
  #onCommitted: () => void = () => undefined;
  #samples: () => Promise<Samples> = () => Promise.resolve([]);
  #isTelling = false;
  readonly orders: Promise<Orders>;

  constructor() {
    this.orders = new Promise((resolve) => {
      process.on('message', (message: ToWorker, socket?: Socket) => {
        if (message.kind === 'begin') resolve(message.orders);
        else this.#hear(message, socket);
      });
    });
    // Nothing else keeps a worker that has no connection.
    process.channel?.ref();
    void report({ kind: 'here' });
  }

  /** Aborted when this worker is to stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Resolves when it has been said. */
  report(said: Report): Promise<void> {
    return report(said);
  }

  neighbours({ place, count }: Orders): Neighbours {
    return {
      place,
      count,
      listen: (server) => Promise.resolve(this.#handed.giveTo(server)),
      lines: this.#lines,
      places: this.#places,
      connections: this.#connections,
      tellCommitted: () => this.#tellCommitted(),
      onCommitted: (listener) => (this.#onCommitted = listener),
      onAskedForSamples: (tell) => (this.#samples = tell),
    };
  }

  #hear(message: Exclude<ToWorker, { kind: 'begin' }>, socket: Socket | undefined): void {
    switch (message.kind) {
      case 'connection':
        return this.#handed.take(socket);
      case 'closed':
        return this.#handed.end();
      case 'committed':
        return this.#onCommitted();
      case 'in line':
        return this.#lines.move(message.attempt, message.ahead);
      case 'line is full':
        return this.#lines.refuse(message.attempt);
      case 'take place':
        return this.#places.take(message.ticket);
      case 'connections elsewhere':
        return this.#connections.set(message.userId, message.count);
      case 'tell samples':
        return void this.#tellSamples(message.ticket);
      case 'stop':
        return this.#stopping.abort();
    }
  }

  async #tellSamples(ticket: number): Promise<void> {
    // Who does not answer is left out, and the next time asked again.
    const samples = await this.#samples().catch(() => undefined);
    if (samples) await report({ kind: 'samples', ticket, samples });
  }

  /** Once for all that is committed in one go. */
  #tellCommitted(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      share({ kind: 'committed' });
    });
  }
}

function share(sharing: Sharing): void {
  void send({ sharing });
}

function report(said: Report): Promise<void> {
  return send({ report: said });
}

/** A primary that is gone hears nothing; then this worker ends as well. */
function send(message: ToPrimary): Promise<void> {
  if (!process.connected) return Promise.resolve();
  return new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()));
}

interface Standing {
  ahead: readonly number[];
  /** Or the line is full. */
  joined: (isIn: boolean) => void;
  wake: () => void;
}

class LinesOfPrimary implements SharedLines {
  readonly #standing = new Map<number, Standing>();
  #last = 0;

  async join(lines: Parameters<SharedLines['join']>[0]): Promise<Attempt> {
    const number = ++this.#last;
    const standing: Standing = { ahead: [], joined: () => undefined, wake: () => undefined };
    this.#standing.set(number, standing);
    const isIn = new Promise<boolean>((resolve) => (standing.joined = resolve));
    share({ kind: 'join', attempt: number, lines: lines.map(({ key, atOnce }) => ({ key, atOnce })) });
    if (!(await isIn)) {
      this.#standing.delete(number);
      throw tooManyInLine();
    }
    return {
      ahead: () => [...standing.ahead],
      moved: () => new Promise((resolve) => (standing.wake = resolve)),
      leave: () => {
        this.#standing.delete(number);
        share({ kind: 'leave', attempt: number });
      },
    };
  }

  move(attempt: number, ahead: readonly number[]): void {
    const standing = this.#standing.get(attempt);
    if (!standing) return;
    standing.ahead = ahead;
    standing.joined(true);
    standing.wake();
  }

  refuse(attempt: number): void {
    this.#standing.get(attempt)?.joined(false);
  }
}

class PlacesOfPrimary implements Places {
  readonly #waiting = new Map<number, () => void>();
  #last = 0;
  #taken = 0;

  get waiting(): number {
    return this.#waiting.size;
  }

  get taken(): number {
    return this.#taken;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    const ticket = ++this.#last;
    await new Promise<void>((resolve) => {
      this.#waiting.set(ticket, resolve);
      share({ kind: 'want place', ticket });
    });
    this.#taken++;
    try {
      return await work();
    } finally {
      this.#taken--;
      share({ kind: 'give back', ticket });
    }
  }

  take(ticket: number): void {
    this.#waiting.get(ticket)?.();
    this.#waiting.delete(ticket);
  }
}

class ConnectionsOfOthers implements ConnectionsElsewhere {
  readonly #counts = new Map<string, number>();

  of(userId: string): number {
    return this.#counts.get(userId) ?? 0;
  }

  tell(userId: string, count: number): void {
    share({ kind: 'connections here', userId, count });
  }

  set(userId: string, count: number): void {
    if (count > 0) this.#counts.set(userId, count);
    else this.#counts.delete(userId);
  }
}
