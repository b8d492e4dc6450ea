/** One rule of the contract with its test. */

import type { Testbed } from '../support/testbed.ts';
import type { ContractRow } from './contract-rows.ts';

export interface Scenario {
  /** Completes the sentence "it …". */
  readonly title: string;
  /** The rows that the scenario proves. Empty if the contract leaves it open and the project decided. */
  readonly proves: readonly ContractRow[];
  readonly run: (testbed: Testbed) => Promise<void>;
}
