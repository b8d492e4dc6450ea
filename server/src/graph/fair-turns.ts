/**
 * A queue for the work of the graph that is fair by user: the user who has used the least time is next. Work is done in
 * pieces of a few milliseconds, and between two pieces the event loop serves everything else. Long work asks its `Pace`
 * before each further step, and waits for its user's next turn when the piece is over.
 */

import { isPromise, type PromiseOrValue } from '../database/database.ts';
import { abandoned } from './graph-results.ts';
import { maxPieceMs, maxRowsPerPiece, type Pace } from './pace.ts';

export interface FairTurns {
  /** Runs the work at once if nothing waits, otherwise at the user's turn. */
  take<T>(userId: string, work: Work<T>, options?: TurnOptions): PromiseOrValue<T>;
  /**
   * The same for a mutation. Its waiting time for the write lock or for a password hash is not charged to the user, and
   * it does not count as one of the user's running operations.
   */
  change<T>(userId: string, work: Work<T>, options?: TurnOptions): PromiseOrValue<T>;
  /** Runs the work at the user's turn in any case: for work that takes long. */
  wait<T>(userId: string, work: Work<T>, options?: TurnOptions): Promise<T>;
}

export type Work<T> = (pace: Pace) => PromiseOrValue<T>;

export interface TurnOptions {
  /** Aborted when nobody receives the result: work that waits for its turn does not go on. */
  readonly signal?: AbortSignal | undefined;
}

export interface FairTurnsOptions {
  readonly maxApartMs?: number;
  readonly maxRunning?: number;
  readonly maxRows?: number;
  /** Calls back after the event loop has served what else there is to do. */
  readonly afterOthers?: (resume: () => void) => void;
  readonly now?: () => number;
}

/** The work of one user that waits. */
interface UserQueue {
  /** Operations that have not begun. */
  readonly starts: Entry[];
  /** Operations that wait for their next piece. */
  readonly resumes: Entry[];
  /** Operations that have begun and not ended. */
  running: number;
  usedMs: number;
}

interface Entry {
  readonly number: number;
  /** Answers whether there is more to come of it. */
  readonly run: () => boolean;
}

const minMsToRest = 1;
/**
 * The most by which the used times of two users may differ. More is forgotten: otherwise a user who was served for an
 * hour while others waited would wait for an hour when a new user comes.
 */
const usualMaxApartMs = 1_000;
/**
 * The event loop accepts one new connection in each round. It makes one round for each millisecond that the work took,
 * up to so many: otherwise a new client would wait for a query of every client before it. An idle round takes microseconds.
 */
const maxRounds = 100;
/** Each running operation holds a connection of the database: no user may hold all of them. */
const usualMaxRunning = 8;

