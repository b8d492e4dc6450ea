/** The worker's side of the messages between a worker and its primary. The primary keeps the state that all workers share. */

import type { RemoteConnections } from '../http/websocket/live-connections.ts';
import type { Samples } from '../observability/metrics.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';
import { tooManyInLine, type Attempt, type SharedLines } from '../sessions/attempt-lines.ts';
import type { ClusterWorker } from '../startup/cluster-worker.ts';
import type { WorkerReport, SharedStateMessage, ToPrimary, ToWorker, WorkerSetup } from './messages.ts';

export class PrimaryLink {
  readonly #stopping = new AbortController();
  readonly #lines = new LinesOfPrimary();
  readonly #hashing = new PrimarySemaphore();
  readonly #connections = new ConnectionsOfOthers();
  #onCommitted: () => void = () => undefined;
  #readSamples: () => Promise<Samples> = () => Promise.resolve([]);
  #isPublishing = false;
  readonly setup: Promise<WorkerSetup>;

  constructor() {
    this.setup = new Promise((resolve) => {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'start') resolve(message.setup);
        else this.#onMessage(message);
      });
    });
    // Keeps the process running while it has no connection.
    process.channel?.ref();
    void report({ kind: 'connected' });
  }

  /** Aborted when this worker must stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Resolves when the message is sent. */
  report(message: WorkerReport): Promise<void> {
    return report(message);
  }

  worker({ number, count, isFirst }: WorkerSetup): ClusterWorker {
    return {
      number,
      count,
      isFirst,
      lines: this.#lines,
      hashingSemaphore: this.#hashing,
      connections: this.#connections,
      publishCommit: () => this.#publishCommit(),
      onCommitted: (listener) => (this.#onCommitted = listener),
      onSamplesRequested: (read) => (this.#readSamples = read),
    };
  }

  #onMessage(message: Exclude<ToWorker, { kind: 'start' }>): void {
    switch (message.kind) {
      case 'committed':
        return this.#onCommitted();
      case 'in line':
        return this.#lines.move(message.attempt, message.ahead);
      case 'line is full':
        return this.#lines.refuse(message.attempt);
      case 'take place':
        return this.#hashing.take(message.ticket);
      case 'connections elsewhere':
        return this.#connections.set(message.userId, message.count);
      case 'read samples':
        return void this.#sendSamples(message.ticket);
      case 'stop':
        return this.#stopping.abort();
    }
  }

  async #sendSamples(ticket: number): Promise<void> {
    // Without samples, the primary uses the last ones and requests them again for the next scrape.
    const samples = await this.#readSamples().catch(() => undefined);
    if (samples) await report({ kind: 'samples', ticket, samples });
  }

  /** Sends one message for all commits of one turn of the event loop. */
  #publishCommit(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    setImmediate(() => {
      this.#isPublishing = false;
      share({ kind: 'committed' });
    });
  }
}

function share(shared: SharedStateMessage): void {
  void send({ shared });
}

function report(message: WorkerReport): Promise<void> {
  return send({ report: message });
}

/** Does nothing if the primary has ended: then this worker ends as well. */
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

class PrimarySemaphore implements Semaphore {
  readonly #waiting = new Map<number, () => void>();
  #last = 0;
  #taken = 0;

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#taken;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
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

class ConnectionsOfOthers implements RemoteConnections {
  readonly #counts = new Map<string, number>();

  count(userId: string): number {
    return this.#counts.get(userId) ?? 0;
  }

  publish(userId: string, count: number): void {
    share({ kind: 'connections here', userId, count });
  }

  set(userId: string, count: number): void {
    if (count > 0) this.#counts.set(userId, count);
    else this.#counts.delete(userId);
  }
}
