/**
 * What the primary and its workers say to each other: the primary hands out connections and whatever workers must agree
 * on. What is in a request or an answer never crosses over.
 */

import type { Settings } from '../config.ts';
import type { NewAdministrator } from '../first-start.ts';
import type { Samples } from '../metrics/metrics.ts';
import type { Line } from '../sessions/attempt-lines.ts';
import type { ShownSetting } from '../shown-setting.ts';

/** All that a worker has to know; files may have changed since the primary has read them. */
export interface Orders {
  readonly settings: Settings;
  readonly shownSettings: readonly ShownSetting[];
  readonly place: number;
  readonly count: number;
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly orders: Orders }
  /** With a socket, unless the client has gone meanwhile. */
  | { readonly kind: 'connection' }
  /** The answer to `closing`: no further connection comes. */
  | { readonly kind: 'closed' }
  /** Another worker has. */
  | { readonly kind: 'committed' }
  | { readonly kind: 'in line'; readonly attempt: number; readonly ahead: readonly number[] }
  | { readonly kind: 'line is full'; readonly attempt: number }
  | { readonly kind: 'take place'; readonly ticket: number }
  | { readonly kind: 'connections elsewhere'; readonly userId: string; readonly count: number }
  /** What it has counted and measured. */
  | { readonly kind: 'tell samples'; readonly ticket: number }
  | { readonly kind: 'stop' };

/** About the worker itself. */
export type Report =
  /** From now on it hears what it is told. */
  | { readonly kind: 'here' }
  /** The worker that came first prepares the database, and may have made an administrator. */
  | { readonly kind: 'administrator'; readonly created: NewAdministrator }
  | { readonly kind: 'ready' }
  | { readonly kind: 'samples'; readonly ticket: number; readonly samples: Samples }
  /** In words for the operator. */
  | { readonly kind: 'failed'; readonly exitCode: number; readonly message: string }
  /** So many connections are gone since it was said last. */
  | { readonly kind: 'gone'; readonly connections: number }
  | { readonly kind: 'closing' };

/** About what workers share. */
export type Sharing =
  | { readonly kind: 'committed' }
  | { readonly kind: 'join'; readonly attempt: number; readonly lines: readonly Line[] }
  | { readonly kind: 'leave'; readonly attempt: number }
  | { readonly kind: 'want place'; readonly ticket: number }
  | { readonly kind: 'give back'; readonly ticket: number }
  | { readonly kind: 'connections here'; readonly userId: string; readonly count: number };

export type ToPrimary = { readonly report: Report } | { readonly sharing: Sharing };
