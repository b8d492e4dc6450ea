/** Waits for something that will be so soon; on a busy machine a little later. */

const lookEveryMs = 5;

export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Never: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
