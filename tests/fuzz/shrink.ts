/** Making a failing run small: operations are left out for as long as what remains still fails. */

export interface Failure<Operation> {
  /** What was tried, up to where it failed. */
  readonly operations: readonly Operation[];
  readonly error: Error;
}

/** How long to look for fewer operations, and whom to tell of each success. */
export interface Shrinking<Operation> {
  readonly isTimeUp: () => boolean;
  readonly onProgress: (failure: Failure<Operation>) => void;
}

export interface Tries<Operation> {
  /** Tried before any other; what fails may need no more. */
  readonly first: readonly Operation[];
  /** The failure of these operations; undefined if they do not fail, or not as they should. */
  readonly run: (operations: readonly Operation[]) => Promise<Failure<Operation> | undefined>;
  /** The last operation is the one that fails: it is never left out. */
  readonly keepsLast: boolean;
}

export async function shrinkFailure<Operation>(
  given: Failure<Operation>,
  { first, run, keepsLast }: Tries<Operation>,
  { isTimeUp, onProgress }: Shrinking<Operation>,
): Promise<Failure<Operation>> {
  let smallest = given;
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
      const { operations: left } = smallest;
      await attempt([...left.slice(0, Math.max(0, end - portion)), ...left.slice(end)]);
    }
  }
  return smallest;
}
