/**
 * Returns the result of `work`, or `fallback` if it takes longer than `ms`. The work is not interrupted, and its late result or
 * error is ignored.
 */
export async function withTimeout<T, Fallback>(
  ms: number,
  work: Promise<T>,
  fallback: Fallback,
): Promise<T | Fallback> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Fallback>((resolve) => (timer = setTimeout(resolve, ms, fallback)));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
