/** Runs the random operations of a seed on a new server and a new model. */

import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../fuzz/shrink.ts';
import { changeOperations } from './change-operations.ts';
import { compareEverything, comparePart } from './compare-all.ts';
import { grantOperations } from './grant-operations.ts';
import { keyOperations } from './key-operations.ts';
import { runOperation, type Operation, type OperationTable } from './operation.ts';
import { pagingOperations } from './paging-operations.ts';
import { readingOperations } from './reading-operations.ts';
import { DisagreementError, World } from './world.ts';

/** The server and the model disagree after the last operation. */
type Failure = AnyFailure<Operation>;

export interface RunResult {
  /** The number of operations executed. */
  readonly steps: number;
  readonly requests: number;
  readonly folders: number;
  readonly failure?: Failure;
}

export interface RunOptions {
  /** Returns true to stop before the last operation. */
  readonly isOver?: () => boolean;
  /** Runs the operations unchanged, whatever the size of the tree. */
  readonly isLiteral?: boolean;
}

const table: OperationTable = {
  ...changeOperations,
  ...grantOperations,
  ...keyOperations,
  ...readingOperations,
  ...pagingOperations,
};

const operationArbitrary = fc.noBias(
  fc.oneof(
    ...Object.entries(table).map(([kind, { weight, input }]) => ({
      weight,
      arbitrary: fc.record<Operation>({ kind: fc.constant(kind), input }),
    })),
  ),
);

const stepsBetweenComparisons = 50;
/** In a small tree, operations interact more often. In an empty tree, they have no effect. */
const minFolders = 40;
const maxFolders = 100;

export function generateOperations(seed: number, steps: number): Operation[] {
  return fc.sample(operationArbitrary, { seed, numRuns: steps });
}

export async function runOperations(
  kind: DatabaseKind,
  operations: readonly Operation[],
  { isOver = () => false, isLiteral = false }: RunOptions = {},
): Promise<RunResult> {
  const world = await World.start(kind);
  const executed: Operation[] = [];
  const result = () => ({
    steps: executed.length,
    requests: world.requests,
    folders: world.model.allFolders.length,
  });
  try {
    for (const each of operations) {
      if (isOver()) break;
      const operation = isLiteral ? each : steer(world, each);
      executed.push(operation);
      await runOperation(table, world, operation);
      const round = executed.length / stepsBetweenComparisons;
      if (Number.isInteger(round)) await comparePart(world, round);
    }
    await compareEverything(world);
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: executed, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Replaces operations that would make the tree too large or too small. */
function steer({ model }: World, operation: Operation): Operation {
  const size = model.onTree().length;
  const reference = { among: 'tree', at: operation.kind.length + model.allFolders.length };
  if (size > maxFolders && growingKinds.includes(operation.kind)) {
    return { kind: 'delete', input: { actor: 0, folder: reference, recursive: true, version: 'any' } };
  }
  if (size < minFolders && shrinkingKinds.includes(operation.kind)) {
    return {
      kind: 'import',
      input: { actor: 0, parent: reference, what: { tree: importedTree }, version: 'any' },
    };
  }
  return operation;
}

const growingKinds = ['create', 'import', 'restore'];
const shrinkingKinds = ['delete', 'restore', 'update'];
const importedTree = ['b', 'Floor 2', '日本'].map((name) => ({
  name,
  folders: ['e', 'a zebra'].map((inner) => ({ name: inner, folders: [{ name: 'a' }, { name: 'É' }] })),
}));

/** Removes operations as long as the rest still fails, perhaps with another error. */
export function shrink(
  kind: DatabaseKind,
  failure: Failure,
  shrinking: ShrinkOptions<Operation>,
): Promise<Failure> {
  const first = failure.operations.filter(
    ({ kind: name }, reference, all) => isChange(name) || reference === all.length - 1,
  );
  const run = async (operations: readonly Operation[]) =>
    (await runOperations(kind, operations, { isLiteral: true })).failure;
  return shrinkFailure(failure, { first, run, keepsLast: true }, shrinking);
}

function isChange(kind: string): boolean {
  return (
    kind in changeOperations || kind in grantOperations || kind in keyOperations || kind === 'duringChanges'
  );
}

export function describeFailure({ operations: executed, error }: Failure): string {
  const cause = error instanceof DisagreementError ? error.message : error.stack;
  return `step ${executed.length}, ${JSON.stringify(executed.at(-1))}\n${cause}`;
}
