/** What a server needs to run as one worker of a cluster. A server that runs alone has none. */

import type { RemoteConnections } from '../http/websocket/live-connections.ts';
import type { Samples } from '../observability/metrics.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';
import type { SharedAttemptQueues } from '../sessions/attempt-queues.ts';

export interface ClusterWorker {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
  /** No other worker of this cluster listens on the port yet. */
  readonly isFirst: boolean;
  /** All workers share one login queue and one limit of password hashes at a time. */
  readonly attemptQueues: SharedAttemptQueues;
  readonly hashingSemaphore: Semaphore;
  readonly connections: RemoteConnections;
  readonly publishCommit: () => void;
  readonly onCommitted: (listener: () => void) => void;
  /** Sets the function that reads this worker's metrics for the primary. */
  readonly onSamplesRequested: (read: () => Promise<Samples>) => void;
}
