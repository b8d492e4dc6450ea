/** Runs the random operations of a seed on two new nodes and a new model. */

import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../fuzz/shrink.ts';
import { serverOperations } from './server-operations.ts';
import { createArbitrary, type Operation } from './operation-table.ts';
import { clientOperations } from './token-operations.ts';
import { DisagreementError, TokenWorld } from './token-world.ts';

type Failure = AnyFailure<Operation>;

export interface RunResult {
  readonly steps: number;
  readonly requests: number;
  readonly sessions: number;
  readonly failure?: Failure;
}

const table = { ...clientOperations, ...serverOperations };
/** Off (the default), shorter than the tolerance, and longer. */
const retrySeconds = [0, 30, 120];
/** Operations that run on both nodes, so that either one may have ended a session. */
const atBothNodes = ['race'];
/** The first operation, which sets the settings of the world. */
const settingsKind = 'settings';

export function generateOperations(seed: number, steps: number): Operation[] {
  const first = { kind: settingsKind, node: 0, input: retrySeconds[seed % retrySeconds.length] };
  return [first, ...fc.sample(createArbitrary(table), { seed, numRuns: steps })];
}

export async function runOperations(
  kind: DatabaseKind,
  operations: readonly Operation[],
  isOver: () => boolean = () => false,
): Promise<RunResult> {
  const retry = operations[0]?.kind === settingsKind ? (operations[0].input as number) : 0;
  const world = await TokenWorld.start(kind, { retrySeconds: retry });
  const executed: Operation[] = [];
  const result = () => ({
    steps: executed.length,
    requests: world.requests,
    sessions: world.model.sessions.length,
  });
  try {
    for (const operation of operations) {
      if (isOver()) break;
      executed.push(operation);
      if (operation.kind === settingsKind) continue;
      const validBefore = world.validAuthTokens();
      const node = world.nodes[operation.node]!;
      await table[operation.kind]!.run(world, node, operation.input);
      await world.awaitRevocations(validBefore, atBothNodes.includes(operation.kind) ? undefined : node);
    }
    return result();
  } catch (error) {
    return { ...result(), failure: { operations: executed, error: error as Error } };
  } finally {
    await world.stop();
  }
}

/** Removes operations as long as the rest still fails, perhaps with another error. */
export function shrink(
  kind: DatabaseKind,
  failure: Failure,
  shrinking: ShrinkOptions<Operation>,
): Promise<Failure> {
  const run = async (operations: readonly Operation[]) => (await runOperations(kind, operations)).failure;
  const changing = ['logIn', 'refresh', 'logOut', 'race', settingsKind, ...Object.keys(serverOperations)];
  const first = failure.operations.filter(
    ({ kind: name }, index, all) => changing.includes(name) || index === all.length - 1,
  );
  return shrinkFailure(failure, { first, run, keepsLast: true }, shrinking);
}

export function describeFailure({ operations: executed, error }: Failure): string {
  const cause = error instanceof DisagreementError ? error.message : error.stack;
  return `step ${executed.length}, ${JSON.stringify(executed.at(-1))}\n${cause}`;
}
