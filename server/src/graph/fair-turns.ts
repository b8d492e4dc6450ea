/**
 * A queue for the work of the graph that is fair by user: the user who has used the least time is next. Work is done in
 * pieces of a few milliseconds, and between two pieces the event loop serves everything else. Long work asks its `Pace`
 * before each further step, and waits for its user's next turn when the piece is over.
 */

import TinyQueue from 'tinyqueue';
import { isPromise, type PromiseOrValue } from '../database/database.ts';
import { abandoned } from '../refusal.ts';
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
  readonly signal?: Pick<AbortSignal, 'aborted'> | undefined;
  /** The share of the computing time that is charged to the user; 1 by default. */
  readonly charge?: number;
}

/**
 * Events of subscriptions are charged less than what users ask for: otherwise they fall behind on a server that is busy
 * with changes, each of which causes an event for every subscriber.
 */
export const eventCharge = 0.25;

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
  /** It is among the queues to serve. */
  isListed: boolean;
}

/** A queue to serve, with its used time when it was listed. */
interface Listed {
  readonly queue: UserQueue;
  readonly usedMs: number;
  readonly number: number;
}

interface Entry {
  readonly number: number;
  /** Answers whether there is more to come of it. */
  readonly run: () => boolean;
}

const minMsToRest = 1;
/** The most used time that a user can be ahead of the others by. Without this bound, an hour of work would cause an hour of waiting. */
const usualMaxApartMs = 1_000;
/** The most credit that an idle user collects. A returning user can delay all others for this long. */
const maxCreditMs = 20;
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
  const listed = new TinyQueue<Listed>([], (a, b) => a.usedMs - b.usedMs || a.number - b.number);
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
      const hasMore = nextEntry(queue).run();
      list(queue);
      // The rest of it runs before anything else: it has the turn for itself.
      if (hasMore) break;
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

  function canBeServed({ starts, resumes, running }: UserQueue): boolean {
    return resumes.length > 0 || (starts.length > 0 && running < maxRunning);
  }

  function list(queue: UserQueue): void {
    if (queue.isListed || !canBeServed(queue)) return;
    queue.isListed = true;
    listed.push({ queue, usedMs: queue.usedMs, number: ++lastNumber });
  }

  /** Of the users who can be served, the one with the least used time; among equals the one who came first. */
  function nextQueue(): UserQueue | undefined {
    for (let next = listed.pop(); next; next = listed.pop()) {
      const { queue, usedMs } = next;
      queue.isListed = false;
      if (queue.usedMs === usedMs && canBeServed(queue)) return queue;
      // It has used more since it was listed.
      list(queue);
    }
    return undefined;
  }

  function nextEntry({ starts, resumes, running }: UserQueue): Entry {
    const [start, resume] = [running < maxRunning ? starts[0] : undefined, resumes[0]];
    const isResumed = resume !== undefined && (start === undefined || resume.number < start.number);
    return (isResumed ? resumes : starts).shift()!;
  }

  function queueOf(userId: string): UserQueue {
    let queue = queues.get(userId);
    if (!queue)
      queues.set(userId, (queue = { starts: [], resumes: [], running: 0, usedMs: 0, isListed: false }));
    return queue;
  }

  function enqueue(userId: string, kind: 'starts' | 'resumes', run: (queue: UserQueue) => boolean): void {
    const queue = queueOf(userId);
    queue.usedMs = Math.max(queue.usedMs, leastMs - maxCreditMs);
    queue[kind].push({ number: ++lastNumber, run: () => run(queue) });
    waiting++;
    list(queue);
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
      list(queue);
      if (queue.starts.length > 0) serveSoon();
    };
    result.then(end, end);
  }

  class Operation implements Pace {
    readonly #userId: string;
    readonly #signal: TurnOptions['signal'];
    readonly #charge: number;
    yields = 0;
    readonly pendingReads = new Set<Promise<unknown>>();
    #rows = 0;
    /** For something else than a turn: this time is not charged. */
    #isWaiting = false;
    /** When the current piece began; undefined while it is measured by whoever called it. */
    #resumedAt: number | undefined;
    #startedAt = now();

    constructor(userId: string, { signal, charge: share = 1 }: TurnOptions) {
      this.#userId = userId;
      this.#signal = signal;
      this.#charge = share;
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
      this.#isWaiting = false;
      this.goOn();
      this.#startedAt = this.#resumedAt!;
    }

    /** From now on the piece is measured here. */
    goOn(): void {
      if (!this.#isWaiting) this.#resumedAt = now();
    }

    /** Charges the piece that ends now. */
    pause(): void {
      this.#isWaiting = true;
      if (this.#resumedAt === undefined) return;
      const ms = now() - this.#resumedAt;
      this.#resumedAt = undefined;
      charge(queueOf(this.#userId), ms * this.#charge);
      spend(ms);
    }
  }

  function wait<T>(userId: string, work: Work<T>, options: TurnOptions = {}, isChange = false): Promise<T> {
    const done = Promise.withResolvers<T>();
    enqueue(userId, 'starts', (queue) => {
      if (options.signal?.aborted) {
        done.reject(abandoned());
        return false;
      }
      const operation = new Operation(userId, options);
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
        charge(queue, (now() - start) * (options.charge ?? 1));
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
