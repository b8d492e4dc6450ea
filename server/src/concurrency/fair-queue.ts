/**
 * A semaphore that shares its permits fairly. Waiting jobs are grouped by key (for example a client address), and free permits go
 * to the keys in round-robin order. The jobs of one key alternate between its subkeys in the same way. A key with one waiting job
 * therefore waits for at most one job of every other key.
 */

export interface FairQueueOptions {
  /** How many jobs run at the same time. */
  readonly permits: number;
  /** How many jobs of one key run at the same time; `permits` by default. */
  readonly permitsPerKey?: number;
  /** How many jobs may wait. */
  readonly maxWaiting: number;
  /** How many jobs of one key may wait. */
  readonly maxWaitingPerKey: number;
  /** Creates the error for a job that does not fit into the queue. */
  readonly fullError: () => Error;
}

export interface QueueEntry {
  readonly key: string;
  readonly subkey?: string;
  /** Removes the job from the queue. A job that has started is not interrupted. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiter {
  readonly key: string;
  readonly subkey: string;
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/** The waiting jobs of one key. Its subkeys are served in the order of the map. */
interface KeyQueue {
  waiting: number;
  readonly bySubkey: Map<string, Set<Waiter>>;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Keys are served in the order of the map. */
  readonly #byKey = new Map<string, KeyQueue>();
  readonly #runningByKey = new Map<string, number>();
  #running = 0;
  #waiting = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async run<T>({ key, subkey = '', signal }: QueueEntry, work: () => Promise<T> | T): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.#options.permits && this.#mayStart(key)) this.#start(key);
    else await this.#wait(key, subkey, signal);
    try {
      return await work();
    } finally {
      this.#release(key, subkey);
    }
  }

  async #wait(key: string, subkey: string, signal: AbortSignal | undefined): Promise<void> {
    this.#makeRoom(key);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { key, subkey, start: resolve, reject };
    const onAbort = () => {
      this.#remove(waiter);
      reject(signal!.reason);
    };
    this.#add(waiter);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * A full queue drops the newest job of the key with the most waiting jobs, so a few keys cannot occupy the whole queue. A key never
   * loses its only waiting job.
   */
  #makeRoom(key: string): void {
    const { maxWaiting, maxWaitingPerKey, fullError } = this.#options;
    const ownWaiting = this.#byKey.get(key)?.waiting ?? 0;
    if (ownWaiting >= maxWaitingPerKey) throw fullError();
    if (this.#waiting < maxWaiting) return;
    const longest = longestOf(this.#byKey.values(), ({ waiting }) => waiting);
    // Otherwise, the key with the longest queue would end up with fewer waiting jobs than this one.
    if (!longest || longest.waiting <= ownWaiting + 1) throw fullError();
    const newest = [...longestOf(longest.bySubkey.values(), ({ size }) => size)!].at(-1)!;
    this.#remove(newest);
    newest.reject(fullError());
  }

  #add(waiter: Waiter): void {
    const queue: KeyQueue = this.#byKey.get(waiter.key) ?? { waiting: 0, bySubkey: new Map() };
    const waiters = queue.bySubkey.get(waiter.subkey) ?? new Set();
    waiters.add(waiter);
    queue.bySubkey.set(waiter.subkey, waiters);
    queue.waiting++;
    this.#byKey.set(waiter.key, queue);
    this.#waiting++;
  }

  #remove(waiter: Waiter): void {
    const queue = this.#byKey.get(waiter.key);
    const waiters = queue?.bySubkey.get(waiter.subkey);
    if (!queue || !waiters?.delete(waiter)) return;
    if (waiters.size === 0) queue.bySubkey.delete(waiter.subkey);
    if (--queue.waiting === 0) this.#byKey.delete(waiter.key);
    this.#waiting--;
  }

  #mayStart(key: string): boolean {
    const { permits, permitsPerKey = permits } = this.#options;
    return (this.#runningByKey.get(key) ?? 0) < permitsPerKey;
  }

  #start(key: string): void {
    this.#running++;
    this.#runningByKey.set(key, (this.#runningByKey.get(key) ?? 0) + 1);
  }

  /** Passes the permit to the next waiting job. */
  #release(key: string, subkey: string): void {
    this.#running--;
    const left = this.#runningByKey.get(key)! - 1;
    if (left > 0) this.#runningByKey.set(key, left);
    else this.#runningByKey.delete(key);
    // The key that was just served goes last. Otherwise its waiting jobs would run before the jobs of a new key.
    moveToEnd(this.#byKey, key);
    const own = this.#byKey.get(key);
    if (own) moveToEnd(own.bySubkey, subkey);
    const next = this.#takeNext();
    if (!next) return;
    this.#start(next.key);
    next.start();
  }

  #nextQueue(): KeyQueue | undefined {
    for (const [key, queue] of this.#byKey) if (this.#mayStart(key)) return queue;
    return undefined;
  }

  #takeNext(): Waiter | undefined {
    const queue = this.#nextQueue();
    const [waiters] = queue?.bySubkey.values() ?? [];
    const [waiter] = waiters ?? [];
    if (!queue || !waiter) return undefined;
    moveToEnd(this.#byKey, waiter.key);
    moveToEnd(queue.bySubkey, waiter.subkey);
    this.#remove(waiter);
    return waiter;
  }
}

function moveToEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

function longestOf<T>(queues: Iterable<T>, lengthOf: (queue: T) => number): T | undefined {
  let longest: T | undefined;
  for (const queue of queues) if (!longest || lengthOf(queue) > lengthOf(longest)) longest = queue;
  return longest;
}
