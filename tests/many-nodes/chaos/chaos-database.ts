/** The database of the nodes of a run. */

import type { Tally } from './tally.ts';

export interface ChaosDatabase {
  readonly url: string;
  /** Whether the database may be down when a node starts. The node then prints one line and exits. */
  readonly mayBeDown: boolean;
  /** Checks, without load, that the data is consistent and no transaction is open. */
  check(tally: Tally): Promise<void>;
  remove(): Promise<void>;
}
