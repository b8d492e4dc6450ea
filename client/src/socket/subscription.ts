/** The results of one subscription as an async iterator. It queues results between two calls of `next`. */

interface PendingRead<Result> {
  readonly resolve: (result: IteratorResult<Result, undefined>) => void;
  readonly reject: (error: Error) => void;
}

export class Subscription<Result> implements AsyncIterableIterator<Result, undefined> {
  readonly #queue: Result[] = [];
  readonly #pendingReads: PendingRead<Result>[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: (mayLinger: boolean) => void;
  readonly #abort: () => void;
  #isOver = false;
  #failure: { readonly error: Error } | undefined;

  /**
   * `onEnd` is called once. `mayLinger` is true if the caller stopped iterating with `return`: the socket may then stay open
   * for a while, for the next subscription.
   */
  constructor(signal: AbortSignal | undefined, onEnd: (mayLinger: boolean) => void) {
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.#abort = () => {
      this.#queue.length = 0;
      this.fail(signal?.reason);
    };
    signal?.addEventListener('abort', this.#abort);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(result: Result): void {
    if (this.#isOver) return;
    const first = this.#pendingReads.shift();
    if (first) first.resolve({ value: result, done: false });
    else this.#queue.push(result);
  }

  /** Ends the iterator with an error, after the queued results. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    // The reason of a signal can be any value, even undefined. The object around it shows that there is a failure.
    const failure = { error: error as Error };
    const first = this.#pendingReads.shift();
    if (first) first.reject(failure.error);
    else this.#failure = failure;
    this.end();
  }

  end({ mayLinger = false } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    for (const { resolve } of this.#pendingReads.splice(0)) resolve({ value: undefined, done: true });
    this.#onEnd(mayLinger);
  }

  next(): Promise<IteratorResult<Result, undefined>> {
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#queue.shift()!, done: false });
    return new Promise((resolve, reject) => {
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) reject(failure.error);
      else if (this.#isOver) resolve({ value: undefined, done: true });
      else this.#pendingReads.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<Result, undefined>> {
    this.#queue.length = 0;
    this.#failure = undefined;
    this.end({ mayLinger: true });
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
