/** Timers, waits that a signal aborts, and backoff. */

/** The longest delay that setTimeout supports. A longer one would fire immediately. */
const maxTimerMs = 2 ** 31 - 1;

/** Calls `call` after a delay. Returns a function that cancels it. */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, maxTimerMs));
  return () => clearTimeout(timer);
}

/** Browsers delay nested timers from the fifth level on, so a chain has at most four. */
const steps = 4;

/**
 * Like `after`, for a caller that waits for messages. When a suspended page resumes, an expired timer fires before the
 * queued messages arrive. A chain of short timers leaves time for them, because only one of its timers has expired.
 */
export function afterEvents(ms: number, call: () => void): () => void {
  let remainingSteps = steps;
  const step = () => (--remainingSteps === 0 ? call() : void (cancel = after(ms / steps, step)));
  let cancel = after(ms / steps, step);
  return () => cancel();
}

/** Resolves like `work`, or rejects with the reason of the signal as soon as the signal is aborted. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    // The reason can be any value and is passed on unchanged.
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  let cancel: (() => void) | undefined;
  const timer = new Promise<void>((resolve) => (cancel = after(ms, resolve)));
  try {
    await abortable(timer, signal);
  } finally {
    cancel?.();
  }
}

/** Exponential backoff with jitter, so that clients that failed together do not retry together. */
export function backoffMs(attempts: number, maxMs = 5_000): number {
  return Math.min(100 * 2 ** Math.min(attempts, 10), maxMs) * (0.5 + Math.random() / 2);
}
