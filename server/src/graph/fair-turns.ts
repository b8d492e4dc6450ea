/**
 * Queries in turns, one of each person after the other: whoever asks for much keeps neither the others waiting nor what
 * else the process has to do, of which there is some after every few milliseconds of queries.
 */

import { isPromise, type PromiseOrValue } from '../database/database.ts';

export interface FairTurns {
  /** Does it at once, if there is not much to do; else when it is this person's turn. */
  take<T>(userId: string, work: () => PromiseOrValue<T>): PromiseOrValue<T>;
  /** The same for a change. Others need not rest from it: changes stand in a line of their own, and let others through. */
  change<T>(userId: string, work: () => PromiseOrValue<T>): PromiseOrValue<T>;
  /** Does it when everybody else had a turn, in any case: for what takes long. */
  wait<T>(userId: string, work: () => PromiseOrValue<T>): Promise<T>;
}

/** Answers whether there is more to come of what was begun. */
type Begin = () => boolean;

const mostMs = 5;
/**
 * The event loop takes in one new connection each time it goes round (https://github.com/libuv/libuv/pull/3696). It goes
 * round once for each millisecond that queries took, up to so often: else whoever has just come would have to wait for a
 * query of everybody who came before. With nothing else to do it takes microseconds.
 */
const mostRounds = 100;

export function createFairTurns(): FairTurns {
  /** Whose turn is next stands first. */
  const lines = new Map<string, Begin[]>();
  /** Since something else could be done. */
  let spentMs = 0;
  let isDue = false;

  function begin<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      spentMs += performance.now() - start;
      serveSoon();
    }
  }

  function serveSoon(): void {
    if (isDue) return;
    isDue = true;
    goRound(1);
  }

  function goRound(round: number): void {
    setImmediate(() => (round < Math.min(spentMs, mostRounds) ? goRound(round + 1) : serve()));
  }

  function serve(): void {
    isDue = false;
    spentMs = 0;
    while (spentMs < mostMs) {
      const [first] = lines;
      if (!first) return;
      const [userId, line] = first;
      const next = line.shift()!;
      lines.delete(userId);
      if (line.length > 0) lines.set(userId, line);
      // How long the rest of it takes is not known: it has the turn for itself.
      if (next()) {
        spentMs = mostMs;
        break;
      }
    }
    serveSoon();
  }

  function wait<T>(userId: string, work: () => PromiseOrValue<T>): Promise<T> {
    const done = Promise.withResolvers<T>();
    const next: Begin = () => {
      try {
        const result = begin(work);
        done.resolve(result);
        return isPromise(result);
      } catch (error) {
        done.reject(error);
        return false;
      }
    };
    const line = lines.get(userId);
    if (line) line.push(next);
    else lines.set(userId, [next]);
    serveSoon();
    return done.promise;
  }

  const isFree = () => spentMs < mostMs && lines.size === 0;

  return {
    take: (userId, work) => (isFree() ? begin(work) : wait(userId, work)),
    change: (userId, work) => (isFree() ? work() : wait(userId, work)),
    wait,
  };
}
