/** A side of a race, and what it did. */

/** What one side did in one round. */
export interface Shot {
  readonly requests: number;
  readonly cpuMicroseconds: number;
  readonly elapsedMs: number;
  /** Where single answers are waited for. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

export interface Contestant {
  fire(requests: number): Promise<Shot>;
}
