/** A run: a new world, and what a seed makes happen in it, until a mirror differs from a fresh read. */

import fc from 'fast-check';
import type { DatabaseKind } from '../databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type Shrinking } from '../fuzz/shrink.ts';
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
  /** Whether to end before the operations do. */
  readonly isOver?: () => boolean;
  readonly isCheckedOften?: boolean;
}

const stepsBetweenChecks = 10;

export function operationsOf(seed: number, steps: number): Operation[] {
  return fc.sample(operations, { seed, numRuns: steps });
}

export async function runOperations(
  kind: DatabaseKind,
  given: readonly Operation[],
  { isOver = () => false, isCheckedOften = false }: RunOptions = {},
): Promise<RunResult> {
  const world = await MirrorWorld.start(kind);
  const tried: Operation[] = [];
  const result = () => ({
    steps: tried.length,
    changes: world.watchers.reduce((sum, { told }) => sum + told.length, 0),
    resyncs: world.watchers.reduce((sum, { resyncs }) => sum + resyncs, 0),
  });
  const prompt = world.watchers.filter(({ pace }) => pace === 'prompt');
  try {
    for (const operation of given) {
      if (isOver()) break;
      tried.push(operation);
      await runOperation(world, operation);
      await world.observe();
      if (isCheckedOften || tried.length % stepsBetweenChecks === 0) await world.check(prompt);
    }
    for (const person of world.people) {
      if (!person.isDisabled) for (const watcher of person.watchers) await watcher.comeBack();
    }
    await world.check(world.watchers);
    world.checkAdministrator();
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: tried, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Leaves out operations as long as what remains still fails in the same way. */
export function shrink(
  kind: DatabaseKind,
  given: Failure,
  shrinking: Shrinking<Operation>,
): Promise<Failure> {
  const run = async (left: readonly Operation[]) => {
    const { failure } = await runOperations(kind, left, { isCheckedOften: true });
    return failure && headline(failure) === headline(given) ? failure : undefined;
  };
  return shrinkFailure(given, { first: given.operations, run, keepsLast: false }, shrinking);
}

export function describeFailure({ operations: tried, error }: Failure): string {
  return `step ${tried.length}, ${JSON.stringify(tried.at(-1))}\n${error.stack}`;
}

/** What failed, without the ids and numbers that differ from run to run. */
function headline({ error }: Failure): string {
  return error.message.split('\n')[0]!.replaceAll(/[0-9a-f-]{36}|entry \d+/g, '');
}
