/**
 * A cooperative scheduler that shares computing time fairly among users: the user who has used the least time is next.
 * Tasks run in time slices of a few milliseconds, and between two slices the event loop serves everything else. A long
 * task calls `yieldBefore` before each step, and waits for its user's next turn when its slice is over.
 */

import TinyQueue from 'tinyqueue';
import { abandoned } from '../refusal.ts';
import { isPromise, type PromiseOrValue } from './promise-or-value.ts';
import { maxSliceMs, ScheduledTask } from './scheduled-task.ts';

export interface Scheduler {
  /** Runs the work at once if nothing waits, otherwise at the user's turn. */
  run<T>(userId: string, work: Work<T>, options?: TaskOptions): PromiseOrValue<T>;
  /**
   * The same for a mutation. Its waiting time for the write lock or for a password hash is not charged to the user, and
   * it does not count as one of the user's running tasks.
   */
  runWrite<T>(userId: string, work: Work<T>, options?: TaskOptions): PromiseOrValue<T>;
  /** Always waits for the user's turn: for long work. */
  schedule<T>(userId: string, work: Work<T>, options?: TaskOptions): Promise<T>;
}

export type Work<T> = (task: Task) => PromiseOrValue<T>;

/** Divides its work into time slices. */
export interface Task {
  /**
   * Called before a step that examines so many rows, or completes so many values. Undefined if the step belongs to the
   * current slice; otherwise resolves at the user's next turn, and the step is the first of the next slice.
   */
  yieldBefore(rows: number): Promise<void> | undefined;
  /** Called after a step that took more rows than expected. */
  addRows(rows: number): void;
  /** Called before a wait for something else than a turn, for example for the database: it is not charged. */
  pause(): void;
  /** Called after such a wait. */
  resume(): void;
  /** How often it has yielded. */
  readonly yields: number;
  /** The reads that wait for a turn or for the database. */
  readonly pendingReads: Set<Promise<unknown>>;
}

export interface TaskOptions {
  /** Aborted when the result is not needed: a task that waits for its turn then fails. */
  readonly signal?: Pick<AbortSignal, 'aborted'> | undefined;
  /** The share of the computing time that is charged to the user; 1 by default. */
  readonly charge?: number;
}

export interface FairSchedulerOptions {
  readonly maxAheadMs?: number;
  readonly maxRunning?: number;
  readonly maxRows?: number;
  /** Calls back after the event loop has served other work. */
  readonly defer?: (resume: () => void) => void;
  readonly now?: () => number;
}

/** How many rows one time slice may examine, and values it may complete. Each takes about a microsecond. */
export const maxRowsPerSlice = 2_000;
/**
 * Events of subscriptions are charged less than requests. Otherwise they fall behind on a server that is busy with
 * changes, because each change causes an event for every subscriber.
 */
export const eventCharge = 0.25;
/** A round of the event loop costs as much as a short query, so several short queries share one. */
const minMsBeforeYield = 1;
/** How much more time than the others a user can have used. Without a limit, an hour of work would cause an hour of waiting. */
const defaultMaxAheadMs = 1_000;
/** The most credit that an idle user collects. A returning user can delay all others for this long. */
const maxCreditMs = 20;
/**
 * The event loop accepts one new connection in each round. It makes one round for each millisecond that the work took,
 * up to this limit. Otherwise a new client would wait for a query of every client before it. An idle round takes microseconds.
 */
const maxRounds = 100;
/** Each running task holds a database connection, and one user must not occupy all connections. */
const defaultMaxRunning = 8;

/** The waiting work of one user. */
interface UserQueue {
  /** Tasks that have not begun. */
  readonly starts: Entry[];
  /** Tasks that wait for their next slice. */
  readonly resumes: Entry[];
  /** How many tasks have begun and not ended. */
  running: number;
  usedMs: number;
  /** The queue is in the priority queue. */
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
  /** Returns whether the task goes on after this slice. */
  readonly run: () => boolean;
}

export class FairScheduler implements Scheduler {
  readonly #maxAheadMs: number;
  readonly #maxRunning: number;
  readonly #defer: (resume: () => void) => void;
  readonly maxRows: number;
  readonly now: () => number;
  readonly #queues = new Map<string, UserQueue>();
  readonly #ready = new TinyQueue<ReadyQueue>([], (a, b) => a.usedMs - b.usedMs || a.number - b.number);
  #waiting = 0;
  #lastNumber = 0;
  /** The used time of the user who was served last, which was the minimum of all waiting users. */
  #leastMs = 0;
  /** The time that tasks took since the event loop served other work. */
  #spentMs = 0;
  #isServingSoon = false;

