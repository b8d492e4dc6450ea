/**
 * Queues of the login attempts that are in progress in this process, one queue for each throttled key. An attempt may have to
 * wait for the results of the attempts before it, so that parallel attempts cannot exceed the limit.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { tooManyLogins } from '../refusal.ts';

export interface QueueKey {
  readonly key: string;
  /** How many attempts at the front of the queue are checked at the same time. */
  readonly maxConcurrent: number;
}

export interface QueuedAttempt {
  /** Returns the number of attempts ahead of this one, for each of its queues. */
  countAhead(): number[];
  /** Resolves when another attempt has left since this call, and this attempt is among the first `maxConcurrent`. */
  waitForChange(): Promise<void>;
  leave(): void;
}

/** Queues that may be in another process: the workers of one node share their queues. */
export interface SharedAttemptQueues {
  join(keys: readonly QueueKey[]): PromiseOrValue<QueuedAttempt>;
}

/** A client behind more attempts would time out before its attempt. */
const maxQueueLength = 500;

interface WaitingAttempt {
  wake: () => void;
}

export class AttemptQueues implements SharedAttemptQueues {
  readonly #queues = new Map<string, WaitingAttempt[]>();

  /** Appends an attempt to all of these queues at the same time, so that no two attempts wait for each other. */
  join(keys: readonly QueueKey[]): QueuedAttempt {
    const attempt: WaitingAttempt = { wake: () => undefined };
    const queues = keys.map(({ key }) => this.#queues.get(key) ?? []);
    if (queues.some(({ length }) => length >= maxQueueLength)) throw tooManyLogins();
    keys.forEach(({ key }, index) => {
      queues[index]!.push(attempt);
      this.#queues.set(key, queues[index]!);
    });
    return {
      countAhead: () => queues.map((queue) => queue.indexOf(attempt)),
      waitForChange: () => new Promise((resolve) => (attempt.wake = resolve)),
      leave: () =>
        keys.forEach(({ key, maxConcurrent }, index) => {
          const queue = queues[index]!;
          queue.splice(queue.indexOf(attempt), 1);
          if (queue.length === 0) this.#queues.delete(key);
          for (const { wake } of queue.slice(0, maxConcurrent)) wake();
        }),
    };
  }
}
