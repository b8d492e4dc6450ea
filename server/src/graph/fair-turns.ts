/**
 * Queries in turns, and whoever has taken least is next: who asks for much keeps neither the others waiting nor what else
 * the process has to do, of which there is some after every few milliseconds of queries.
 */

import { isPromise, type PromiseOrValue } from '../database/database.ts';

export interface FairTurns {
  /** Does it at once, if there is not much to do; else when it is this person's turn. */
  take<T>(userId: string, work: () => PromiseOrValue<T>): PromiseOrValue<T>;
  /**
   * The same for a change. Others need not rest from it: changes stand in a line of their own, and let others through. What
   * it waits for there, or for the hash of a password, is nothing that it takes from anybody.
   */
  change<T>(userId: string, work: () => PromiseOrValue<T>): PromiseOrValue<T>;
  /** Does it after what else there is to do, in any case: for what takes long. */
  wait<T>(userId: string, work: () => PromiseOrValue<T>): Promise<T>;
}

/** Answers whether there is more to come of what was begun. */
type Begin = () => boolean;

/** Of one person; it is there as long as anybody waits. */
interface Line {
  readonly waiting: Begin[];
  takenMs: number;
}

const mostMs = 5;
const leastToRestMs = 1;
/**
 * So far apart people may be in what they have taken. More is forgotten: else, where somebody always waits, whoever was
 * served for an hour would wait for an hour when somebody new comes, and whoever has asked for much until all others have.
 */
const usuallyApartMs = 1_000;
/**
 * The event loop takes in one new connection each time it goes round. It goes
 * round once for each millisecond that queries took, up to so often: else whoever has just come would have to wait for a
 * query of everybody who came before. With nothing else to do it takes microseconds.
 */
const mostRounds = 100;

export function createFairTurns({ mostApartMs = usuallyApartMs } = {}): FairTurns {
  const lines = new Map<string, Line>();
  /** What the last one who was next had taken: of those who waited, the least. */
  let leastMs = 0;
  /** Since something else could be done. */
  let spentMs = 0;
  let isDue = false;

  function begin<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      spentMs += performance.now() - start;
      // To look for others costs as much as a short query: many of those share it.
      if (spentMs >= leastToRestMs) serveSoon();
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
      const line = nextLine();
      if (!line) return forget();
      leastMs = line.takenMs;
      // How long the rest of it takes is not known: it has the turn for itself.
      if (line.waiting.shift()!()) {
        spentMs = mostMs;
        break;
      }
    }
    serveSoon();
  }

  /** Nobody waits: whoever comes then is the first. */
  function forget(): void {
    lines.clear();
    leastMs = 0;
  }

  /** Of those who wait, the one who has taken least; among equals who came first. */
  function nextLine(): Line | undefined {
    const waiting = [...lines.values()].filter((line) => line.waiting.length > 0);
    return waiting.reduce<Line | undefined>(
      (least, line) => (least && least.takenMs <= line.takenMs ? least : line),
      undefined,
    );
  }

  function wait<T>(userId: string, work: () => PromiseOrValue<T>, isChange = false): Promise<T> {
    const line = lines.get(userId) ?? { waiting: [], takenMs: 0 };
    lines.set(userId, line);
    line.takenMs = Math.max(line.takenMs, leastMs - mostApartMs);
    const done = Promise.withResolvers<T>();
    line.waiting.push(() => {
      const start = performance.now();
      const charge = (from: number) => {
        line.takenMs = Math.min(line.takenMs + performance.now() - from, leastMs + mostApartMs);
      };
      try {
        const result = begin(work);
        done.resolve(result);
        if (!isPromise(result)) return false;
        const begun = performance.now();
        const chargeRest = () => charge(begun);
        if (!isChange) void done.promise.then(chargeRest, chargeRest);
        return true;
      } catch (error) {
        done.reject(error);
        return false;
      } finally {
        charge(start);
      }
    });
    serveSoon();
    return done.promise;
  }

  const isFree = () => spentMs < mostMs && lines.size === 0;

  return {
    take: (userId, work) => (isFree() ? begin(work) : wait(userId, work)),
    change: (userId, work) => (isFree() ? work() : wait(userId, work, true)),
    wait: (userId, work) => wait(userId, work),
  };
}
