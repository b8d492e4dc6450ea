/** What the nodes of a run keep their data in. */

import type { Tally } from './tally.ts';

export interface ChaosDatabase {
  readonly url: string;
  /** Whether it may be away when a node starts, which then says so in a line and gives up. */
  readonly isAwayAtTimes: boolean;
  /** When nobody does anything: whether it is whole, and nothing is held. */
  check(tally: Tally): Promise<void>;
  remove(): Promise<void>;
}
