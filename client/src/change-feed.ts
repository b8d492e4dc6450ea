/** What happens, for any number of listeners and iterators, each of which gets all of it from when it began. */

export interface ChangeFeed<Change> extends AsyncIterable<Change> {
  readonly tell: (change: Change) => void;
  /** Nothing more comes; with an error, iterators throw it when they have given the rest. */
  readonly end: (error?: unknown) => void;
  /** Answers with how to stop. */
  readonly listen: (listener: (change: Change) => void) => () => void;
  [Symbol.asyncIterator](): AsyncIterableIterator<Change>;
}

export function createChangeFeed<Change>(): ChangeFeed<Change> {
  const listeners = new Set<(change: Change) => void>();
  /** Told when it is over. */
  const waiting = new Set<() => void>();
  let over: { readonly error?: unknown } | undefined;

  const listen = (listener: (change: Change) => void) => {
    // One and the same may listen twice.
    const own = (change: Change) => listener(change);
    listeners.add(own);
    return () => void listeners.delete(own);
  };

  return {
    listen,
    tell(change) {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (error) {
          // Of the listener alone, as an event target has it: whoever else listens is told all the same.
          queueMicrotask(() => {
            throw error as Error;
          });
        }
      }
    },
    end(error) {
      over ??= { error };
      for (const wake of waiting) wake();
    },
    [Symbol.asyncIterator]() {
      const queue: Change[] = [];
      let asked: (() => void)[] = [];
      let isStopped = false;
      const wake = () => {
        const woken = asked;
        asked = [];
        for (const each of woken) each();
      };
      const stopListening = listen((change) => {
        queue.push(change);
        wake();
      });
      const stop = () => {
        isStopped = true;
        queue.length = 0;
        stopListening();
        waiting.delete(wake);
        wake();
      };
      waiting.add(wake);
      return {
        async next() {
          while (queue.length === 0 && !isStopped && !over) {
            await new Promise<void>((resolve) => asked.push(resolve));
          }
          if (queue.length > 0) return { value: queue.shift()!, done: false };
          const error = isStopped ? undefined : over?.error;
          stop();
          if (error) throw error as Error;
          return { value: undefined, done: true };
        },
        return() {
          stop();
          return Promise.resolve({ value: undefined, done: true });
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}
