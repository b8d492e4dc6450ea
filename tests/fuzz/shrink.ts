/** Shrinks a failing run: removes operations as long as the rest still fails. */

export interface Failure<Operation> {
  /** The operations executed, up to the failure. */
  readonly operations: readonly Operation[];
  readonly error: Error;
}

/** Limits the search for fewer operations, and reports each success. */
export interface ShrinkOptions<Operation> {
  readonly isTimeUp: () => boolean;
  readonly onProgress: (failure: Failure<Operation>) => void;
}

export interface ShrinkPlan<Operation> {
  /** Tried first, because these operations may be enough for the failure. */
  readonly first: readonly Operation[];
  /** Runs the operations. Returns undefined if they do not fail, or fail differently. */
  readonly run: (operations: readonly Operation[]) => Promise<Failure<Operation> | undefined>;
  /** The last operation is the one that fails, so it is never removed. */
  readonly keepsLast: boolean;
}

export async function shrinkFailure<Operation>(
  original: Failure<Operation>,
  { first, run, keepsLast }: ShrinkPlan<Operation>,
  { isTimeUp, onProgress }: ShrinkOptions<Operation>,
): Promise<Failure<Operation>> {
  let smallest = original;
  const attempt = async (operations: readonly Operation[]) => {
    const failure = await run(operations);
    if (!failure) return;
    smallest = failure;
    onProgress(failure);
  };
  await attempt(first);
  for (let portion = smallest.operations.length; portion >= 1; portion = Math.floor(portion / 2)) {
    const start = smallest.operations.length - (keepsLast ? 1 : 0);
    for (let end = start; end > 0 && !isTimeUp(); end -= portion) {
      const { operations: remaining } = smallest;
      await attempt([...remaining.slice(0, Math.max(0, end - portion)), ...remaining.slice(end)]);
    }
  }
  return smallest;
}
