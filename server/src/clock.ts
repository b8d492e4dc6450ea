/** The clock is passed to everything that needs the time, so that tests can set it. */

export interface Clock {
  /** In milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