export function createFairTurns({
  maxApartMs = usualMaxApartMs,
  maxRunning = usualMaxRunning,
  maxRows = maxRowsPerPiece,
  afterOthers = setImmediate,
  now = () => performance.now(),
}: FairTurnsOptions = {}): FairTurns {
  const queues = new Map<string, UserQueue>();
  let waiting = 0;
  let lastNumber = 0;
  /** The used time of the last user who was served: the least of those who waited. */
  let leastMs = 0;
  /** Since the event loop served others. */
  let spentMs = 0;
  let isDue = false;

  function spend(ms: number): void {
    spentMs += ms;
    // A round of the event loop costs as much as a short query: many of those share it.
    if (spentMs >= minMsToRest) serveSoon();
  }

  function begin<T>(work: () => T): T {
    const start = now();
    try {
      return work();
    } finally {
      spend(now() - start);
    }
  }

  function serveSoon(): void {
    if (isDue) return;
    isDue = true;
    goRound(1);
  }

  function goRound(round: number): void {
    afterOthers(() => (round < Math.min(spentMs, maxRounds) ? goRound(round + 1) : serve()));
  }

  function serve(): void {
    isDue = false;
    spentMs = 0;
    while (spentMs < maxPieceMs) {
      const queue = nextQueue();
      if (!queue) {
        if (waiting === 0) forget();
        return;
      }
      leastMs = queue.usedMs;
      waiting--;
      // The rest of it runs before anything else: it has the turn for itself.
      if (nextEntry(queue).run()) spentMs = maxPieceMs;
    }
    serveSoon();
  }

  /** Nobody waits: whoever comes then is the first. */
  function forget(): void {
    leastMs = 0;
    for (const [userId, queue] of queues) {
      if (queue.running === 0) queues.delete(userId);
      else queue.usedMs = 0;
    }
  }

  /** Of the users who can be served, the one with the least used time; among equals the one who came first. */
  function nextQueue(): UserQueue | undefined {
    let least: UserQueue | undefined;
    for (const queue of queues.values()) {
      const canBeServed = queue.resumes.length > 0 || (queue.starts.length > 0 && queue.running < maxRunning);
      if (canBeServed && (!least || queue.usedMs < least.usedMs)) least = queue;
    }
    return least;
  }

  function nextEntry({ starts, resumes, running }: UserQueue): Entry {
    const [start, resume] = [running < maxRunning ? starts[0] : undefined, resumes[0]];
    const isResumed = resume !== undefined && (start === undefined || resume.number < start.number);
    return (isResumed ? resumes : starts).shift()!;
  }

  function queueOf(userId: string): UserQueue {
    let queue = queues.get(userId);
    if (!queue) queues.set(userId, (queue = { starts: [], resumes: [], running: 0, usedMs: 0 }));
    return queue;
  }

  function enqueue(userId: string, kind: 'starts' | 'resumes', run: (queue: UserQueue) => boolean): void {
    const queue = queueOf(userId);
    queue.usedMs = Math.max(queue.usedMs, leastMs - maxApartMs);
    queue[kind].push({ number: ++lastNumber, run: () => run(queue) });
    waiting++;
    serveSoon();
  }

  function charge(queue: UserQueue, ms: number): void {
    queue.usedMs = Math.min(queue.usedMs + ms, leastMs + maxApartMs);
  }

  /** Counts an operation that goes on after its first piece, until it ends. */
  function countRunning(queue: UserQueue, result: Promise<unknown>, operation: Operation): void {
    queue.running++;
    operation.goOn();
    const end = () => {
      queue.running--;
      operation.pause();
      if (queue.starts.length > 0) serveSoon();
    };
    result.then(end, end);
  }

  class Operation implements Pace {
    readonly #userId: string;
    readonly #signal: AbortSignal | undefined;
    yields = 0;
    pendingReads = 0;
    #rows = 0;
    /** When the current piece began; undefined while it is measured by whoever called it. */
    #resumedAt: number | undefined;
    #startedAt = now();

    constructor(userId: string, { signal }: TurnOptions) {
      this.#userId = userId;
      this.#signal = signal;
    }

    before(rows: number): Promise<void> | undefined {
      const isOver = this.#rows > 0 && (this.#rows + rows > maxRows || now() - this.#startedAt >= maxPieceMs);
      if (!isOver) {
        this.#rows += rows;
        return undefined;
      }
      this.pause();
      this.yields++;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      enqueue(this.#userId, 'resumes', () => {
        if (this.#signal?.aborted) {
          reject(abandoned());
          return true;
        }
        this.restart();
        this.#rows = rows;
        resolve();
        return true;
      });
      return promise;
    }

    add(rows: number): void {
      this.#rows += rows;
    }

    restart(): void {
      this.goOn();
      this.#startedAt = this.#resumedAt!;
    }

    /** From now on the piece is measured here. */
    goOn(): void {
      this.#resumedAt = now();
    }

    /** Charges the piece that ends now. */
    pause(): void {
      if (this.#resumedAt === undefined) return;
      const ms = now() - this.#resumedAt;
      this.#resumedAt = undefined;
      charge(queueOf(this.#userId), ms);
      spend(ms);
    }
  }

  function wait<T>(
    userId: string,
    work: Work<T>,
    { signal }: TurnOptions = {},
    isChange = false,
  ): Promise<T> {
    const done = Promise.withResolvers<T>();
    enqueue(userId, 'starts', (queue) => {
      if (signal?.aborted) {
        done.reject(abandoned());
        return false;
      }
      const operation = new Operation(userId, { signal });
      const start = now();
      try {
        const result = begin(() => work(operation));
        done.resolve(result);
        if (!isPromise(result)) return false;
        if (!isChange) countRunning(queue, done.promise, operation);
        return true;
      } catch (error) {
        done.reject(error);
        return false;
      } finally {
        charge(queue, now() - start);
      }
    });
    return done.promise;
  }

  function take<T>(userId: string, work: Work<T>, options: TurnOptions = {}): PromiseOrValue<T> {
    const mustWait = waiting > 0 || spentMs >= maxPieceMs || (queues.get(userId)?.running ?? 0) >= maxRunning;
    if (mustWait) return wait(userId, work, options);
    const operation = new Operation(userId, options);
    const result = begin(() => work(operation));
    if (isPromise(result)) countRunning(queueOf(userId), result, operation);
    return result;
  }

  return {
    take,
    change: (userId, work, options = {}) =>
      waiting > 0 || spentMs >= maxPieceMs
        ? wait(userId, work, options, true)
        : work(new Operation(userId, options)),
    wait: (userId, work, options) => wait(userId, work, options),
  };
}
