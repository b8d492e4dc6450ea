/**
 * Collects everything that concurrent actors did and read, and orders it by the journal afterwards. A change
 * is applied to the model at its journal number. A read must equal the model at its number. A mutation result
 * or an event has a range of numbers, and must equal the model at one of them.
 */

import { isDeepStrictEqual } from 'node:util';
import { fromJournalCursor } from '../../server/src/journal/journal-entry.ts';
import { ModelRefusalError } from '../model/model-input.ts';
import type { TreeModel } from '../model/tree-model.ts';

export interface Change {
  readonly number: number;
  readonly title: string;
  /** Throws a refusal if the model does not allow it. */
  readonly apply: (model: TreeModel) => void;
}

export interface Observation {
  readonly low: number;
  readonly high: number;
  readonly title: string;
  readonly actual: unknown;
  /** Returns all valid values for the current state of the model. */
  readonly expected: (model: TreeModel) => readonly unknown[];
  /** Called once, when the model is at `low`. */
  readonly onLow?: (model: TreeModel) => void;
}

export class History {
  readonly #changes: Change[] = [];
  readonly #observations: Observation[] = [];

  get size(): { readonly changes: number; readonly observations: number } {
    return { changes: this.#changes.length, observations: this.#observations.length };
  }

  change(change: Change): void {
    this.#changes.push(change);
  }

  observe(observation: Observation): void {
    this.#observations.push(observation);
  }

  /** Describes the first difference between the server and the model. */
  findDifference(model: TreeModel, start: number): string | undefined {
    const changes = this.#changes.toSorted((one, other) => one.number - other.number);
    const pendingObservations = this.#observations.toSorted((one, other) => one.low - other.low);
    const end = Math.max(
      start,
      ...changes.map(({ number }) => number),
      ...pendingObservations.map(({ low }) => low),
    );
    let openObservations: OpenObservation[] = [];
    let [nextChange, nextObservation] = [0, 0];
    for (let number = start; number <= end; number++) {
      for (; changes[nextChange]?.number === number; nextChange++) {
        const refusal = apply(model, changes[nextChange]!);
        if (refusal) return refusal;
      }
      for (; (pendingObservations[nextObservation]?.low ?? Infinity) <= number; nextObservation++) {
        const observation = pendingObservations[nextObservation]!;
        observation.onLow?.(model);
        openObservations.push({ observation, alternatives: [] });
      }
      openObservations = openObservations.filter((each) => !matches(model, each));
      const [mismatch] = openObservations.filter(({ observation }) => observation.high <= number);
      if (mismatch) return describe(mismatch);
    }
    return undefined;
  }
}

interface OpenObservation {
  readonly observation: Observation;
  readonly alternatives: unknown[];
}

export function readNumber(cursor: string): number {
  return fromJournalCursor(cursor, 'cursor').number;
}

function apply(model: TreeModel, { number, title, apply: run }: Change): string | undefined {
  try {
    run(model);
    return undefined;
  } catch (error) {
    if (!(error instanceof ModelRefusalError)) throw error;
    return `The server accepted change ${number}, which the model refuses with ${error.code}: ${title}`;
  }
}

function matches(model: TreeModel, { observation, alternatives }: OpenObservation): boolean {
  const expected = observation.expected(model);
  alternatives.push(...expected);
  return expected.some((each) => isDeepStrictEqual(observation.actual, each));
}

function describe({ observation: { title, low, high, actual }, alternatives }: OpenObservation): string {
  return [
    `${title} differs from the model at ${low} to ${high}.`,
    `Actual:   ${JSON.stringify(actual)}`,
    `Expected: ${alternatives.map((each) => JSON.stringify(each)).join('\n or       ')}`,
  ].join('\n');
}
