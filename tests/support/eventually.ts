/** Waits until a condition is true. */

const pollIntervalMs = 5;

export async function eventually(
  condition: () => boolean | Promise<boolean>,
  description: string,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Timed out before this happened: ${description}.`);
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
}
