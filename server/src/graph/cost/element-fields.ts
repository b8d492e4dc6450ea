/** Counts the values that each element of a list adds to the response, without the elements of inner lists. */

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

/** An alias counts as one more value for each so many characters. */
export const charactersPerValue = 32;

/** The parts of GraphQLResolveInfo that describe the selection of a field. */
export type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType' | 'schema'>;

/** The count is cached for each field of a document, as long as the document is cached. */
export class ElementFields {
  readonly #cache = new WeakMap<FieldNode, number>();

  count(selected: Selected): number {
    const type = getNamedType(selected.returnType);
    let total = 0;
    for (const node of selected.fieldNodes) {
      let fields = this.#cache.get(node);
      if (fields === undefined) this.#cache.set(node, (fields = countOne(node, type, selected)));
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

/** Fields of the same name are one value. An inner list is one value: its elements are charged separately. */
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
  // A long alias is repeated in the response as often as its value.
  for (const name of below.keys()) total += 1 + Math.floor(name.length / charactersPerValue);
  for (const group of below.values()) if (group.length > 0) total += countFields(group, selected);
  return total;
}