  constructor({
    maxAheadMs = defaultMaxAheadMs,
    maxRunning = defaultMaxRunning,
    maxRows = maxRowsPerSlice,
    defer = setImmediate,
    now = () => performance.now(),
  }: FairSchedulerOptions = {}) {
    this.#maxAheadMs = maxAheadMs;
    this.#maxRunning = maxRunning;
    this.#defer = defer;
    this.maxRows = maxRows;
    this.now = now;
  }

  run<T>(userId: string, work: Work<T>, options: TaskOptions = {}): PromiseOrValue<T> {
    const isAtLimit = (this.#queues.get(userId)?.running ?? 0) >= this.#maxRunning;
    if (this.#isBusy || isAtLimit) return this.schedule(userId, work, options);
    const task = new ScheduledTask(this, userId, options);
    const result = this.#measure(() => work(task));
    if (isPromise(result)) this.#countRunning(this.#queueOf(userId), result, task);
    return result;
  }

  runWrite<T>(userId: string, work: Work<T>, options: TaskOptions = {}): PromiseOrValue<T> {
    if (this.#isBusy) return this.#enqueueStart(userId, work, options, true);
    return work(new ScheduledTask(this, userId, options));
  }

  schedule<T>(userId: string, work: Work<T>, options: TaskOptions = {}): Promise<T> {
    return this.#enqueueStart(userId, work, options, false);
  }

  /** Called by a task: `resume` runs at the user's next turn. */
  enqueueResume(userId: string, resume: () => void): void {
    this.#enqueue(userId, 'resumes', () => {
      resume();
      return true;
    });
  }

  /** Called by a task at the end of a slice. */
  chargeSlice(userId: string, ms: number, share: number): void {
    this.#charge(this.#queueOf(userId), ms * share);
    this.#spend(ms);
  }

  get #isBusy(): boolean {
    return this.#waiting > 0 || this.#spentMs >= maxSliceMs;
  }

  #enqueueStart<T>(userId: string, work: Work<T>, options: TaskOptions, isWrite: boolean): Promise<T> {
    const done = Promise.withResolvers<T>();
    this.#enqueue(userId, 'starts', (queue) => {
      if (options.signal?.aborted) {
        done.reject(abandoned());
        return false;
      }
      const task = new ScheduledTask(this, userId, options);
      const start = this.now();
      try {
        const result = this.#measure(() => work(task));
        done.resolve(result);
        if (!isPromise(result)) return false;
        if (!isWrite) this.#countRunning(queue, done.promise, task);
        return true;
      } catch (error) {
        done.reject(error);
        return false;
      } finally {
        this.#charge(queue, (this.now() - start) * (options.charge ?? 1));
      }
    });
    return done.promise;
  }

  #enqueue(userId: string, kind: 'starts' | 'resumes', run: (queue: UserQueue) => boolean): void {
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
      queue = { starts: [], resumes: [], running: 0, usedMs: 0, isReady: false };
      this.#queues.set(userId, queue);
    }
    return queue;
  }

  #measure<T>(work: () => T): T {
    const start = this.now();
    try {
      return work();
    } finally {
      this.#spend(this.now() - start);
    }
  }

  #spend(ms: number): void {
    this.#spentMs += ms;
    if (this.#spentMs >= minMsBeforeYield) this.#serveSoon();
  }

  #charge(queue: UserQueue, ms: number): void {
    queue.usedMs = Math.min(queue.usedMs + ms, this.#leastMs + this.#maxAheadMs);
  }

  /** Counts a task that goes on after its first slice, until it ends. */
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
    this.#defer(() =>
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
      const goesOn = this.#takeNextEntry(queue).run();
      this.#addReady(queue);
      // The promises of this task run before anything else: they get the rest of the slice.
      if (goesOn) break;
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
    return resumes.length > 0 || (starts.length > 0 && running < this.#maxRunning);
  }

  #addReady(queue: UserQueue): void {
    if (queue.isReady || !this.#canBeServed(queue)) return;
    queue.isReady = true;
    this.#ready.push({ queue, usedMs: queue.usedMs, number: ++this.#lastNumber });
  }

  /** Of the users who can be served, the one with the least used time; among equals the one who came first. */
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
    const [start, resume] = [running < this.#maxRunning ? starts[0] : undefined, resumes[0]];
    const isResumed = resume !== undefined && (start === undefined || resume.number < start.number);
    return (isResumed ? resumes : starts).shift()!;
  }
}
