/** What a server knows of the other workers of its node. One that runs alone has none. */

import type { ConnectionsElsewhere } from '../http/live-connections.ts';
import type { listen } from '../http/listening.ts';
import type { Samples } from '../metrics/metrics.ts';
import type { Places } from '../places.ts';
import type { SharedLines } from '../sessions/attempt-lines.ts';

export interface Neighbours {
  /** Which worker this is, from 1 on, of how many. */
  readonly place: number;
  readonly count: number;
  /** Takes the connections that are handed to this worker, instead of a port. */
  readonly listen: typeof listen;
  /** Attempts at passwords stand in the same lines, and are hashed in the same places. */
  readonly lines: SharedLines;
  readonly places: Places;
  readonly connections: ConnectionsElsewhere;
  readonly tellCommitted: () => void;
  readonly onCommitted: (listener: () => void) => void;
  /** Called when the metrics of all workers are asked for. */
  readonly onAskedForSamples: (tell: () => Promise<Samples>) => void;
}
