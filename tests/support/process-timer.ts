/**
 * Measures time for limits such as "within a second". The result excludes the time in which a busy machine runs other
 * processes.
 */

const tickMs = 5;

/** Starts the measurement. The returned function ends it and returns milliseconds. */
export function startProcessTimer(): () => number {
  const start = performance.now();
  const cpuAtStart = process.cpuUsage();
  let ticks = 0;
  const timer = setInterval(() => ticks++, tickMs);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(cpuAtStart);
    // A waiting process collects ticks and a computing process uses CPU time. Their sum is the time that the process
    // could run.
    return Math.min(performance.now() - start, ticks * tickMs + (user + system) / 1000);
  };
}
