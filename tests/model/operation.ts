/** A random operation: plain data that says what is tried, and by whom; a table says how it is run. */

import type fc from 'fast-check';
import type { World } from './world.ts';

export interface Operation {
  readonly kind: string;
  readonly given: unknown;
}

export interface OperationKind {
  /** How often it comes, among the others. */
  readonly weight: number;
  readonly given: fc.Arbitrary<unknown>;
  /** Throws a Disagreement if the server does not do as the model. */
  run(world: World, given: unknown): Promise<void>;
}

export type OperationTable = Readonly<Record<string, OperationKind>>;

export function operationKind<Given>(
  weight: number,
  given: fc.Arbitrary<Given>,
  run: (world: World, given: Given) => Promise<void>,
): OperationKind {
  return { weight, given, run: (world, each) => run(world, each as Given) };
}

export async function runOperation(table: OperationTable, world: World, operation: Operation): Promise<void> {
  await table[operation.kind]!.run(world, operation.given);
}
