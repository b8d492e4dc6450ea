/**
 * The state that all workers share, held by the primary: the queues of login attempts, the permits to hash passwords, and
 * the connections of each user. When a worker ends, everything that it holds is released.
 */

import { createSemaphore, countSpareCores } from '../concurrency/semaphore.ts';
import { Refusal } from '../refusal.ts';
import { AttemptQueues, type QueuedAttempt } from '../sessions/attempt-queues.ts';
import type { SharedStateMessage, ToWorker } from './messages.ts';

/** A worker that receives messages. */
export interface WorkerChannel {
  send(message: ToWorker): void;
}

/** The attempts, permits and connections of one worker. */
interface WorkerState {
  readonly attempts: Map<number, QueuedAttempt>;
  /** Functions that release the worker's permits, by ticket. A waiting request has no function yet. */
  readonly releases: Map<number, () => void>;
  readonly connections: Map<string, number>;
}

export class SharedState {
  readonly #attemptQueues = new AttemptQueues();
  readonly #hashing;
  readonly #workers = new Map<WorkerChannel, WorkerState>();

  constructor(maxHashes = countSpareCores()) {
    this.#hashing = createSemaphore(maxHashes);
  }

  add(worker: WorkerChannel): void {
    this.#workers.set(worker, { attempts: new Map(), releases: new Map(), connections: new Map() });
    const users = new Set([...this.#workers.values()].flatMap(({ connections }) => [...connections.keys()]));
    for (const userId of users) this.#sendConnections(worker, userId);
  }

  remove(worker: WorkerChannel): void {
    const state = this.#workers.get(worker);
    if (!state) return;
    this.#workers.delete(worker);
    for (const attempt of state.attempts.values()) attempt.leave();
    for (const release of state.releases.values()) release();
    for (const userId of state.connections.keys()) this.#notifyOthers(worker, userId);
  }

  handle(worker: WorkerChannel, message: SharedStateMessage): void {
    const state = this.#workers.get(worker);
    if (!state) return;
    switch (message.kind) {
      case 'committed':
        return this.#others(worker).forEach((other) => other.send({ kind: 'committed' }));
      case 'join':
        return this.#join(worker, state, message);
      case 'leave':
        state.attempts.get(message.attempt)?.leave();
        state.attempts.delete(message.attempt);
        return;
      case 'acquire permit':
        return void this.#hashing.run(() => this.#grantPermit(worker, state, message.ticket));
      case 'release permit':
        state.releases.get(message.ticket)?.();
        state.releases.delete(message.ticket);
        return;
      case 'local connections':
        if (message.count > 0) state.connections.set(message.userId, message.count);
        else state.connections.delete(message.userId);
        return this.#notifyOthers(worker, message.userId);
    }
  }

  #join(
    worker: WorkerChannel,
    { attempts }: WorkerState,
    { attempt: number, keys }: Extract<SharedStateMessage, { kind: 'join' }>,
  ): void {
    try {
      const attempt = this.#attemptQueues.join(keys);
      attempts.set(number, attempt);
      const sendPosition = () => {
        if (attempts.get(number) !== attempt) return;
        // Called before the message is sent, so that no later change is missed.
        void attempt.waitForChange().then(sendPosition);
        worker.send({ kind: 'queued', attempt: number, ahead: attempt.countAhead() });
      };
      sendPosition();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      worker.send({ kind: 'queue full', attempt: number });
    }
  }

  /** Resolves when the permit is released. */
  async #grantPermit(worker: WorkerChannel, { releases }: WorkerState, ticket: number): Promise<void> {
    // The worker may have ended while it waited.
    if (!this.#workers.has(worker)) return;
    await new Promise<void>((release) => {
      releases.set(ticket, release);
      worker.send({ kind: 'permit granted', ticket });
    });
  }

  #others(worker: WorkerChannel): WorkerChannel[] {
    return [...this.#workers.keys()].filter((other) => other !== worker);
  }

  #notifyOthers(worker: WorkerChannel, userId: string): void {
    for (const other of this.#others(worker)) this.#sendConnections(other, userId);
  }

  #sendConnections(worker: WorkerChannel, userId: string): void {
    let count = 0;
    for (const other of this.#others(worker)) count += this.#workers.get(other)!.connections.get(userId) ?? 0;
    worker.send({ kind: 'remote connections', userId, count });
  }
}
