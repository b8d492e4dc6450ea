/** The clock that the client uses. It is an option, so that tests can control the time. */

/** The current time. Replace it in tests. */
export interface Clock {
  /** Returns milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
