/** What one query may cost. The numbers are settings; `docs/price.md` tells how they are counted. */

import { Refusal } from '../../refusal.ts';

export interface Limits {
  /** Of the query's text, judged before it is parsed. */
  readonly maxQueryCharacters: number;
  readonly maxTokens: number;
  /** Of the parsed query, fragments expanded, judged before it is validated. */
  readonly maxFields: number;
  readonly maxDepth: number;
  /** Of the answer, judged while it is made. */
  readonly maxFolders: number;
  readonly maxValues: number;
  readonly maxTextBytes: number;
  readonly maxPageSize: number;
  readonly maxScanned: number;
  readonly maxExportFolders: number;
  readonly maxImportFolders: number;
  /** How many journal entries whoever follows the changes may be behind. */
  readonly maxBacklog: number;
  /** How long what was deleted can be restored. */
  readonly trashDays: number;
}
export interface Excess {
  /** The path of a field, the name of an operation, or `query` when the text was given up before it was understood. */
  readonly field: string;
  /** What counting came to; where it stopped early, the first number that is too much. */
  readonly cost: number;
  readonly budget: number;
}

export function tooExpensive(message: string, { field, cost, budget }: Excess): Refusal {
  return new Refusal('TOO_EXPENSIVE', message, { facts: { field, price: cost, budget } });
}
const mostNames = 8;
const mostCharacters = 200;
/** Names as a path. A client chooses them, so their number and length have a bound here. */

export function toFieldPath(names: readonly string[]): string {
  const path = names.slice(0, mostNames).join('.');
  const isCut = names.length > mostNames || path.length > mostCharacters;
  return isCut ? `${path.slice(0, mostCharacters)}…` : path;
}
