/** One rule of the contract with its test. */

import type { Testbed } from '../support/testbed.ts';
import type { ContractRow } from './contract-rows.ts';

export interface Scenario {
  /** Completes the sentence "it …". */
  readonly title: string;
  /** The proved rows. Empty where the contract is silent and the project decided. */
  readonly proves: readonly ContractRow[];
  readonly run: (testbed: Testbed) => Promise<void>;
}
