/** Time as something that is passed in: tests move it, nothing else reads the machine's clock. */

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
