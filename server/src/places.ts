/** A number of places for work that would take too much of the machine at once; the rest waits in line. */

import { availableParallelism } from 'node:os';

export interface Places {
  /** How many wait. */
  readonly waiting: number;
  /** How many have a place. */
  readonly taken: number;
  use<T>(work: () => Promise<T>): Promise<T>;
}

export function createPlaces(count: number): Places {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    get waiting() {
      return waiting.length;
    },
    get taken() {
      return taken;
    },
    async use(work) {
      if (taken < count) taken++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The place goes to the next in line, or back to the pool.
        const next = waiting.shift();
        if (next) next();
        else taken--;
      }
    },
  };
}

/** Of this machine: one is left to everything else. */
export function spareCores(): number {
  return Math.max(1, availableParallelism() - 1);
}
