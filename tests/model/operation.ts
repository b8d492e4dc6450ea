/** A random operation is plain data: its kind and its input. A table defines how each kind runs. */

import type fc from 'fast-check';
import type { World } from './world.ts';

export interface Operation {
  readonly kind: string;
  readonly input: unknown;
}

export interface OperationKind {
  /** The relative frequency. */
  readonly weight: number;
  readonly input: fc.Arbitrary<unknown>;
  /** Throws a `DisagreementError` if the server differs from the model. */
  run(world: World, input: unknown): Promise<void>;
}

export type OperationTable = Readonly<Record<string, OperationKind>>;

export function operationKind<Input>(
  weight: number,
  input: fc.Arbitrary<Input>,
  run: (world: World, input: Input) => Promise<void>,
): OperationKind {
  return { weight, input, run: (world, each) => run(world, each as Input) };
}

export async function runOperation(table: OperationTable, world: World, operation: Operation): Promise<void> {
  await table[operation.kind]!.run(world, operation.input);
}
