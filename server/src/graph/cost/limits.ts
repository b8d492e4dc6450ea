/** The limits of the cost of one query. They are settings; `docs/price.md` explains how the cost is counted. */

import { Refusal } from '../../refusal.ts';

export interface Limits {
  /** Limits of the text, checked before it is parsed. */
  readonly maxQueryCharacters: number;
  readonly maxTokens: number;
  /** Limits of the parsed query with fragments expanded, checked before it is validated. */
  readonly maxFields: number;
  readonly maxDepth: number;
  /** Limits of the response, checked while it is computed. */
  readonly maxFolders: number;
  readonly maxValues: number;
  readonly maxTextBytes: number;
  readonly maxPageSize: number;
  readonly maxScanned: number;
  readonly maxExportFolders: number;
  readonly maxImportFolders: number;
  /** How many journal entries a subscription may fall behind. */
  readonly maxBacklog: number;
  /** How long a deleted folder can be restored. */
  readonly trashDays: number;
}

export interface Excess {
  /** The path of a field, the name of an operation, or `query` if the text was not parsed completely. */
  readonly field: string;
  /** The counted cost; where counting stopped early, the first number over the budget. */
  readonly cost: number;
  readonly budget: number;
}

/** The details contain the field, its cost as `price`, and the budget. */
export function tooExpensive(message: string, { field, cost, budget }: Excess): Refusal {
  return new Refusal('TOO_EXPENSIVE', message, { facts: { field, price: cost, budget } });
}

const maxNames = 8;
const maxCharacters = 200;

/** Joins names to a path. The client chooses the names, so their number and length are limited. */
export function toFieldPath(names: readonly string[]): string {
  const path = names.slice(0, maxNames).join('.');
  const isCut = names.length > maxNames || path.length > maxCharacters;
  return isCut ? `${path.slice(0, maxCharacters)}…` : path;
}
