/** What a scenario is, and what it finds out. */

export interface Scenario {
  readonly name: string;
  run(options: ScenarioOptions): Promise<readonly Measure[]>;
}

export interface ScenarioOptions {
  readonly rounds: number;
  readonly sockets: number;
  /** Whose sockets they are. */
  readonly people: number;
  /** On the tree that the console shows. */
  readonly folders: number;
  /** For what the numbers do not say by themselves. */
  readonly note: (text: string) => void;
  /** Whoever waits stops waiting. */
  readonly signal: AbortSignal;
}

export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** One for each round, or a single one. */
  readonly values: readonly number[];
  /** Each of the values has to be less; the run fails otherwise. */
  readonly below?: number;
}

export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function summarise(values: readonly number[]): Summary {
  const ordered = values.toSorted((one, other) => one - other);
  return { median: ordered[Math.floor(ordered.length / 2)]!, least: ordered[0]!, most: ordered.at(-1)! };
}
