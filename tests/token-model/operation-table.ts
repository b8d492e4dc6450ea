/**
 * A random operation on tokens is plain data: its kind, its node and its input. A table defines how each kind
 * runs.
 */

import fc from 'fast-check';
import type { Testbed } from '../support/testbed.ts';
import type { TokenWorld } from './token-world.ts';

export interface Operation {
  readonly kind: string;
  /** The index of the node. */
  readonly node: number;
  readonly input: unknown;
}

export interface OperationKind {
  /** The relative frequency. */
  readonly weight: number;
  readonly input: fc.Arbitrary<unknown>;
  /** Throws a `DisagreementError` if the server differs from the model. */
  run(world: TokenWorld, node: Testbed, input: unknown): Promise<void>;
}

export type OperationTable = Readonly<Record<string, OperationKind>>;

export function defineOperation<Input>(
  weight: number,
  input: fc.Arbitrary<Input>,
  run: (world: TokenWorld, node: Testbed, input: Input) => Promise<void>,
): OperationKind {
  return { weight, input, run: (world, node, each) => run(world, node, each as Input) };
}

export function createArbitrary(table: OperationTable): fc.Arbitrary<Operation> {
  return fc.noBias(
    fc.oneof(
      ...Object.entries(table).map(([name, { weight, input }]) => ({
        weight,
        arbitrary: fc.record({ kind: fc.constant(name), node: fc.nat(1), input }),
      })),
    ),
  );
}
