/**
 * Counts the comparisons of validation. Fields of the same name in the same object must be mergeable, so validation compares
 * all pairs of fields and of fragments (https://spec.graphql.org/draft/#sec-Field-Selection-Merging).
 */

import { Kind, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';

export interface Comparisons {
  readonly count: number;
  /** The response name, or the fragment, that is compared most often. */
  readonly mostCompared: string;
}

/** Stops counting at `limit`. */
export function countComparisons({ definitions }: DocumentNode, limit: number): Comparisons {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const work: (readonly SelectionSetNode[])[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if ('selectionSet' in definition) work.push([definition.selectionSet]);
  }

  const isNew = createNewCheck();
  let count = 0;
  let most = { name: 'query', pairs: 0 };
  const add = (name: string, length: number) => {
    const pairs = (length * (length - 1)) / 2;
    count += pairs;
    if (pairs > most.pairs) most = { name, pairs };
  };

  for (let sets = work.pop(); sets && count <= limit; sets = work.pop()) {
    // Fragments may contain themselves.
    if (!isNew(sets)) continue;
    const { size, fields, spreads } = collect(sets, fragments);
    count += size;
    add(spreads[0] ?? '', spreads.length);
    for (const [name, { length, below }] of fields) {
      add(name, length);
      if (below.length > 0) work.push(below);
    }
  }
  return { count, mostCompared: most.name };
}

/** Merges the selection sets of one object and expands fragments, without regard to types. */
function collect(sets: readonly SelectionSetNode[], fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const fields = new Map<string, { length: number; below: SelectionSetNode[] }>();
  const spreads: string[] = [];
  const open = [...sets];
  const seen = new Set<string>();
  let size = 0;
  // The list grows during the iteration.
  for (const set of open) {
    size += set.selections.length;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        let group = fields.get(name);
        if (!group) fields.set(name, (group = { length: 0, below: [] }));
        group.length++;
        if (selection.selectionSet) group.below.push(selection.selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        open.push(selection.selectionSet);
      } else {
        const name = selection.name.value;
        spreads.push(name);
        const fragment = seen.has(name) ? undefined : fragments.get(name);
        seen.add(name);
        if (fragment) open.push(fragment.selectionSet);
      }
    }
  }
  return { size, fields, spreads };
}

/** Returns a function that checks whether a combination of selection sets is new. */
function createNewCheck(): (sets: readonly SelectionSetNode[]) => boolean {
  const numbers = new Map<SelectionSetNode, number>();
  const seen = new Set<string>();
  return (sets) => {
    const key = sets
      .map((set) => {
        const number = numbers.get(set) ?? numbers.size;
        numbers.set(set, number);
        return number;
      })
      .join();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
}
