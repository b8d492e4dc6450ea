/** The errors of an answer in the order of its fields, however long each of them took. */

import type { GraphQLError } from 'graphql';

type Path = readonly (string | number)[];

export function inOrderOfFields(errors: readonly GraphQLError[], data: unknown): readonly GraphQLError[] {
  if (errors.length < 2) return errors;
  return errors.toSorted((one, other) => {
    const [path, otherPath] = [one.path ?? [], other.path ?? []];
    const place = path.findIndex((step, at) => step !== otherPath[at]);
    if (place < 0 || otherPath[place] === undefined) return path.length - otherPath.length;
    const [step, otherStep] = [path[place]!, otherPath[place]];
    if (typeof step === 'number' || typeof otherStep === 'number') return Number(step) - Number(otherStep);
    const keys = Object.keys(valueAt(data, path.slice(0, place)) ?? {});
    return keys.includes(step) ? keys.indexOf(step) - keys.indexOf(otherStep) : startOf(one) - startOf(other);
  });
}

/** Undefined if there is nothing left of it: an error below has taken it away. */
function valueAt(data: unknown, path: Path): object | undefined {
  let at = data;
  for (const step of path) at = (at as Record<string | number, unknown> | null | undefined)?.[step];
  return typeof at === 'object' && at !== null ? at : undefined;
}

function startOf({ nodes }: GraphQLError): number {
  return nodes?.[0]?.loc?.start ?? 0;
}
