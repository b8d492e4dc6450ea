/** What the graph is told of the server that it runs in, by whoever starts it. */

import type { Activity } from '../../activity.ts';
import type { SigningKeys } from '../../sessions/signing-keys.ts';
import type { ShownSetting } from '../../shown-setting.ts';

export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  /** The name of the machine. */
  readonly node: string;
  readonly databaseKind: 'SQLITE' | 'POSTGRESQL';
  readonly settings: readonly ShownSetting[];
  readonly refreshTokenSeconds: number;
  readonly keys: SigningKeys;
  readonly activity: Activity;
  /** Whether the database answers. May be asked as often as anybody likes. */
  readonly isReady: () => Promise<boolean>;
  /** How the scheduled backups are doing; undefined if there are none. */
  readonly backupState: (() => Promise<{ readonly isOk: boolean; readonly detail: string }>) | undefined;
}
