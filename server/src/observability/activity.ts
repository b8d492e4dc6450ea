/**
 * Counts requests, logins and errors of this node by minute, for the last hour. Counting has no measurable cost, and the
 * memory has a fixed size.
 */

import type { Clock } from '../clock.ts';

export const countedKinds = ['requests', 'errors', 'logins', 'failedLogins', 'refreshes'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** The counts of one minute. */
export interface ActivityMinute extends Readonly<Record<CountedKind, number>> {
  /** The start of the minute. */
  readonly at: number;
}

/** Includes the current minute. */
export const maxMinutes = 60;

const minuteMs = 60_000;
const width = countedKinds.length;

export class Activity {
  /** Open now: WebSockets and event streams. */
  sockets = 0;
  /** Open now. */
  subscriptions = 0;
  /** Responses of subscriptions since the start: computed, or taken from an equal subscription. */
  readonly responses = { computed: 0, shared: 0 };
  readonly #clock: Clock;
  /** A ring buffer: the minute in each slot, and its counts. */
  readonly #minutes = new Float64Array(maxMinutes).fill(-1);
  readonly #counts = new Uint32Array(maxMinutes * width);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(kind: CountedKind): void {
    const minute = this.#minuteNow();
    const slot = minute % maxMinutes;
    if (this.#minutes[slot] !== minute) {
      this.#minutes[slot] = minute;
      this.#counts.fill(0, slot * width, (slot + 1) * width);
    }
    this.#counts[slot * width + countedKinds.indexOf(kind)]!++;
  }

  /** The last minutes in order, including those without any count. */
  lastMinutes(count: number): ActivityMinute[] {
    const last = this.#minuteNow();
    return Array.from({ length: count }, (_, index) => this.#read(last - count + 1 + index));
  }

  #read(minute: number): ActivityMinute {
    const slot = minute % maxMinutes;
    const isStored = this.#minutes[slot] === minute;
    const counts = countedKinds.map((kind, offset) => [
      kind,
      isStored ? this.#counts[slot * width + offset]! : 0,
    ]);
    return { ...(Object.fromEntries(counts) as Record<CountedKind, number>), at: minute * minuteMs };
  }

  #minuteNow(): number {
    return Math.floor(this.#clock.now() / minuteMs);
  }
}
