/**
 * A cooperative scheduler that shares computing time fairly among users: the user who has used the least time is next.
 * Tasks run in time slices of a few milliseconds, and between two slices the event loop serves other work. A long
 * task calls `yieldBefore` before each step, and waits for its user's next time slice when its slice is over.
 */

import TinyQueue from 'tinyqueue';
import { clientGone } from '../refusal.ts';
import { isPromise, type PromiseOrValue } from './promise-or-value.ts';

export type Scheduler = Pick<FairScheduler, 'run' | 'runWrite' | 'schedule'>;

export type Work<T> = (task: Task) => PromiseOrValue<T>;

/** Divides its work into time slices. */
export interface Task {
  /**
   * Called before a step, with the number of rows that it examines or values that it completes. Returns undefined if the step
   * fits into the current slice; otherwise a promise that resolves at the beginning of the user's next slice.
   */
  yieldBefore(rows: number): Promise<void> | undefined;
  /** Called after a step that took more rows than expected. */
  addRows(rows: number): void;
  /** Called before the task waits for something other than a time slice, for example the database: this time is not charged. */
  pause(): void;
  /** Called at the end of the wait that `pause()` began. */
  resume(): void;
  /** How many times the task has yielded. */
  readonly yields: number;
  /** The reads that wait for a time slice or for the database. */
  readonly pendingReads: Set<Promise<unknown>>;
}

export interface TaskOptions {
  /** Aborted when the result is not needed: a task that waits for its time slice then fails. */
  readonly signal?: Pick<AbortSignal, 'aborted'> | undefined;
  /** The share of the computing time that is charged to the user; 1 by default. */
  readonly charge?: number;
}

/** How many rows a time slice may examine or values it may complete. Each takes about a microsecond. */
export const maxRowsPerSlice = 2_000;
/**
 * Events of subscriptions are charged less than requests. Otherwise subscriptions fall behind on a server that is busy with
 * changes, because each change causes an event for every subscriber.
 */
export const eventCharge = 0.25;
const maxSliceMs = 5;
/** A round of the event loop costs as much as a short query, so several short queries share one. */
const minMsBeforeYield = 1;
/** The maximum credit of an idle user. A returning user can delay all others for this long. */
const maxCreditMs = 20;
/**
 * The event loop accepts one new connection in each round. The scheduler waits one round for each millisecond of work, up to
 * this limit. Otherwise a new client would wait for a query of every client before it. An idle round takes microseconds.
 */
const maxRounds = 100;

const defaults = {
  /** How much more time than the others a user can be charged for. Without this limit, a user would wait for an hour after an hour of work. */
  maxAheadMs: 1_000,
  /** Each running task holds a database connection, and one user must not occupy all connections. */
  maxRunning: 8,
  maxRows: maxRowsPerSlice,
  /** Calls back after the event loop has served other work. */
  defer: setImmediate as (resume: () => void) => void,
  now: () => performance.now(),
};

/** The waiting work of one user. */
interface UserQueue {
  /** Tasks that have not begun. */
  readonly starts: Entry[];
  /** Tasks that wait for their next slice. */
  readonly resumes: Entry[];
  /** The number of tasks that have begun and have not ended. */
  running: number;
  usedMs: number;
  /** Whether the queue is in the priority queue. */
  isReady: boolean;
}

/** An element of the priority queue, with the used time at the moment when it was added. */
interface ReadyQueue {
  readonly queue: UserQueue;
  readonly usedMs: number;
  readonly number: number;
}

interface Entry {
  readonly number: number;
  /** Returns whether the task continues after this slice. */
  readonly run: () => boolean;
}

export class FairScheduler {
  readonly options: Readonly<typeof defaults>;
  readonly #queues = new Map<string, UserQueue>();
  readonly #ready = new TinyQueue<ReadyQueue>([], (a, b) => a.usedMs - b.usedMs || a.number - b.number);
  #waiting = 0;
  #lastNumber = 0;
  /** The used time of the user who was served last, which was the minimum of all waiting users. */
  #leastMs = 0;
  /** The time that tasks took since the event loop served other work. */
  #spentMs = 0;
  #isServingSoon = false;

