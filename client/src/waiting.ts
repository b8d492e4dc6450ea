/** Waiting that ends at once when it is no longer wanted. */

/** What a timer can be set to; more would end at once. */
const mostMs = 2 ** 31 - 1;

/** Calls when so much time has passed; answers with how to prevent it. */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, mostMs));
  return () => clearTimeout(timer);
}

/** From the fifth on, browsers hold back a timer that was set by a timer. */
const steps = 4;

/**
 * The same for who waits to hear from others: in steps, because a page that slept finds its timers over before it hears
 * what came meanwhile. Then only one of them has passed.
 */
export function afterHearing(ms: number, call: () => void): () => void {
  let left = steps;
  const step = () => (--left === 0 ? call() : void (cancel = after(ms / steps, step)));
  let cancel = after(ms / steps, step);
  return () => cancel();
}

/** What the work comes to, or the reason of the signal as soon as it is given. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    // A reason may be anything; it is handed on as it is.
    const leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  let cancel: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => (cancel = after(ms, resolve)));
  try {
    await abortable(passed, signal);
  } finally {
    cancel?.();
  }
}

/** Longer each time, up to the most, and never the same for two that were turned away together. */
export function backOffMs(tries: number, most = 5_000): number {
  return Math.min(100 * 2 ** Math.min(tries, 10), most) * (0.5 + Math.random() / 2);
}
