/** One promise, tested: what it proves of the contract, and how. */

import type { Testbed } from '../support/testbed.ts';
import type { ContractRow } from './contract-rows.ts';

export interface Scenario {
  /** A sentence of behaviour. */
  readonly title: string;
  /** Empty where the contract is silent and the project decided. */
  readonly proves: readonly ContractRow[];
  readonly run: (bed: Testbed) => Promise<void>;
}
