/**
 * Work that many have to do at the same time, a little each: one gets a turn after the other, and after some
 * milliseconds of it whatever else the process has to do comes first.
 */

import { createPlaces } from './places.ts';

export interface Turns {
  /** Does a small piece of work when it is its turn: at once, if there is not much to do. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** More than one, for work that waits for a database elsewhere. */
const atOnce = 16;
const mostMs = 5;

export function createTurns(): Turns {
  const places = createPlaces(atOnce);
  /** Since others were let through. */
  let spentMs = 0;
  let others: Promise<void> | undefined;

  function othersFirst(): Promise<void> {
    others ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        others = undefined;
        spentMs = 0;
        resolve();
      });
    });
    return others;
  }

  return {
    take: (work) =>
      places.use(async () => {
        while (spentMs >= mostMs) await othersFirst();
        const start = performance.now();
        try {
          return await work();
        } finally {
          spentMs += performance.now() - start;
          void othersFirst();
        }
      }),
  };
}
