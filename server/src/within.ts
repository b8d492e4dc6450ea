/** What the work comes to, or `late` if that takes longer; then it goes on, and nobody is told how it ends. */
export async function within<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<Late>((resolve) => (timer = setTimeout(resolve, ms, late)));
  try {
    return await Promise.race([work, passed]);
  } finally {
    clearTimeout(timer);
  }
}
