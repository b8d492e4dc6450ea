/**
 * Work that is refused because there is too much of it: new operations on the graph, new logins. Verifying, refreshing
 * and the probes are never refused. All of it is counted; nothing depends on how fast the machine is, or how loaded.
 */

import { getHeapStatistics } from 'node:v8';
import { isPromise, type PromiseOrValue } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { ConnectionRoom, ResponseQueue } from './response-room.ts';

export interface Load {
  /** Even after the garbage was collected, hardly any memory is left. */
  readonly isMemoryShort: boolean;
  /** For some time each round of requests has taken seconds of this process's own work. */
  readonly isBehind: boolean;
}

export interface PressureLimits {
  /** Operations on the graph that were asked for and are not answered: of all people, and of one. */
  readonly operations: number;
  readonly operationsOfOne: number;
  /**
   * Bodies of requests that are not answered, and answers that are not sent: of all people, and of one. The same again for
   * the requests behind open operations of sockets and event streams.
   */
  readonly bodyBytes: number;
  readonly bodyBytesOfOne: number;
}

/** So short a body is not counted: it is nothing beside the connection that it came over. */
export const smallBodyBytes = 64 * 1024;

const longestBody = 32 * 2 ** 20;

/** An open subscription takes so much in any case, with a request of up to `freeRequestBytes`. */
const subscriptionBytes = 2 * 1024;
const freeRequestBytes = 1024;
/** A request that is kept takes so many times its own bytes once it is parsed. */
const parsedFactor = 32;

export function usualLimits(heapBytes: number = getHeapStatistics().heap_size_limit): PressureLimits {
  const bodyBytes = Math.min(8 * longestBody, Math.max(2 * longestBody, heapBytes / 4));
  return { operations: 2_000, operationsOfOne: 1_000, bodyBytes, bodyBytesOfOne: bodyBytes / 2 };
}

export class Pressure {
  readonly #load: Load;
  readonly #limits: PressureLimits;
  readonly #responses: ResponseQueue;
  readonly #bytesOf = new Shares(() => this.#responses.admitAll());
  readonly #operationsOf = new Shares();
  /** Estimated bytes of the requests behind open operations. */
  readonly #requestsOf = new Shares();

  constructor(load: Load, limits: PressureLimits = usualLimits(), now?: () => number) {
    this.#load = load;
    this.#limits = limits;
    const hasRoom = (userId: string, computing: number) => this.#hasRoomForResponse(userId, computing);
    this.#responses = new ResponseQueue(hasRoom, now);
  }

  checkLogin(): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
  }

  /** When an operation is asked for. */
  checkGraph(userId: string): void {
    const { operations, operationsOfOne } = this.#limits;
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
    if (this.#load.isBehind) throw tooMuch('There is more to do than can be done.');
    if (this.#operationsOf.total >= operations) throw tooMuch('Too many operations wait.');
    if (this.#operationsOf.of(userId) >= operationsOfOne)
      throw tooMuch('You have too many operations waiting.');
  }

  /** When it is the turn of an operation: its answer must find room, and so must those that nobody has taken yet. */
  checkTurn(userId: string): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
    this.#requireRoom(userId, 0);
  }

  /** What is answered at once is never one of many. */
  count<T>(userId: string, work: PromiseOrValue<T>): PromiseOrValue<T> {
    if (!isPromise(work)) return work;
    return work.finally(this.#operationsOf.take(userId, 1));
  }

  /** Counts bytes of a body that somebody sends; answers with what takes them back. */
  hold(userId: string, bytes: number): () => void {
    this.#requireRoom(userId, bytes);
    return this.#bytesOf.take(userId, bytes);
  }

  /** Counts bytes of an answer that is there: it is kept in any case, until it is sent. */
  keep(userId: string, bytes: number): () => void {
    return this.#bytesOf.take(userId, bytes);
  }

  /** Counts a request that is kept while its operation is open; of a large body, what `hold` does not count. */
  keepRequest(userId: string, bytes: number): () => void {
    const { bodyBytes, bodyBytesOfOne } = this.#limits;
    const taken =
      subscriptionBytes + parsedFactor * Math.max(0, Math.min(bytes, smallBodyBytes) - freeRequestBytes);
    if (this.#requestsOf.total + taken > bodyBytes) throw tooMuch('Too many large operations are open.');
    if (this.#requestsOf.of(userId) + taken > bodyBytesOfOne) {
      throw tooMuch('You have too many large operations open. Close some of them.');
    }
    return this.#requestsOf.take(userId, taken);
  }

  /** For a connection with subscriptions: their responses wait for room instead of being refused. */
  connect(userId: string): ConnectionRoom {
    return new ConnectionRoom(userId, this.#responses, (bytes) => this.#bytesOf.add(userId, bytes));
  }

  /**
   * A user may take as much as is left, so that several users together do not take all of it. One response at a time is
   * always possible for a user who reads: large responses of others can exceed the limit.
   */
  #hasRoomForResponse(userId: string, computing: number): boolean {
    if (this.#load.isMemoryShort) return false;
    const { bodyBytes, bodyBytesOfOne } = this.#limits;
    const taken = this.#bytesOf.of(userId);
    if (taken === 0 && computing === 0) return true;
    return taken < Math.min(bodyBytesOfOne, bodyBytes - this.#bytesOf.total);
  }

  #requireRoom(userId: string, bytes: number): void {
    const { bodyBytes, bodyBytesOfOne } = this.#limits;
    if (this.#bytesOf.total + bytes > bodyBytes)
      throw tooMuch('Too many large requests and answers at once.');
    if (this.#bytesOf.of(userId) + bytes > bodyBytesOfOne) {
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
