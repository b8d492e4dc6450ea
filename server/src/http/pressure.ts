/**
 * Work that is refused because there is too much of it: new operations on the graph, new logins. Verifying, refreshing
 * and the probes are never refused. All of it is counted; nothing depends on how fast the machine is, or how loaded.
 */

import { getHeapStatistics } from 'node:v8';
import { isPromise, type PromiseOrValue } from '../database/database.ts';
import { Refusal } from '../refusal.ts';

export interface Load {
  /** Even after the garbage was collected, hardly any memory is left. */
  readonly isMemoryShort: boolean;
  /** For some time each round of requests has taken seconds of this process's own work. */
  readonly isBehind: boolean;
}

export interface PressureLimits {
  /** Operations on the graph that have begun and are not answered. */
  readonly operations: number;
  /** Bodies of requests that are not answered: of all people, and of one. */
  readonly bodyBytes: number;
  readonly bodyBytesOfOne: number;
}

/** So short a body is not counted: it is nothing beside the connection that it came over. */
export const smallBodyBytes = 64 * 1024;

const longestBody = 32 * 2 ** 20;

export function usualLimits(heapBytes: number = getHeapStatistics().heap_size_limit): PressureLimits {
  const bodyBytes = Math.min(8 * longestBody, Math.max(2 * longestBody, heapBytes / 4));
  return { operations: 2_000, bodyBytes, bodyBytesOfOne: bodyBytes / 2 };
}

export class Pressure {
  readonly #load: Load;
  readonly #limits: PressureLimits;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  #operations = 0;

  constructor(load: Load, limits: PressureLimits = usualLimits()) {
    this.#load = load;
    this.#limits = limits;
  }

  checkLogin(): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
  }

  checkGraph(): void {
    if (this.#load.isMemoryShort) throw tooMuch('Memory is short.');
    if (this.#load.isBehind) throw tooMuch('There is more to do than can be done.');
    if (this.#operations >= this.#limits.operations) throw tooMuch('Too many operations wait.');
  }

  /** What is answered at once is never one of many. */
  count<T>(work: PromiseOrValue<T>): PromiseOrValue<T> {
    if (!isPromise(work)) return work;
    this.#operations++;
    return work.finally(() => this.#operations--);
  }

  /** Counts bytes of a body that somebody sends; answers with what takes them back. */
  hold(userId: string, bytes: number): () => void {
    const { bodyBytes, bodyBytesOfOne } = this.#limits;
    const held = this.#bytesOf.get(userId) ?? 0;
    if (this.#bytes + bytes > bodyBytes) throw tooMuch('Too many large requests at once.');
    if (held + bytes > bodyBytesOfOne) throw tooMuch('You have too many large requests under way.');
    this.#add(userId, bytes);
    return () => this.#add(userId, -bytes);
  }

  #add(userId: string, bytes: number): void {
    const held = (this.#bytesOf.get(userId) ?? 0) + bytes;
    this.#bytes += bytes;
    if (held > 0) this.#bytesOf.set(userId, held);
    else this.#bytesOf.delete(userId);
  }
}

function tooMuch(reason: string): Refusal {
  return new Refusal('UNAVAILABLE', `${reason} Try again in a moment.`, { retryAfterSeconds: 2 });
}
