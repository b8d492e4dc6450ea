/**
 * Calls that are made while one is running share its promise. With `cacheMs`, so do calls within that time after it has
 * ended, also if it has failed.
 */
export function singleFlight<T>(call: () => Promise<T>, cacheMs = 0): () => Promise<T> {
  let last: Promise<T> | undefined;
  let cachedUntil = -Infinity;
  return () => {
    if (last && performance.now() < cachedUntil) return last;
    cachedUntil = Infinity;
    return (last = call().finally(() => (cachedUntil = performance.now() + cacheMs)));
  };
}
