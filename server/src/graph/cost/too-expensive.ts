/** The refusal of what costs too much: it always tells the field, its price and the budget. */

import { Refusal } from '../../refusal.ts';

export interface Excess {
  /** The path of a field, the name of an operation, or `query` when the text was given up before it was understood. */
  readonly field: string;
  /** What counting came to; where it stopped early, the first number that is too much. */
  readonly cost: number;
  readonly budget: number;
}

export function tooExpensive(message: string, { field, cost, budget }: Excess): Refusal {
  return new Refusal('TOO_EXPENSIVE', message, { facts: { field, cost, budget } });
}

const mostNames = 8;
const mostCharacters = 200;

/** Names as a path. A client chooses them, so their number and length have a bound here. */
export function toFieldPath(names: readonly string[]): string {
  const path = names.slice(0, mostNames).join('.');
  const isCut = names.length > mostNames || path.length > mostCharacters;
  return isCut ? `${path.slice(0, mostCharacters)}…` : path;
}
