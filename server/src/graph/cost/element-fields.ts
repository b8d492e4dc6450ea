/** How many values each element of a list brings into the answer, without those of lists within it. */

import {
  getNamedType,
  getNullableType,
  isListType,
  Kind,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';
import { fieldTypeOf } from './schema-sizes.ts';

/** An alias counts for one more with every so many. */
export const lettersOfAValue = 32;

/** The parts of GraphQLResolveInfo that tell what a field selects. */
export type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType' | 'schema'>;

/** Counted once for each field of a document, for as long as the document is kept. */
export class ElementFields {
  readonly #known = new WeakMap<FieldNode, number>();

  count(selected: Selected): number {
    const type = getNamedType(selected.returnType);
    let total = 0;
    for (const node of selected.fieldNodes) {
      let fields = this.#known.get(node);
      if (fields === undefined) this.#known.set(node, (fields = countOne(node, type, selected)));
      total += fields;
    }
    return total;
  }
}

function countOne({ selectionSet }: FieldNode, type: GraphQLNamedType, selected: Selected): number {
  return selectionSet ? countFields([{ selectionSet, type }], selected) : 1;
}

interface TypedSet {
  readonly selectionSet: SelectionSetNode;
  readonly type: GraphQLNamedType;
}

/** Fields of the same name are one value. A list within is one, too: what it holds, it pays for itself. */
function countFields(sets: readonly TypedSet[], selected: Selected): number {
  const below = new Map<string, TypedSet[]>();
  const open = [...sets];
  const seen = new Set<string>();
  for (const { selectionSet, type } of open) {
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const group = below.get(name) ?? [];
        below.set(name, group);
        const fieldType = fieldTypeOf(selected.schema, type, selection.name.value);
        if (fieldType && selection.selectionSet && !isListType(getNullableType(fieldType))) {
          group.push({ selectionSet: selection.selectionSet, type: getNamedType(fieldType) });
        }
        continue;
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : selected.fragments[selection.name.value];
      if (!fragment) continue;
      const condition = fragment.typeCondition && selected.schema.getType(fragment.typeCondition.name.value);
      open.push({ selectionSet: fragment.selectionSet, type: condition ?? type });
    }
  }
  let total = 0;
  // A long alias is repeated in the answer as often as its value.
  for (const name of below.keys()) total += 1 + Math.floor(name.length / lettersOfAValue);
  for (const group of below.values()) if (group.length > 0) total += countFields(group, selected);
  return total;
}
