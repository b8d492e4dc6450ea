/**
 * Backpressure for the responses of subscriptions. A response is computed only when its connection and its user may have
 * more unsent bytes. Until then the subscription waits and falls behind: nothing is queued per event, nothing is dropped.
 */

import { isPromise, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { clientGone } from '../../refusal.ts';
import { UsageByUser } from './usage-by-user.ts';

/** The limit for a connection. Above this limit, the client has to read before another response is computed. */
const maxUnsentBytes = 2 ** 20;
/** How many responses are computed at the same time. Few, because each can exceed the byte limits by its own size. */
const maxComputingPerConnection = 1;
const maxComputingPerUser = 2;
/** How long responses are sent before the event loop serves others: one change can concern thousands of subscriptions. */
const maxRoundMs = 10;
/** How many admitted responses may wait to begin. They run after the check of `maxRoundMs`, so a large number would exceed that time. */
const maxStarting = 8;
/** How soon to retry when no event signals the change, for example after a shortage of memory. */
const retryMs = 250;

/** The connections with responses to compute, by user. A user who is at a limit does not delay other users. */
export class ResponseQueue {
  readonly #isAdmitted: (userId: string, computing: number) => boolean;
  readonly #now: () => number;
  /** Connections that could send a response and wait to be admitted, in order of arrival, by user. */
  readonly #waitingConnections = new Map<string, Set<ConnectionBackpressure>>();
  readonly #computingCounts = new UsageByUser();
  /** Responses that are admitted and have not begun. */
  #startingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When responses were first admitted since the event loop served others. */
  #roundStart: number | undefined;

  /** `isAdmitted` decides whether the user may have a further response while `computing` responses are being computed. */
  constructor(
    isAdmitted: (userId: string, computing: number) => boolean,
    now: () => number = () => performance.now(),
  ) {
    this.#isAdmitted = isAdmitted;
    this.#now = now;
  }

  /** Counts a response of the user as being computed, unless it has to wait. */
  admitNow(userId: string): boolean {
    if (this.#waitingConnections.has(userId)) return false;
    if (!this.#mayCompute(userId)) return false;
    this.#startComputing(userId);
    return true;
  }

  /** Called when a connection has something to compute and is able to send it. */
  offer(connection: ConnectionBackpressure): void {
    if (!connection.isReady) return;
    const { userId } = connection;
    const connections = this.#waitingConnections.get(userId) ?? new Set();
    this.#waitingConnections.set(userId, connections.add(connection));
    this.#admit(userId, connections);
    this.#retryLater();
  }

  /** Called whenever a limit may allow more responses. */
  admitWaiting(): void {
    if (this.#waitingConnections.size === 0 || this.#isRoundOver) return;
    for (const [userId, connections] of this.#waitingConnections) {
      if (this.#startingCount >= maxStarting) return;
      this.#admit(userId, connections);
    }
  }

  release(userId: string): void {
    this.#computingCounts.add(userId, -1);
    this.admitWaiting();
  }

  /** Called when an admitted response begins. */
  begin(): void {
    if (--this.#startingCount === 0) this.admitWaiting();
  }

  #mayCompute(userId: string): boolean {
    const computing = this.#computingCounts.of(userId);
    return computing < maxComputingPerUser && !this.#isRoundOver && this.#isAdmitted(userId, computing);
  }

  get #isRoundOver(): boolean {
    return this.#roundStart !== undefined && this.#now() - this.#roundStart > maxRoundMs;
  }

  #startComputing(userId: string): void {
    this.#computingCounts.add(userId, 1);
    if (this.#roundStart !== undefined) return;
    this.#roundStart = this.#now();
    setImmediate(() => this.#beginRound());
  }

  #beginRound(): void {
    this.#roundStart = undefined;
    const [first] = this.#waitingConnections;
    if (first) {
      // Each round begins with another user.
      this.#waitingConnections.delete(first[0]);
      this.#waitingConnections.set(...first);
    }
    this.admitWaiting();
  }

  #admit(userId: string, connections: Set<ConnectionBackpressure>): void {
    for (const connection of connections) {
      if (this.#startingCount >= maxStarting || !this.#mayCompute(userId)) return;
      connections.delete(connection);
      if (!connection.isReady) continue;
      this.#startComputing(userId);
      this.#startingCount++;
      connection.startNext();
    }
    this.#waitingConnections.delete(userId);
  }

  #retryLater(): void {
    if (this.#timer || this.#waitingConnections.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.admitWaiting();
      this.#retryLater();
    }, retryMs).unref();
  }
}

/** One connection with subscriptions: a socket with many, or an event stream with one. */
export class ConnectionBackpressure {
  readonly userId: string;
  readonly #queue: ResponseQueue;
  readonly #addUnsentBytes: (bytes: number) => void;
  readonly #waitingStarts = new Set<() => void>();
  #computingCount = 0;
  #unsentBytes = 0;

  /** `addUnsentBytes` adds to the unsent bytes of the user. */
  constructor(userId: string, queue: ResponseQueue, addUnsentBytes: (bytes: number) => void) {
    this.userId = userId;
    this.#queue = queue;
    this.#addUnsentBytes = addUnsentBytes;
  }

  get isReady(): boolean {
    return this.#waitingStarts.size > 0 && this.#canSend;
  }

  get #canSend(): boolean {
    return this.#computingCount < maxComputingPerConnection && this.#unsentBytes < maxUnsentBytes;
  }

  /** Sets the number of bytes in memory that the client has not read yet. */
  setUnsent(bytes: number): void {
    const difference = bytes - this.#unsentBytes;
    if (difference === 0) return;
    this.#unsentBytes = bytes;
    this.#addUnsentBytes(difference);
    if (difference < 0) this.#queue.offer(this);
  }

  /** Starts a response if it does not have to wait. */
  tryStart(): boolean {
    if (this.#waitingStarts.size > 0 || !this.#canSend || !this.#queue.admitNow(this.userId)) return false;
    this.#computingCount++;
    return true;
  }

  /** Waits until a response may start. Rejects if the signal is aborted before. */
  waitToStart(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(clientGone());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      signal.removeEventListener('abort', cancel);
      this.#computingCount++;
      resolve();
    };
    const cancel = () => {
      this.#waitingStarts.delete(start);
      reject(clientGone());
    };
    this.#waitingStarts.add(start);
    signal.addEventListener('abort', cancel, { once: true });
    this.#queue.offer(this);
    return promise;
  }

  startNext(): void {
    const [start] = this.#waitingStarts;
    this.#waitingStarts.delete(start!);
    start!();
  }

  /** Called when a response that has waited begins. */
  begin(): void {
    this.#queue.begin();
  }

  /** Called once for each response that was started. */
  release(): void {
    this.#computingCount--;
    this.#queue.offer(this);
    this.#queue.release(this.userId);
  }
}

/** The responses of one subscription, one at a time. */
export class ResponseSlot {
  readonly #connection: ConnectionBackpressure;
  readonly #signal: AbortSignal;
  #isComputing = false;

  constructor(connection: ConnectionBackpressure, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Computes a response as soon as it may start. It counts as being computed until `release` is called. */
  readonly compute = <T>(respond: () => PromiseOrValue<T>): PromiseOrValue<T> =>
    !this.#signal.aborted && this.#connection.tryStart()
      ? this.#compute(respond)
      : this.#connection.waitToStart(this.#signal).then(() => {
          this.#connection.begin();
          return this.#compute(respond);
        });

  /** Called when the response counts as unsent bytes of its connection, or is discarded. */
  release(): void {
    if (!this.#isComputing) return;
    this.#isComputing = false;
    this.#connection.release();
  }

  #compute<T>(respond: () => PromiseOrValue<T>): PromiseOrValue<T> {
    this.#isComputing = true;
    const fail = (error: unknown): never => {
      this.release();
      throw error;
    };
    try {
      const response = respond();
      return isPromise(response) ? response.catch(fail) : response;
    } catch (error) {
      return fail(error);
    }
  }
}
