/** What the graph is told of the server that it runs in, by whoever starts it. */

import type { Activity } from '../../activity.ts';
import type { HealthCheck } from '../../health.ts';
import type { ShownSetting } from '../../shown-setting.ts';

export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  /** The name of the machine. */
  readonly node: string;
  readonly databaseKind: 'SQLITE' | 'POSTGRESQL';
  readonly settings: readonly ShownSetting[];
  readonly refreshTokenSeconds: number;
  readonly activity: Activity;
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
}
