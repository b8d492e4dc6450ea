/**
 * Concurrent calls share one promise. With `cacheMs`, later calls within that time share the promise as well, even if it was rejected.
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