  constructor(options: Partial<typeof defaults> = {}) {
    this.options = { ...defaults, ...options };
  }

  /** Runs the work immediately if nothing waits, otherwise in the user's next time slice. */
  run<T>(userId: string, work: Work<T>, options: TaskOptions = {}): PromiseOrValue<T> {
    const isAtLimit = (this.#queues.get(userId)?.running ?? 0) >= this.options.maxRunning;
    if (this.#isBusy || isAtLimit) return this.schedule(userId, work, options);
    const task = new ScheduledTask(this, userId, options);
    const start = this.options.now();
    try {
      const result = work(task);
      if (isPromise(result)) this.#countRunning(this.#queueOf(userId), result, task);
      return result;
    } finally {
      this.#spend(this.options.now() - start);
    }
  }

  /**
   * Like `run()`, but for a mutation. Waiting for the write lock or a password hash is not charged to the user. The mutation does not
   * count as one of the user's running tasks.
   */
  runWrite<T>(userId: string, work: Work<T>, options: TaskOptions = {}): PromiseOrValue<T> {
    if (this.#isBusy) return this.schedule(userId, work, options, true);
    return work(new ScheduledTask(this, userId, options));
  }

  /** For long work: always waits for the user's next time slice. */
  schedule<T>(userId: string, work: Work<T>, options: TaskOptions = {}, isWrite = false): Promise<T> {
    const done = Promise.withResolvers<T>();
    this.enqueue(userId, 'starts', (queue) => {
      const start = this.options.now();
      try {
        if (options.signal?.aborted) throw clientGone();
        const task = new ScheduledTask(this, userId, options);
        const result = work(task);
        done.resolve(result);
        if (!isPromise(result)) return false;
        if (!isWrite) this.#countRunning(queue, done.promise, task);
        return true;
      } catch (error) {
        done.reject(error);
        return false;
      } finally {
        const ms = this.options.now() - start;
        this.#charge(queue, ms * (options.charge ?? 1));
        this.#spend(ms);
      }
    });
    return done.promise;
  }

  /** Called by a task at the end of a slice. */
  chargeSlice(userId: string, ms: number, share: number): void {
    this.#charge(this.#queueOf(userId), ms * share);
    this.#spend(ms);
  }

  get #isBusy(): boolean {
    return this.#waiting > 0 || this.#spentMs >= maxSliceMs;
  }

  /** Runs an entry in the user's next time slice. */
  enqueue(userId: string, kind: 'starts' | 'resumes', run: (queue: UserQueue) => boolean): void {
    const queue = this.#queueOf(userId);
    queue.usedMs = Math.max(queue.usedMs, this.#leastMs - maxCreditMs);
    queue[kind].push({ number: ++this.#lastNumber, run: () => run(queue) });
    this.#waiting++;
    this.#addReady(queue);
    this.#serveSoon();
  }

  #queueOf(userId: string): UserQueue {
    let queue = this.#queues.get(userId);
    if (!queue) {
      this.#queues.set(userId, (queue = { starts: [], resumes: [], running: 0, usedMs: 0, isReady: false }));
    }
    return queue;
  }

  #spend(ms: number): void {
    this.#spentMs += ms;
    if (this.#spentMs >= minMsBeforeYield) this.#serveSoon();
  }

  #charge(queue: UserQueue, ms: number): void {
    queue.usedMs = Math.min(queue.usedMs + ms, this.#leastMs + this.options.maxAheadMs);
  }

  /** Counts a task that continues after its first slice, until the task ends. */
  #countRunning(queue: UserQueue, result: Promise<unknown>, task: ScheduledTask): void {
    queue.running++;
    task.startClock();
    const end = () => {
      queue.running--;
      task.pause();
      this.#addReady(queue);
      if (queue.starts.length > 0) this.#serveSoon();
    };
    result.then(end, end);
  }

  #serveSoon(): void {
    if (this.#isServingSoon) return;
    this.#isServingSoon = true;
    this.#waitRounds(1);
  }

  #waitRounds(round: number): void {
    this.options.defer(() =>
      round < Math.min(this.#spentMs, maxRounds) ? this.#waitRounds(round + 1) : this.#serve(),
    );
  }

  #serve(): void {
    this.#isServingSoon = false;
    this.#spentMs = 0;
    while (this.#spentMs < maxSliceMs) {
      const queue = this.#takeNextQueue();
      if (!queue) {
        if (this.#waiting === 0) this.#resetUsedTime();
        return;
      }
      this.#leastMs = queue.usedMs;
      this.#waiting--;
      const continues = this.#takeNextEntry(queue).run();
      this.#addReady(queue);
      // The promise callbacks of this task run next, and get the rest of the slice.
      if (continues) break;
    }
    this.#serveSoon();
  }

  /** Called when nothing waits: all users are equal again. */
  #resetUsedTime(): void {
    this.#leastMs = 0;
    for (const [userId, queue] of this.#queues) {
      if (queue.running === 0) this.#queues.delete(userId);
      else queue.usedMs = 0;
    }
  }

  #canBeServed({ starts, resumes, running }: UserQueue): boolean {
    return resumes.length > 0 || (starts.length > 0 && running < this.options.maxRunning);
  }

  #addReady(queue: UserQueue): void {
    if (queue.isReady || !this.#canBeServed(queue)) return;
    queue.isReady = true;
    this.#ready.push({ queue, usedMs: queue.usedMs, number: ++this.#lastNumber });
  }

  /** Takes the queue with the least used time from those that can be served; among equals, the one that was added first. */
  #takeNextQueue(): UserQueue | undefined {
    for (let next = this.#ready.pop(); next; next = this.#ready.pop()) {
      const { queue, usedMs } = next;
      queue.isReady = false;
      if (queue.usedMs === usedMs && this.#canBeServed(queue)) return queue;
      // The user has used more time since the queue was added.
      this.#addReady(queue);
    }
    return undefined;
  }

  #takeNextEntry({ starts, resumes, running }: UserQueue): Entry {
    const [start, resume] = [running < this.options.maxRunning ? starts[0] : undefined, resumes[0]];
    const isResumed = resume !== undefined && (start === undefined || resume.number < start.number);
    return (isResumed ? resumes : starts).shift()!;
  }
}

