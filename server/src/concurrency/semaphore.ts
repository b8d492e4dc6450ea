/** A counting semaphore: limits how many jobs run at the same time. The other jobs start in the order in which they came. */

import { availableParallelism } from 'node:os';

export interface Semaphore {
  readonly waiting: number;
  readonly running: number;
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(permits: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    get waiting() {
      return waiting.length;
    },
    get running() {
      return running;
    },
    async run(work) {
      if (running < permits) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The next job takes over the permit, so `running` stays the same.
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    },
  };
}

/** All cores of this machine but one. */
export function countSpareCores(): number {
  return Math.max(1, availableParallelism() - 1);
}
