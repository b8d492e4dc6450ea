/** The types of scenarios and their results. */

import type { Child } from './child.ts';
import type { DatabaseName, Site } from './site.ts';
import type { Tree } from './tree.ts';

export interface Scenario {
  readonly name: string;
  readonly about: string;
}

/** Scenarios that share their preparation. */
export interface Group {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
  run(chosenNames: readonly string[], on: DatabaseSites, bench: Bench): Promise<void>;
}

/** An installation with its tree. */
export interface PreparedSite {
  readonly label: string;
  readonly site: Site;
  readonly tree: Tree;
}

/** The installations on one database. */
export interface DatabaseSites {
  readonly database: DatabaseName;
  readonly sites: readonly PreparedSite[];
}

export interface Bench {
  readonly databases: readonly DatabaseName[];
  readonly folders: number;
  /** Also measures on the smallest tree. */
  readonly compareSizes: boolean;
  /** Also sends each read with an API key instead of an auth token. */
  readonly withApiKey: boolean;
  /** Another checkout that is measured in the same rounds. */
  readonly against: string | undefined;
  /** Settings of the server by environment variable, without the prefix. */
  readonly settings: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** The maximum number of requests in a round. With a small number, a run only shows that the scenario works. */
  readonly maxRequests: number;
  readonly load: Child;
  readonly baseline: Child;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  readonly report: (result: Result) => void;
}

export interface Series {
  readonly label: string;
  /** One for each round. */
  readonly values: readonly number[];
}

export interface Result {
  readonly scenario: string;
  readonly database?: DatabaseName;
  readonly viewer?: string;
  readonly unit: string;
  /** The first series is this checkout with the tree of the requested size. */
  readonly series: readonly Series[];
  readonly baseline?: Series;
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, min: sorted[0]!, max: sorted.at(-1)! };
}
