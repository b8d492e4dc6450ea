/**
 * Work that is refused because there is too much of it: new operations on the graph, new logins. Verifying, refreshing
 * and the probes are never refused. All of it is counted; nothing depends on how fast the machine is, or how loaded.
 */

import { getHeapStatistics } from 'node:v8';
import { isPromise, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { Refusal } from '../../refusal.ts';
import { ConnectionBackpressure, ResponseQueue } from './backpressure.ts';
import { type PerformanceEntry, PerformanceObserver, constants } from 'perf_hooks';


export interface Load {
  /** Even after the garbage was collected, hardly any memory is left. */
  readonly isMemoryShort: boolean;
  /** For some time each round of requests has taken seconds of this process's own work. */
  readonly isBehind: boolean;
}

export interface AdmissionLimits {
  /** Operations on the graph that were asked for and are not answered: of all people, and of one. */
  readonly operations: number;
  readonly operationsPerUser: number;
  /**
   * Bodies of requests that are not answered, and answers that are not sent: of all people, and of one. The same again for
   * the requests behind open operations of sockets and event streams.
   */
  readonly bodyBytes: number;
  readonly bodyBytesPerUser: number;
}

/** So short a body is not counted: it is nothing beside the connection that it came over. */
export const smallBodyBytes = 64 * 1024;

const longestBody = 32 * 2 ** 20;

/** An open subscription takes so much in any case, with a request of up to `freeRequestBytes`. */
const subscriptionBytes = 2 * 1024;
const freeRequestBytes = 1024;
/** A request that is kept takes so many times its own bytes once it is parsed. */
const parsedFactor = 32;

export function defaultLimits(heapBytes: number = getHeapStatistics().heap_size_limit): AdmissionLimits {
  const bodyBytes = Math.min(8 * longestBody, Math.max(2 * longestBody, heapBytes / 4));
  return { operations: 2_000, operationsPerUser: 1_000, bodyBytes, bodyBytesPerUser: bodyBytes / 2 };
}

export class Admission {
  readonly #load: Load;
  readonly #limits: AdmissionLimits;
  readonly #responses: ResponseQueue;
  readonly #bytesOf = new Shares(() => this.#responses.admitAll());
  readonly #operationsOf = new Shares();
  /** Estimated bytes of the requests behind open operations. */
  readonly #requestsOf = new Shares();

  constructor(load: Load, limits: AdmissionLimits = defaultLimits(), now?: () => number) {
    this.#load = load;
    this.#limits = limits;
    const hasRoom = (userId: string, computing: number) => this.#hasRoomForResponse(userId, computing);
    this.#responses = new ResponseQueue(hasRoom, now);
  }

  checkLogin(): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
  }

  /** When an operation is asked for. */
  checkOperation(userId: string): void {
    const { operations, operationsPerUser } = this.#limits;
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
    if (this.#load.isBehind) throw tooMuch('There is more to do than can be done.');
    if (this.#operationsOf.total >= operations) throw tooMuch('Too many operations wait.');
    if (this.#operationsOf.of(userId) >= operationsPerUser)
      throw tooMuch('You have too many operations waiting.');
  }

  /** When it is the turn of an operation: its answer must find room, and so must those that nobody has taken yet. */
  checkStart(userId: string): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
    this.#requireRoom(userId, 0);
  }

  /** What is answered at once is never one of many. */
  countOperation<T>(userId: string, work: PromiseOrValue<T>): PromiseOrValue<T> {
    if (!isPromise(work)) return work;
    return work.finally(this.#operationsOf.take(userId, 1));
  }

  /** Counts bytes of a body that somebody sends; answers with what takes them back. */
  reserveBody(userId: string, bytes: number): () => void {
    this.#requireRoom(userId, bytes);
    return this.#bytesOf.take(userId, bytes);
  }

  /** Counts bytes of an answer that is there: it is kept in any case, until it is sent. */
  countResponse(userId: string, bytes: number): () => void {
    return this.#bytesOf.take(userId, bytes);
  }

  /** Counts a request that is kept while its operation is open; of a large body, what `hold` does not count. */
  reserveRequest(userId: string, bytes: number): () => void {
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    const taken =
      subscriptionBytes + parsedFactor * Math.max(0, Math.min(bytes, smallBodyBytes) - freeRequestBytes);
    if (this.#requestsOf.total + taken > bodyBytes) throw tooMuch('Too many large operations are open.');
    if (this.#requestsOf.of(userId) + taken > bodyBytesPerUser) {
      throw tooMuch('You have too many large operations open. Close some of them.');
    }
    return this.#requestsOf.take(userId, taken);
  }

  /** For a connection with subscriptions: their responses wait for room instead of being refused. */
  connect(userId: string): ConnectionBackpressure {
    return new ConnectionBackpressure(userId, this.#responses, (bytes) => this.#bytesOf.add(userId, bytes));
  }

  /**
   * A user may take as much as is left, so that several users together do not take all of it. One response at a time is
   * always possible for a user who reads: large responses of others can exceed the limit.
   */
  #hasRoomForResponse(userId: string, computing: number): boolean {
    if (this.#load.isMemoryShort) return false;
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    const taken = this.#bytesOf.of(userId);
    if (taken === 0 && computing === 0) return true;
    return taken < Math.min(bodyBytesPerUser, bodyBytes - this.#bytesOf.total);
  }

  #requireRoom(userId: string, bytes: number): void {
    const { bodyBytes, bodyBytesPerUser } = this.#limits;
    if (this.#bytesOf.total + bytes > bodyBytes)
      throw tooMuch('Too many large requests and answers at once.');
    if (this.#bytesOf.of(userId) + bytes > bodyBytesPerUser) {
      throw tooMuch('You have too many large requests and answers under way.');
    }
  }
}

/** Of something that there is only so much of, how much each person has taken. */
class Shares {
  readonly #of = new Map<string, number>();
  readonly #onLess: () => void;
  total = 0;

  constructor(onLess: () => void = () => undefined) {
    this.#onLess = onLess;
  }

  of(userId: string): number {
    return this.#of.get(userId) ?? 0;
  }

  /** Answers with what gives it back. */
  take(userId: string, amount: number): () => void {
    this.add(userId, amount);
    return () => this.add(userId, -amount);
  }

  add(userId: string, amount: number): void {
    const share = this.of(userId) + amount;
    this.total += amount;
    if (share > 0) this.#of.set(userId, share);
    else this.#of.delete(userId);
    if (amount < 0) this.#onLess();
  }
}

function tooMuch(reason: string): Refusal {
  return new Refusal('UNAVAILABLE', `${reason} Try again in a moment.`, { retryAfterSeconds: 2 });
}
type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
const lookEveryMs = 1000;
/** Between two looks; with less to do there would be about a second of it, or nothing. */
const busyMs = 3000;
const calmMs = 1500;
/** One round may be long: five hundred requests that come at the same instant are no trouble. */
const mostBusyLooks = 3;
const mostHeap = 0.85;
/** Then some requests are let in again, and show whether it has become better. */
const shortMemoryLooks = 5;

export class LoadMonitor implements Load {
  #busyLooks = 0;
  #looksUntilEased = 0;
  readonly #onChange: (load: Load) => void;
  #told: Load = { isMemoryShort: false, isBehind: false };

  constructor(onChange: (load: Load) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get isBehind(): boolean {
    return this.#busyLooks >= mostBusyLooks;
  }

  get isMemoryShort(): boolean {
    return this.#looksUntilEased > 0;
  }

  /** Every second or, if the process is behind, when it comes to it. */
  recordCpu(cpuMs: number): void {
    if (cpuMs >= busyMs) this.#busyLooks++;
    else if (!this.isBehind || cpuMs < calmMs) this.#busyLooks = 0;
    if (this.#looksUntilEased > 0) this.#looksUntilEased--;
    this.#tell();
  }

  /** After all garbage was collected: the share of the heap that is still in use. */
  recordHeap(share: number): void {
    this.#looksUntilEased = share > mostHeap ? shortMemoryLooks : 0;
    this.#tell();
  }

  /** Answers with what ends it. */
  start(): () => void {
    const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.threadCpuUsage };
    let last = threadCpuUsage?.();
    const timer = setInterval(() => {
      // Node before 22.15 does not tell what one thread has used, and other threads hash passwords.
      const used = last && threadCpuUsage!(last);
      last = threadCpuUsage?.();
      this.recordCpu(used ? (used.user + used.system) / 1000 : 0);
    }, lookEveryMs);
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

  #tell(): void {
    const { isBehind, isMemoryShort } = this;
    if (isBehind === this.#told.isBehind && isMemoryShort === this.#told.isMemoryShort) return;
    this.#told = { isBehind, isMemoryShort };
    this.#onChange(this.#told);
  }
}
