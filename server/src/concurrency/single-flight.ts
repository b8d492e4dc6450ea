/**
 * Concurrent calls share one promise. With `cacheMs`, calls within that time after its end share it as well, even if it failed.
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
