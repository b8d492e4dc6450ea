/**
 * Measures time for limits such as "within a second", without the time that a busy machine gives to other
 * processes. On an idle machine, the result equals the elapsed time.
 */

const tickMs = 5;

/** Starts the measurement. The returned function ends it and returns the elapsed milliseconds. */
export function startProcessTimer(): () => number {
  const start = performance.now();
  const used = process.cpuUsage();
  let ticks = 0;
  const timer = setInterval(() => ticks++, tickMs);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(used);
    // A waiting process collects ticks and a computing process uses CPU time. Their sum is the time that the process
    // could run.
    return Math.min(performance.now() - start, ticks * tickMs + (user + system) / 1000);
  };
}
