/**
 * What workers must agree on, and the primary keeps for them: who is in line for a password, how many are hashed at a time,
 * how many connections a user has. A worker that ends gives everything back.
 */

import { createSemaphore, countSpareCores } from '../concurrency/semaphore.ts';
import { Refusal } from '../refusal.ts';
import { createAttemptQueues, type QueuedAttempt } from '../sessions/attempt-queues.ts';
import type { SharedStateMessage, ToWorker } from './messages.ts';

/** A worker that receives messages. */
export interface Recipient {
  send(message: ToWorker): void;
}

interface Held {
  readonly attempts: Map<number, QueuedAttempt>;
  /** What gives each place back, by its ticket; those in line have none yet. */
  readonly releases: Map<number, () => void>;
  readonly connections: Map<string, number>;
}

export class SharedState {
  readonly #attemptQueues = createAttemptQueues();
  readonly #hashing;
  readonly #held = new Map<Recipient, Held>();

  constructor(hashesAtOnce = countSpareCores()) {
    this.#hashing = createSemaphore(hashesAtOnce);
  }

  add(worker: Recipient): void {
    this.#held.set(worker, { attempts: new Map(), releases: new Map(), connections: new Map() });
    const users = new Set([...this.#held.values()].flatMap(({ connections }) => [...connections.keys()]));
    for (const userId of users) this.#sendConnections(worker, userId);
  }

  remove(worker: Recipient): void {
    const held = this.#held.get(worker);
    if (!held) return;
    this.#held.delete(worker);
    for (const attempt of held.attempts.values()) attempt.leave();
    for (const giveBack of held.releases.values()) giveBack();
    for (const userId of held.connections.keys()) this.#notifyOthers(worker, userId);
  }

  handle(worker: Recipient, message: SharedStateMessage): void {
    const held = this.#held.get(worker);
    if (!held) return;
    switch (message.kind) {
      case 'committed':
        for (const other of this.#others(worker)) other.send({ kind: 'committed' });
        return;
      case 'join':
        this.#join(worker, held, message);
        return;
      case 'leave':
        held.attempts.get(message.attempt)?.leave();
        held.attempts.delete(message.attempt);
        return;
      case 'want place':
        void this.#hashing.run(() => this.#grantPermit(worker, held, message.ticket));
        return;
      case 'give back':
        held.releases.get(message.ticket)?.();
        held.releases.delete(message.ticket);
        return;
      case 'connections here':
        if (message.count > 0) held.connections.set(message.userId, message.count);
        else held.connections.delete(message.userId);
        this.#notifyOthers(worker, message.userId);
        return;
    }
  }

  #join(
    worker: Recipient,
    { attempts }: Held,
    { attempt: number, keys }: Extract<SharedStateMessage, { kind: 'join' }>,
  ): void {
    try {
      const attempt = this.#attemptQueues.join(keys);
      attempts.set(number, attempt);
      const sendPosition = () => {
        if (attempts.get(number) !== attempt) return;
        // Before the message: an attempt that leaves from now on causes another message.
        void attempt.waitForChange().then(sendPosition);
        worker.send({ kind: 'queued', attempt: number, ahead: attempt.countAhead() });
      };
      sendPosition();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      worker.send({ kind: 'queue is full', attempt: number });
    }
  }

  /** Resolves when the place is given back. */
  async #grantPermit(worker: Recipient, { releases }: Held, ticket: number): Promise<void> {
    // It may have ended while it was in line.
    if (!this.#held.has(worker)) return;
    await new Promise<void>((giveBack) => {
      releases.set(ticket, giveBack);
      worker.send({ kind: 'take place', ticket });
    });
  }

  #others(worker: Recipient): Recipient[] {
    return [...this.#held.keys()].filter((other) => other !== worker);
  }

  #notifyOthers(worker: Recipient, userId: string): void {
    for (const other of this.#others(worker)) this.#sendConnections(other, userId);
  }

  #sendConnections(worker: Recipient, userId: string): void {
    const counts = this.#others(worker).map((other) => this.#held.get(other)!.connections.get(userId) ?? 0);
    const count = counts.reduce((sum, each) => sum + each, 0);
    worker.send({ kind: 'connections elsewhere', userId, count });
  }
}
