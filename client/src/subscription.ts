/** What comes over a socket for one subscription, as an iterator: nothing is lost between two calls of `next`. */

interface Waiting<Result> {
  readonly resolve: (result: IteratorResult<Result, undefined>) => void;
  readonly reject: (error: Error) => void;
}

export class Subscription<Result> implements AsyncIterableIterator<Result, undefined> {
  readonly #queue: Result[] = [];
  readonly #waiting: Waiting<Result>[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: (isAtOnce: boolean) => void;
  readonly #leave: () => void;
  #isOver = false;
  #failure: { readonly error: Error } | undefined;

  /** `onEnd` is called once. At once, if it is not that whoever iterates has enough for now. */
  constructor(signal: AbortSignal | undefined, onEnd: (isAtOnce: boolean) => void) {
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.#leave = () => {
      this.#queue.length = 0;
      this.fail(signal?.reason);
    };
    signal?.addEventListener('abort', this.#leave);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  tell(result: Result): void {
    if (this.#isOver) return;
    const first = this.#waiting.shift();
    if (first) first.resolve({ value: result, done: false });
    else this.#queue.push(result);
  }

  /** Once what came before has been given. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    // A signal may have any reason.
    const failure = { error: error as Error };
    const first = this.#waiting.shift();
    if (first) first.reject(failure.error);
    else this.#failure = failure;
    this.end();
  }

  end({ isAtOnce = true } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#leave);
    for (const { resolve } of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
    this.#onEnd(isAtOnce);
  }

  next(): Promise<IteratorResult<Result, undefined>> {
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#queue.shift()!, done: false });
    return new Promise((resolve, reject) => {
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) reject(failure.error);
      else if (this.#isOver) resolve({ value: undefined, done: true });
      else this.#waiting.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<Result, undefined>> {
    this.#queue.length = 0;
    this.#failure = undefined;
    this.end({ isAtOnce: false });
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
