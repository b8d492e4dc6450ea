/**
 * Limits the size of one response while it is computed, because a short query can have a long response. Lists and long texts are
 * charged before they are added to the response.
 */

import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';
import type { Refusal } from '../../refusal.ts';
import { toFieldPath, tooExpensive, type Limits } from './limits.ts';

export type BudgetLimits = Pick<
  Limits,
  'maxFolders' | 'maxValues' | 'maxTextBytes' | 'maxPageSize' | 'maxScanned' | 'maxExportFolders'
>;
export type FieldLocation = Pick<GraphQLResolveInfo, 'path'>;

const valuesPerExported = 10;

export class Budget {
  readonly #limits: BudgetLimits;
  readonly #elementFields: ElementFields;
  #folders = 0;
  #values = 0;
  #textBytes = 0;
  #scanned = 0;
  #exported = 0;

  constructor(limits: BudgetLimits, elementFields: ElementFields) {
    this.#limits = limits;
    this.#elementFields = elementFields;
  }

  /** A reader that finds more folders than this can stop, because the response will be refused. */
  get foldersLeft(): number {
    return Math.max(0, this.#limits.maxFolders - this.#folders);
  }

  /** Charges a list and returns it. */
  spend<T>(list: readonly T[], info: FieldLocation & FieldSelection): readonly T[] {
    this.spendFolders(list.length, info);
    return list;
  }

  /** Charges this number of folders. */
  spendFolders(count: number, info: FieldLocation & FieldSelection): void {
    const { maxFolders, maxValues } = this.#limits;
    this.#folders += count;
    if (this.#folders > maxFolders) throw this.#folderRefusal(this.#folders, info);
    if (count > 0) this.#values += count * this.#elementFields.count(info);
    if (this.#values > maxValues) {
      throw tooLarge(fieldNames(info), this.#values, maxValues, {
        unit: 'values',
        advice:
          'Select fewer fields for each folder, or request fewer folders at a time with `first` and `after`.',
      });
    }
  }

  /** How many values each element of a list adds to the response, without the elements of inner lists. */
  valuesOfElement(info: FieldSelection): number {
    return Math.max(1, this.#elementFields.count(info));
  }

  /** Charges an export and returns it. Exports have their own budget for folders and their selected fields. */
  spendExport<T>(list: readonly T[], info: FieldLocation & FieldSelection): readonly T[] {
    const limit = this.#limits.maxExportFolders * valuesPerExported;
    if (list.length > 0) this.#exported += list.length * this.#elementFields.count(info);
    if (this.#exported <= limit) return list;
    throw tooLarge(fieldNames(info), this.#exported, limit, {
      unit: 'values of exported folders',
      advice: 'Select fewer fields for each folder, or export in parts.',
    });
  }

  /** Charges the examined folders, even if the response does not contain them. */
  scan(count: number, info: FieldLocation): void {
    const { maxScanned } = this.#limits;
    this.#scanned += count;
    if (this.#scanned <= maxScanned) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `For ${field}, the server would examine at least ${this.#scanned} folders; the limit for one response is ${maxScanned}. Request less at a time, or a smaller part of the tree.`,
      { field, cost: this.#scanned, limit: maxScanned },
    );
  }

  /** The error for a reader that found more folders than `foldersLeft`. */
  tooManyFolders(info: FieldLocation): Refusal {
    return this.#folderRefusal(this.#limits.maxFolders + 1, info);
  }

  #folderRefusal(cost: number, info: FieldLocation): Refusal {
    // Names the list, because only the list can be paged.
    const list = fieldNames(info).replace(/\.(edges|items)$/, '');
    return tooLarge(list, cost, this.#limits.maxFolders, {
      unit: 'or more folders',
      advice: 'Request fewer folders at a time with `first` and `after`.',
    });
  }

  /** Charges a text and returns it. */
  spendText<T extends string | null | undefined>(text: T, info: FieldLocation): T {
    if (typeof text !== 'string') return text;
    const { maxTextBytes } = this.#limits;
    this.#textBytes += Buffer.byteLength(text);
    if (this.#textBytes <= maxTextBytes) return text;
    throw tooLarge(fieldNames(info), this.#textBytes, maxTextBytes, {
      unit: 'bytes of text',
      advice: 'Request the long texts of fewer folders at a time.',
    });
  }

  /** Refuses a page size over the maximum, even if the list is shorter. */
  checkPage(size: number | null | undefined, argumentName: string, info: FieldLocation): void {
    const { maxPageSize } = this.#limits;
    if (typeof size !== 'number' || size <= maxPageSize) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `\`${argumentName}\` of ${field} is ${size}; the maximum is ${maxPageSize}. Request smaller pages.`,
      { field, cost: size, limit: maxPageSize },
    );
  }
}

function tooLarge(
  field: string,
  cost: number,
  limit: number,
  { unit, advice }: { readonly unit: string; readonly advice: string },
): Refusal {
  const message = `With ${field}, the response would contain ${cost} ${unit}; the limit is ${limit}. ${advice}`;
  return tooExpensive(message, { field, cost, limit });
}

function fieldNames({ path }: FieldLocation): string {
  const names: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'string') names.unshift(at.key);
  }
  return toFieldPath(names);
}

/** The number of characters in an alias that cost as much as one value. */
export const charactersPerValue = 32;

/** The parts of GraphQLResolveInfo that describe the selection of a field. */
export type FieldSelection = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType' | 'schema'>;

/**
 * Counts the values that each element of a list adds to the response, without the elements of inner lists. The count is cached for
 * each field of a document, as long as the document is cached.
 */
export class ElementFields {
  readonly #cache = new WeakMap<FieldNode, number>();

  count(selected: FieldSelection): number {
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

function countOne({ selectionSet }: FieldNode, type: GraphQLNamedType, selected: FieldSelection): number {
  return selectionSet ? countFields([{ selectionSet, type }], selected) : 1;
}

interface TypedSet {
  readonly selectionSet: SelectionSetNode;
  readonly type: GraphQLNamedType;
}

/** Fields with the same name are one value. An inner list is one value: its elements are charged separately. */
function countFields(sets: readonly TypedSet[], selected: FieldSelection): number {
  const below = new Map<string, TypedSet[]>();
  const open = [...sets];
  const seen = new Set<string>();
  for (const { selectionSet, type } of open) {
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const group = below.get(name) ?? [];
        below.set(name, group);
        const isComposite = isObjectType(type) || isInterfaceType(type);
        const fieldType = isComposite ? type.getFields()[selection.name.value]?.type : undefined;
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
