/** The worker's side of a cluster: exchanges messages with the primary, which holds the state that all workers share. */

import type { RemoteConnections } from '../http/live-connections.ts';
import type { Samples } from '../observability/metrics.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';
import type { QueuedAttempt, QueueKey, SharedAttemptQueues } from '../sessions/attempt-queues.ts';
import { tooManyLogins } from '../refusal.ts';
import type { ClusterWorker } from '../startup/services.ts';
import type { ToPrimary, ToWorker, WorkerReport, WorkerSetup } from './messages.ts';

export class PrimaryLink {
  readonly #stopping = new AbortController();
  /** Aborted when this worker must stop. */
  readonly signal: AbortSignal = this.#stopping.signal;
  readonly #attemptQueues = new PrimaryAttemptQueues();
  readonly #hashing = new PrimarySemaphore();
  readonly #connections = new PrimaryConnections();
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
    void send({ kind: 'connected' });
  }

  /** Resolves when the message is sent. */
  report(message: WorkerReport): Promise<void> {
    return send(message);
  }

  worker({ number, count, isFirst }: WorkerSetup): ClusterWorker {
    return {
      number,
      count,
      isFirst,
      attemptQueues: this.#attemptQueues,
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
      case 'queued':
        return this.#attemptQueues.move(message.attempt, message.ahead);
      case 'queue full':
        return this.#attemptQueues.refuse(message.attempt);
      case 'permit granted':
        return this.#hashing.grant(message.ticket);
      case 'remote connections':
        return this.#connections.set(message.userId, message.count);
      case 'read samples':
        return void this.#sendSamples(message.ticket);
      case 'stop':
        return this.#stopping.abort();
    }
  }

  async #sendSamples(ticket: number): Promise<void> {
    // If this fails, the primary uses the last samples, and requests new ones for the next scrape.
    const samples = await this.#readSamples().catch(() => undefined);
    if (samples) await send({ kind: 'samples', ticket, samples });
  }

  /** Sends one message for all commits of one round of the event loop. */
  #publishCommit(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    setImmediate(() => {
      this.#isPublishing = false;
      void send({ kind: 'committed' });
    });
  }
}

/** Does nothing if the primary has ended, because this worker then ends as well. */
function send(message: ToPrimary): Promise<void> {
  if (!process.connected) return Promise.resolve();
  return new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()));
}

interface WaitingAttempt {
  ahead: readonly number[];
  /** Called when the primary has answered: with false if a queue is full. */
  onJoinResult: (hasJoined: boolean) => void;
  wake: () => void;
}

class PrimaryAttemptQueues implements SharedAttemptQueues {
  readonly #attempts = new Map<number, WaitingAttempt>();
  #lastNumber = 0;

  async join(keys: readonly QueueKey[]): Promise<QueuedAttempt> {
    const number = ++this.#lastNumber;
    const attempt: WaitingAttempt = { ahead: [], onJoinResult: () => undefined, wake: () => undefined };
    this.#attempts.set(number, attempt);
    const hasJoined = new Promise<boolean>((resolve) => (attempt.onJoinResult = resolve));
    // Sends only these fields, because the throttle's keys have more.
    const sentKeys = keys.map(({ key, maxConcurrent }) => ({ key, maxConcurrent }));
    void send({ kind: 'join', attempt: number, keys: sentKeys });
    if (!(await hasJoined)) {
      this.#attempts.delete(number);
      throw tooManyLogins();
    }
    return {
      countAhead: () => [...attempt.ahead],
      waitForChange: () => new Promise((resolve) => (attempt.wake = resolve)),
      leave: () => {
        this.#attempts.delete(number);
        void send({ kind: 'leave', attempt: number });
      },
    };
  }

  move(number: number, ahead: readonly number[]): void {
    const attempt = this.#attempts.get(number);
    if (!attempt) return;
    attempt.ahead = ahead;
    attempt.onJoinResult(true);
    attempt.wake();
  }

  refuse(number: number): void {
    this.#attempts.get(number)?.onJoinResult(false);
  }
}

class PrimarySemaphore implements Semaphore {
  readonly #waiting = new Map<number, () => void>();
  #lastNumber = 0;
  #running = 0;

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const ticket = ++this.#lastNumber;
    await new Promise<void>((resolve) => {
      this.#waiting.set(ticket, resolve);
      void send({ kind: 'acquire permit', ticket });
    });
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      void send({ kind: 'release permit', ticket });
    }
  }

  grant(ticket: number): void {
    this.#waiting.get(ticket)?.();
    this.#waiting.delete(ticket);
  }
}

class PrimaryConnections implements RemoteConnections {
  readonly #counts = new Map<string, number>();

  count(userId: string): number {
    return this.#counts.get(userId) ?? 0;
  }

  publish(userId: string, count: number): void {
    void send({ kind: 'local connections', userId, count });
  }

  set(userId: string, count: number): void {
    if (count > 0) this.#counts.set(userId, count);
    else this.#counts.delete(userId);
  }
}
