/**
 * What a node does and has done lately, as plain numbers: those who do it count, and whoever asks is told. Counting costs
 * a request nothing that can be measured, and what is remembered never grows.
 */

import type { Clock } from '../clock.ts';

export const countedKinds = ['requests', 'errors', 'logins', 'failedLogins', 'refreshes'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** What was counted in a minute. */
export interface ActivityMinute extends Readonly<Record<CountedKind, number>> {
  /** When it began. */
  readonly at: number;
}

/** So many minutes are remembered, with the one that has begun. */
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
  /** Which minute is kept at each place of the ring, and what was counted in it. */
  readonly #minutes = new Float64Array(maxMinutes).fill(-1);
  readonly #counts = new Uint32Array(maxMinutes * width);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(kind: CountedKind): void {
    const minute = this.#minuteNow();
    const place = minute % maxMinutes;
    if (this.#minutes[place] !== minute) {
      this.#minutes[place] = minute;
      this.#counts.fill(0, place * width, (place + 1) * width);
    }
    this.#counts[place * width + countedKinds.indexOf(kind)]!++;
  }

  /** The last minutes, one after the other; those in which nothing was counted, too. */
  lastMinutes(minutes: number): ActivityMinute[] {
    const last = this.#minuteNow();
    return Array.from({ length: minutes }, (_, place) => this.#read(last - minutes + 1 + place));
  }

  #read(minute: number): ActivityMinute {
    const place = minute % maxMinutes;
    const isKept = this.#minutes[place] === minute;
    const counts = countedKinds.map((kind, offset) => [
      kind,
      isKept ? this.#counts[place * width + offset]! : 0,
    ]);
    return { ...(Object.fromEntries(counts) as Record<CountedKind, number>), at: minute * minuteMs };
  }

  #minuteNow(): number {
    return Math.floor(this.#clock.now() / minuteMs);
  }
}
