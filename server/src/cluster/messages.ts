/** The messages between the primary and its workers. They never contain requests or responses. */

import type { Settings } from '../config/settings-table.ts';
import type { NewAdministrator } from '../startup/installation.ts';
import type { ClusterWorker } from '../startup/services.ts';
import type { Samples } from '../observability/metrics.ts';
import type { QueueKey } from '../sessions/attempt-queues.ts';
import type { DisplayedSetting } from '../config/setting.ts';

/** Contains the settings, because only the primary reads them. Files that a setting names can change before a worker restarts. */
export interface WorkerSetup extends Pick<ClusterWorker, 'number' | 'count' | 'isFirst'> {
  readonly settings: Settings;
  readonly displayedSettings: readonly DisplayedSetting[];
}

export type ToWorker =
  | { readonly kind: 'start'; readonly setup: WorkerSetup }
  /** Another worker has committed a transaction. */
  | { readonly kind: 'committed' }
  | { readonly kind: 'queued'; readonly attempt: number; readonly ahead: readonly number[] }
  | { readonly kind: 'queue full'; readonly attempt: number }
  | { readonly kind: 'permit granted'; readonly ticket: number }
  | { readonly kind: 'remote connections'; readonly userId: string; readonly count: number }
  /** Requests the worker's metrics. */
  | { readonly kind: 'read samples'; readonly ticket: number }
  | { readonly kind: 'stop' };

/** Messages about the worker itself. */
export type WorkerReport =
  /** The worker now receives messages. */
  | { readonly kind: 'connected' }
  /** The first worker prepares the database and can create the administrator. */
  | { readonly kind: 'administrator'; readonly created: NewAdministrator }
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'samples'; readonly ticket: number; readonly samples: Samples }
  /** The message is for the operator. */
  | { readonly kind: 'failed'; readonly exitCode: number; readonly message: string };

/** Messages about the state that all workers share. */
export type SharedStateMessage =
  | { readonly kind: 'committed' }
  | { readonly kind: 'join'; readonly attempt: number; readonly keys: readonly QueueKey[] }
  | { readonly kind: 'leave'; readonly attempt: number }
  | { readonly kind: 'acquire permit'; readonly ticket: number }
  | { readonly kind: 'release permit'; readonly ticket: number }
  | { readonly kind: 'local connections'; readonly userId: string; readonly count: number };

export type ToPrimary = WorkerReport | SharedStateMessage;
