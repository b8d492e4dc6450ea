/** Counts requests, logins and errors of this node by minute, for the last hour. The memory for these counts has a fixed size. */

import type { Clock } from '../clock.ts';

type CountedKind = 'requests' | 'errors' | 'logins' | 'failedLogins' | 'refreshes';

/** The counts of one minute. */
export interface ActivityMinute extends Readonly<Record<CountedKind, number>> {
  /** The start of the minute. */
  readonly at: number;
}

/** Includes the current minute. */
export const maxMinutes = 60;

const minuteMs = 60_000;

export class Activity {
  /** The number of open WebSockets and event streams. */
  sockets = 0;
  /** The number of open subscriptions. */
  subscriptions = 0;
  /** Responses of subscriptions since the start: computed, or taken from an equal subscription. */
  readonly responses = { computed: 0, shared: 0 };
  readonly #clock: Clock;
  /** A ring buffer. Each slot is replaced when its minute is over. */
  readonly #minutes = Array.from({ length: maxMinutes }, () => emptyMinute(-1));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(kind: CountedKind): void {
    const minute = this.#minuteNow();
    const slot = minute % maxMinutes;
    if (this.#minutes[slot]!.at !== minute * minuteMs) this.#minutes[slot] = emptyMinute(minute);
    this.#minutes[slot]![kind]++;
  }

  /** The last minutes in order, including those without any count. */
  lastMinutes(count: number): ActivityMinute[] {
    const first = this.#minuteNow() - count + 1;
    return Array.from({ length: count }, (_, index) => {
      const empty = emptyMinute(first + index);
      const stored = this.#minutes[(first + index) % maxMinutes];
      return stored?.at === empty.at ? { ...stored } : empty;
    });
  }

  #minuteNow(): number {
    return Math.floor(this.#clock.now() / minuteMs);
  }
}

type MinuteCounts = { -readonly [Key in keyof ActivityMinute]: number };

function emptyMinute(minute: number): MinuteCounts {
  return { requests: 0, errors: 0, logins: 0, failedLogins: 0, refreshes: 0, at: minute * minuteMs };
}