/** A task that counts its rows and time, and waits for the next slice of its user when a slice is over. */
class ScheduledTask implements Task {
  readonly #scheduler: FairScheduler;
  readonly #userId: string;
  readonly #options: TaskOptions;
  yields = 0;
  readonly pendingReads = new Set<Promise<unknown>>();
  #rows = 0;
  /** The task waits for something other than a time slice: this time is not charged. */
  #isPaused = false;
  /** When the measured part of the slice began; undefined while the scheduler measures the first slice. */
  #resumedAt: number | undefined;
  #startedAt: number;

  constructor(scheduler: FairScheduler, userId: string, options: TaskOptions) {
    this.#scheduler = scheduler;
    this.#userId = userId;
    this.#options = options;
    this.#startedAt = scheduler.options.now();
  }

  yieldBefore(rows: number): Promise<void> | undefined {
    const { maxRows, now } = this.#scheduler.options;
    const isOver = this.#rows > 0 && (this.#rows + rows > maxRows || now() - this.#startedAt >= maxSliceMs);
    if (!isOver) {
      this.#rows += rows;
      return undefined;
    }
    this.pause();
    this.yields++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#scheduler.enqueue(this.#userId, 'resumes', () => {
      if (this.#options.signal?.aborted) reject(clientGone());
      else {
        this.resume();
        this.#rows = rows;
        resolve();
      }
      return true;
    });
    return promise;
  }

  addRows(rows: number): void {
    this.#rows += rows;
  }

  resume(): void {
    this.#isPaused = false;
    this.startClock();
    this.#startedAt = this.#resumedAt!;
  }

  /** Begins to measure the time of the task. */
  startClock(): void {
    if (!this.#isPaused) this.#resumedAt = this.#scheduler.options.now();
  }

  /** Charges the time since the task was resumed. */
  pause(): void {
    this.#isPaused = true;
    if (this.#resumedAt === undefined) return;
    const ms = this.#scheduler.options.now() - this.#resumedAt;
    this.#resumedAt = undefined;
    this.#scheduler.chargeSlice(this.#userId, ms, this.#options.charge ?? 1);
  }
}
