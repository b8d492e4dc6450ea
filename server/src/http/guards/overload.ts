/**
 * Refuses new graph operations and logins when the server is overloaded. Never refuses verify, refresh or probe requests.
 * Decides by counts, CPU time and memory of this process, so a slow or busy machine does not look like an attack.
 */

import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { isPromise, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { Refusal } from '../../refusal.ts';
import { ConnectionBackpressure, ResponseQueue } from './backpressure.ts';
import { UsageByUser } from './usage-by-user.ts';

export interface Load {
  /** Little heap is left, even after a garbage collection. */
  readonly isMemoryShort: boolean;
  /** For several checks in a row, this process has used seconds of CPU time between two checks. */
  readonly isBehind: boolean;
}

export interface AdmissionLimits {
  /** The maximum number of graph operations that have no response yet: of all users together, and of each user. */
  readonly operations: number;
  readonly operationsPerUser: number;
  /**
   * The maximum number of bytes in request bodies that have no response yet and in unsent responses. The same limits
   * apply a second time to the requests of open operations on sockets and event streams.
   */
  readonly bodyBytes: number;
  readonly bodyBytesPerUser: number;
}

/** A shorter body is not counted, because its connection needs more memory. */
export const smallBodyBytes = 64 * 1024;

const maxBodyBytes = 32 * 2 ** 20;

/** Memory of an open subscription with a request of up to `freeRequestBytes`. */
const subscriptionBytes = 2 * 1024;
const freeRequestBytes = 1024;
/** A parsed request needs this many times its own bytes. */
const parsedFactor = 32;

function defaultLimits(): AdmissionLimits {
  const heapBytes = getHeapStatistics().heap_size_limit;
  const bodyBytes = Math.min(8 * maxBodyBytes, Math.max(2 * maxBodyBytes, heapBytes / 4));
  return { operations: 2_000, operationsPerUser: 1_000, bodyBytes, bodyBytesPerUser: bodyBytes / 2 };
}

export class Admission {
  readonly #load: Load;
  readonly #limits: AdmissionLimits;
  readonly #responses: ResponseQueue;
  /** Bytes of large bodies and unsent responses. */
  readonly #bytes = new UsageByUser(() => this.#responses.admitWaiting());
  readonly #operations = new UsageByUser();
  /** Estimated bytes of the requests of open operations. */
  readonly #requestBytes = new UsageByUser();

  constructor(load: Load, limits: AdmissionLimits = defaultLimits(), now?: () => number) {
    this.#load = load;
    this.#limits = limits;
    this.#responses = new ResponseQueue((userId, computing) => this.#mayCompute(userId, computing), now);
  }

  checkMemory(): void {
    if (this.#load.isMemoryShort) throw overloaded('The server is short of memory.');
  }

  /** Called when an operation arrives. */
  checkOperation(userId: string): void {
    const { operations, operationsPerUser } = this.#limits;
    this.checkMemory();
    if (this.#load.isBehind) throw overloaded('The server is overloaded.');
    if (this.#operations.total >= operations) throw overloaded('Too many operations are waiting.');
    if (this.#operations.of(userId) >= operationsPerUser) {
      throw overloaded('You have too many operations waiting.');
    }
  }

  /** Called when an operation starts: there must be memory for its response and for the unsent responses. */
  checkStart(userId: string): void {
    this.checkMemory();
    this.#requireBytes(userId, 0);
  }

  /** Counts an operation until it settles. An operation with an immediate result is not counted. */
  countOperation<T>(userId: string, work: PromiseOrValue<T>): PromiseOrValue<T> {
    if (!isPromise(work)) return work;
    return work.finally(this.#operations.take(userId, 1));
  }

  /** Reserves bytes of a body that arrives, or refuses the body. Returns a function that releases them. */
  reserveBody(userId: string, bytes: number): () => void {
    this.#requireBytes(userId, bytes);
    return this.#bytes.take(userId, bytes);
  }

  /** Counts bytes of a finished response, which stays in memory until it is sent. */
  countResponse(userId: string, bytes: number): () => void {
    return this.#bytes.take(userId, bytes);
  }

  /** Reserves memory for the request of an open operation. For a large body, counts only the part that `reserveBody` does not count. */
  reserveRequest(userId: string, bytes: number): () => void {
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    const neededBytes =
      subscriptionBytes + parsedFactor * Math.max(0, Math.min(bytes, smallBodyBytes) - freeRequestBytes);
    if (this.#requestBytes.total + neededBytes > bodyBytes) {
      throw overloaded('Too many large operations are open.');
    }
    if (this.#requestBytes.of(userId) + neededBytes > bodyBytesPerUser) {
      throw overloaded('You have too many large operations open. Close one first.');
    }
    return this.#requestBytes.take(userId, neededBytes);
  }

  /** For a connection with subscriptions. Their responses wait instead of being refused. */
  connect(userId: string): ConnectionBackpressure {
    return new ConnectionBackpressure(userId, this.#responses, (bytes) => this.#bytes.add(userId, bytes));
  }

  /**
   * A user may use no more than the amount that is left for others, so that several users together do not use everything. A
   * user who reads can always have one response at a time, even if large responses of others exceed the limit.
   */
  #mayCompute(userId: string, computing: number): boolean {
    if (this.#load.isMemoryShort) return false;
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    const usedBytes = this.#bytes.of(userId);
    if (usedBytes === 0 && computing === 0) return true;
    return usedBytes < Math.min(bodyBytesPerUser, bodyBytes - this.#bytes.total);
  }

  #requireBytes(userId: string, bytes: number): void {
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    if (this.#bytes.total + bytes > bodyBytes) {
      throw overloaded('Too many large requests and responses are in progress.');
    }
    if (this.#bytes.of(userId) + bytes > bodyBytesPerUser) {
      throw overloaded('You have too many large requests and responses in progress.');
    }
  }
}

function overloaded(reason: string): Refusal {
  return new Refusal('UNAVAILABLE', `${reason} Try again in a moment.`, { retryAfterSeconds: 2 });
}

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

const checkEveryMs = 1_000;
/** CPU time between two checks. Without a backlog it is at most about one second. */
const busyMs = 3_000;
const calmMs = 1_500;
/** A single check may be busy: five hundred requests in one instant are not an overload. */
const minBusyChecks = 3;
const maxHeapShare = 0.85;
/** After this number of checks, requests are accepted again to find out whether memory is still short. */
const shortMemoryChecks = 5;

/** Measures the CPU time of the main thread, and the heap that is still in use after a garbage collection. */
export class LoadMonitor implements Load {
  #busyChecks = 0;
  #checksUntilRetry = 0;
  readonly #onChange: (load: Load) => void;
  #reportedLoad: Load = { isMemoryShort: false, isBehind: false };

  constructor(onChange: (load: Load) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get isBehind(): boolean {
    return this.#busyChecks >= minBusyChecks;
  }

  get isMemoryShort(): boolean {
    return this.#checksUntilRetry > 0;
  }

  /** Called every second; later if the event loop is blocked. */
  recordCpu(cpuMs: number): void {
    if (cpuMs >= busyMs) this.#busyChecks++;
    else if (!this.isBehind || cpuMs < calmMs) this.#busyChecks = 0;
    if (this.#checksUntilRetry > 0) this.#checksUntilRetry--;
    this.#report();
  }

  /** Called after a full garbage collection with the share of the heap that is still in use. */
  recordHeap(share: number): void {
    this.#checksUntilRetry = share > maxHeapShare ? shortMemoryChecks : 0;
    this.#report();
  }

  /** Returns a function that stops the monitor. */
  start(): () => void {
    const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.threadCpuUsage };
    let last = threadCpuUsage?.();
    const timer = setInterval(() => {
      // Node before 22.19 cannot measure a single thread, and other threads hash passwords.
      const used = last && threadCpuUsage!(last);
      last = threadCpuUsage?.();
      this.recordCpu(used ? (used.user + used.system) / 1000 : 0);
    }, checkEveryMs);
    timer.unref();
    const observer = new PerformanceObserver((list) => {
      const isMajor = list
        .getEntries()
        .some((entry) => (entry as GcEntry).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (!isMajor) return;
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.recordHeap(used / limit);
    });
    observer.observe({ entryTypes: ['gc'] });
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  }

  #report(): void {
    const { isBehind, isMemoryShort } = this;
    if (isBehind === this.#reportedLoad.isBehind && isMemoryShort === this.#reportedLoad.isMemoryShort)
      return;
    this.#reportedLoad = { isBehind, isMemoryShort };
    this.#onChange(this.#reportedLoad);
  }
}
