/**
 * Time as this process has it, for promises such as "within a second": what passes while it runs or waits, and not what a
 * busy machine gives to others meanwhile. On an idle one it is that of the clock.
 */

const tickMs = 5;

/** Answers with what tells the milliseconds since, and ends it. */
export function startOwnTime(): () => number {
  const start = performance.now();
  const used = process.cpuUsage();
  let ticks = 0;
  const timer = setInterval(() => ticks++, tickMs);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(used);
    // Who waits has ticks, and who computes uses the processor: both together are all the time of who is let run.
    return Math.min(performance.now() - start, ticks * tickMs + (user + system) / 1000);
  };
}
