/** Delivers changes to any number of listeners and iterators. Each receives every change after its start. */

type Listener<Change> = (change: Change) => void;

export class ChangeEmitter<Change> implements AsyncIterable<Change> {
  readonly #listeners = new Set<Listener<Change>>();
  /** Wakes the iterators that wait for a change. */
  readonly #wakeIterators = new Set<() => void>();
  #outcome: { readonly error?: unknown } | undefined;

  /** Returns a function that removes the listener. */
  listen(listener: Listener<Change>): () => void {
    // A new function, because a caller can register the same listener twice.
    const callListener = (change: Change) => listener(change);
    this.#listeners.add(callListener);
    return () => void this.#listeners.delete(callListener);
  }

  publish(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // Reported as an uncaught error, like that of an EventTarget listener, so that the other listeners still run.
        queueMicrotask(() => {
          throw error as Error;
        });
      }
    }
  }

  /** Ends the emitter. Iterators return their queued changes first, then throw the error if there is one. */
  end(error?: unknown): void {
    this.#outcome ??= { error };
    for (const wake of this.#wakeIterators) wake();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Change> {
    const queue: Change[] = [];
    let pendingReads: (() => void)[] = [];
    let isStopped = false;
    const wake = () => {
      const reads = pendingReads;
      pendingReads = [];
      for (const resume of reads) resume();
    };
    const stopListening = this.listen((change) => {
      queue.push(change);
      wake();
    });
    const stop = () => {
      isStopped = true;
      queue.length = 0;
      stopListening();
      this.#wakeIterators.delete(wake);
      wake();
    };
    this.#wakeIterators.add(wake);
    const next = async (): Promise<IteratorResult<Change>> => {
      while (queue.length === 0 && !isStopped && !this.#outcome) {
        await new Promise<void>((resolve) => pendingReads.push(resolve));
      }
      if (queue.length > 0) return { value: queue.shift()!, done: false };
      const error = isStopped ? undefined : this.#outcome?.error;
      stop();
      if (error) throw error as Error;
      return { value: undefined, done: true };
    };
    return {
      next,
      return() {
        stop();
        return Promise.resolve({ value: undefined, done: true });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
