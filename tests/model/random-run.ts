/** A run: a new server and a new model, and the operations that a seed makes, tried on both. */

import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type Shrinking } from '../fuzz/shrink.ts';
import { changeOperations } from './change-operations.ts';
import { compareEverything, compareMost } from './everything-seen.ts';
import { grantOperations } from './grant-operations.ts';
import { runOperation, type Operation, type OperationTable } from './operation.ts';
import { pagingOperations } from './paging-operations.ts';
import { readingOperations } from './reading-operations.ts';
import { Disagreement, World } from './world.ts';

/** After the last of its operations server and model disagreed. */
type Failure = AnyFailure<Operation>;

export interface RunResult {
  /** How many operations were tried. */
  readonly steps: number;
  readonly requests: number;
  readonly folders: number;
  readonly failure?: Failure;
}

export interface RunOptions {
  /** Whether to end before the operations do. */
  readonly isOver?: () => boolean;
  /** Operations are taken as they are, whatever becomes of the tree's size. */
  readonly isLiteral?: boolean;
}

const table: OperationTable = {
  ...changeOperations,
  ...grantOperations,
  ...readingOperations,
  ...pagingOperations,
};

const operations = fc.noBias(
  fc.oneof(
    ...Object.entries(table).map(([kind, { weight, given }]) => ({
      weight,
      arbitrary: fc.record<Operation>({ kind: fc.constant(kind), given }),
    })),
  ),
);

const stepsBetweenComparisons = 50;
/** A small tree is where operations meet; an empty one is dull. */
const fewestFolders = 40;
const mostFolders = 100;

export function operationsOf(seed: number, steps: number): Operation[] {
  return fc.sample(operations, { seed, numRuns: steps });
}

export async function runOperations(
  kind: DatabaseKind,
  given: readonly Operation[],
  { isOver = () => false, isLiteral = false }: RunOptions = {},
): Promise<RunResult> {
  const world = await World.start(kind);
  const tried: Operation[] = [];
  const result = () => ({
    steps: tried.length,
    requests: world.requests,
    folders: world.model.known.length,
  });
  try {
    for (const each of given) {
      if (isOver()) break;
      const operation = isLiteral ? each : steered(world, each);
      tried.push(operation);
      await runOperation(table, world, operation);
      const turn = tried.length / stepsBetweenComparisons;
      if (Number.isInteger(turn)) await compareMost(world, turn);
    }
    await compareEverything(world);
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: tried, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Keeps the tree from growing or shrinking away. */
function steered({ model }: World, operation: Operation): Operation {
  const size = model.onTree().length;
  const place = { among: 'tree', at: operation.kind.length + model.known.length };
  if (size > mostFolders && growing.includes(operation.kind)) {
    return { kind: 'delete', given: { actor: 0, folder: place, recursive: true, version: 'any' } };
  }
  if (size < fewestFolders && shrinking.includes(operation.kind)) {
    return { kind: 'import', given: { actor: 0, parent: place, what: { tree: graft }, version: 'any' } };
  }
  return operation;
}

const growing = ['create', 'import', 'restore'];
const shrinking = ['delete', 'restore', 'update'];
const graft = ['b', 'Floor 2', '日本'].map((name) => ({
  name,
  folders: ['e', 'a zebra'].map((inner) => ({ name: inner, folders: [{ name: 'a' }, { name: 'É' }] })),
}));

/** Leaves out operations as long as what remains still fails, perhaps in another way. */
export function shrink(
  kind: DatabaseKind,
  given: Failure,
  shrinking: Shrinking<Operation>,
): Promise<Failure> {
  const first = given.operations.filter(
    ({ kind: name }, place, all) => isChange(name) || place === all.length - 1,
  );
  const run = async (operations: readonly Operation[]) =>
    (await runOperations(kind, operations, { isLiteral: true })).failure;
  return shrinkFailure(given, { first, run, keepsLast: true }, shrinking);
}

function isChange(kind: string): boolean {
  return kind in changeOperations || kind in grantOperations || kind === 'amidChanges';
}

export function describeFailure({ operations: tried, error }: Failure): string {
  const cause = error instanceof Disagreement ? error.message : error.stack;
  return `step ${tried.length}, ${JSON.stringify(tried.at(-1))}\n${cause}`;
}
