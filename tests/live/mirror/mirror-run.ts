/** Runs the random operations of a seed in a new world until a mirror differs from a fresh read. */

import fc from 'fast-check';
import type { DatabaseKind } from '../../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../../fuzz/shrink.ts';
import { operations, runOperation, type Operation } from './mirror-operations.ts';
import { MirrorWorld } from './mirror-world.ts';

type Failure = AnyFailure<Operation>;

export interface RunResult {
  readonly steps: number;
  readonly changes: number;
  readonly resyncs: number;
  readonly failure?: Failure;
}

export interface RunOptions {
  /** Returns true to stop before the last operation. */
  readonly isOver?: () => boolean;
  readonly isCheckedOften?: boolean;
}

const stepsBetweenChecks = 10;

export function generateOperations(seed: number, steps: number): Operation[] {
  return fc.sample(operations, { seed, numRuns: steps });
}

export async function runOperations(
  kind: DatabaseKind,
  operations: readonly Operation[],
  { isOver = () => false, isCheckedOften = false }: RunOptions = {},
): Promise<RunResult> {
  const world = await MirrorWorld.start(kind);
  const executed: Operation[] = [];
  const result = () => ({
    steps: executed.length,
    changes: world.watchers.reduce((sum, { received }) => sum + received.length, 0),
    resyncs: world.watchers.reduce((sum, { resyncs }) => sum + resyncs, 0),
  });
  const prompt = world.watchers.filter(({ pace }) => pace === 'prompt');
  try {
    for (const operation of operations) {
      if (isOver()) break;
      executed.push(operation);
      await runOperation(world, operation);
      await world.observe();
      if (isCheckedOften || executed.length % stepsBetweenChecks === 0) await world.check(prompt);
    }
    for (const person of world.people) {
      if (!person.isDisabled) for (const watcher of person.watchers) await watcher.reconnect();
    }
    await world.check(world.watchers);
    world.checkAdministrator();
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: executed, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Removes operations as long as the rest still fails with the same message. */
export function shrink(
  kind: DatabaseKind,
  operations: Failure,
  options: ShrinkOptions<Operation>,
): Promise<Failure> {
  const run = async (remaining: readonly Operation[]) => {
    const { failure } = await runOperations(kind, remaining, { isCheckedOften: true });
    return failure && normalizeMessage(failure) === normalizeMessage(operations) ? failure : undefined;
  };
  return shrinkFailure(operations, { first: operations.operations, run, keepsLast: false }, options);
}

export function describeFailure({ operations: executed, error }: Failure): string {
  return `step ${executed.length}, ${JSON.stringify(executed.at(-1))}\n${error.stack}`;
}

/** Returns the error message without ids and numbers that differ between runs. */
function normalizeMessage({ error }: Failure): string {
  return error.message.split('\n')[0]!.replaceAll(/[0-9a-f-]{36}|entry \d+/g, '');
}
