/** Runs the random operations of a seed on two new nodes and a new model. */

import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../fuzz/shrink.ts';
import { houseOperations } from './house-operations.ts';
import { operationsIn, type Operation } from './operation-table.ts';
import { clientOperations } from './token-operations.ts';
import { Disagreement, TokenWorld } from './token-world.ts';

type Failure = AnyFailure<Operation>;

export interface RunResult {
  readonly steps: number;
  readonly requests: number;
  readonly sessions: number;
  readonly failure?: Failure;
}

const table = { ...clientOperations, ...houseOperations };
/** Off, which is the default; shorter than the tolerance; longer. */
const retrySeconds = [0, 30, 120];
/** Operations that run on both nodes, so that either one may have ended a session. */
const atBothNodes = ['race'];
/** The first operation, which sets the settings of the world. */
const settings = 'settings';

export function generateOperations(seed: number, steps: number): Operation[] {
  const first = { kind: settings, node: 0, given: retrySeconds[seed % retrySeconds.length] };
  return [first, ...fc.sample(operationsIn(table), { seed, numRuns: steps })];
}

export async function runOperations(
  kind: DatabaseKind,
  given: readonly Operation[],
  isOver: () => boolean = () => false,
): Promise<RunResult> {
  const retry = given[0]?.kind === settings ? (given[0].given as number) : 0;
  const world = await TokenWorld.start(kind, { retrySeconds: retry });
  const tried: Operation[] = [];
  const result = () => ({
    steps: tried.length,
    requests: world.requests,
    sessions: world.model.sessions.length,
  });
  try {
    for (const operation of given) {
      if (isOver()) break;
      tried.push(operation);
      if (operation.kind === settings) continue;
      const wereGood = world.goodAuthTokens();
      const node = world.nodes[operation.node]!;
      await table[operation.kind]!.run(world, node, operation.given);
      await world.settle(wereGood, atBothNodes.includes(operation.kind) ? undefined : node);
    }
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: tried, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Removes operations as long as the rest still fails, perhaps with another error. */
export function shrink(
  kind: DatabaseKind,
  given: Failure,
  shrinking: ShrinkOptions<Operation>,
): Promise<Failure> {
  const run = async (operations: readonly Operation[]) => (await runOperations(kind, operations)).failure;
  const changing = ['logIn', 'refresh', 'logOut', 'race', settings, ...Object.keys(houseOperations)];
  const first = given.operations.filter(
    ({ kind: name }, place, all) => changing.includes(name) || place === all.length - 1,
  );
  return shrinkFailure(given, { first, run, keepsLast: true }, shrinking);
}

export function describeFailure({ operations: tried, error }: Failure): string {
  const cause = error instanceof Disagreement ? error.message : error.stack;
  return `step ${tried.length}, ${JSON.stringify(tried.at(-1))}\n${cause}`;
}
