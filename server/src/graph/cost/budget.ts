/**
 * The size of one response, counted while it is computed: a short query can have a long response, depending on the tree.
 * Lists and long texts are charged before they are added to the response.
 */

import type { GraphQLResolveInfo } from 'graphql';
import type { Refusal } from '../../refusal.ts';
import type { ElementFields, Selected } from './element-fields.ts';
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

  /** A reader that finds more folders than this can stop: the response is refused. */
  get foldersLeft(): number {
    return Math.max(0, this.#limits.maxFolders - this.#folders);
  }

  /** Charges a list and returns it. */
  spend<T>(list: readonly T[], info: FieldLocation & Selected): readonly T[] {
    this.spendFolders(list.length, info);
    return list;
  }

  /** Charges so many folders. */
  spendFolders(count: number, info: FieldLocation & Selected): void {
    const { maxFolders, maxValues } = this.#limits;
    this.#folders += count;
    if (this.#folders > maxFolders) throw this.#tooManyFolders(this.#folders, info);
    if (count > 0) this.#values += count * this.#elementFields.count(info);
    if (this.#values > maxValues) {
      const field = fieldNames(info);
      throw tooExpensive(
        `With ${field} the answer would hold ${this.#values} values; it may hold ${maxValues}. Select fewer fields of each folder, or fewer folders at a time: page with \`first\` and \`after\`.`,
        { field, cost: this.#values, budget: maxValues },
      );
    }
  }

  /** How many values each element of a list adds to the response, without the elements of inner lists. */
  valuesOfElement(info: Selected): number {
    return Math.max(1, this.#elementFields.count(info));
  }

  /** Charges an export and returns it. Exports have their own budget for folders and their selected fields. */
  spendExport<T>(list: readonly T[], info: FieldLocation & Selected): readonly T[] {
    const budget = this.#limits.maxExportFolders * valuesPerExported;
    if (list.length > 0) this.#exported += list.length * this.#elementFields.count(info);
    if (this.#exported <= budget) return list;
    const field = fieldNames(info);
    throw tooExpensive(
      `With ${field} the answer would hold ${this.#exported} values of exported folders; it may hold ${budget}. Select fewer fields of each folder, or export in parts.`,
      { field, cost: this.#exported, budget },
    );
  }

  /** Charges folders that are examined, whether they are part of the response or not. */
  scan(count: number, info: FieldLocation): void {
    const { maxScanned } = this.#limits;
    this.#scanned += count;
    if (this.#scanned <= maxScanned) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `For ${field}, ${this.#scanned} folders or more would have to be looked at; for one answer it may be ${maxScanned}. Ask for less at a time, or in a smaller part of the tree.`,
      { field, cost: this.#scanned, budget: maxScanned },
    );
  }

  /** The error for a reader that found more than `foldersLeft`. */
  exceeded(info: FieldLocation): Refusal {
    return this.#tooManyFolders(this.#limits.maxFolders + 1, info);
  }

  #tooManyFolders(cost: number, info: FieldLocation): Refusal {
    const { maxFolders } = this.#limits;
    // Names the list, because only the list can be paged.
    const field = fieldNames(info).replace(/\.(edges|items)$/, '');
    return tooExpensive(
      `With ${field} the answer would hold ${cost} folders or more; it may hold ${maxFolders} folders. Ask for fewer at a time: page with \`first\` and \`after\`.`,
      { field, cost, budget: maxFolders },
    );
  }

  /** Charges a text and returns it. */
  spendText<T extends string | null | undefined>(text: T, info: FieldLocation): T {
    if (typeof text === 'string') this.spendTextBytes(Buffer.byteLength(text), info);
    return text;
  }

  /** Charges so many bytes of text. */
  spendTextBytes(count: number, info: FieldLocation): void {
    const { maxTextBytes } = this.#limits;
    this.#textBytes += count;
    if (this.#textBytes > maxTextBytes) {
      const field = fieldNames(info);
      throw tooExpensive(
        `With ${field} the answer would hold ${this.#textBytes} bytes of text; it may hold ${maxTextBytes}. Ask for the long texts of fewer folders at a time.`,
        { field, cost: this.#textBytes, budget: maxTextBytes },
      );
    }
  }

  /** Refuses a page size over the maximum, also if there are fewer folders. */
  checkPage(size: number | null | undefined, argumentName: string, info: FieldLocation): void {
    const { maxPageSize } = this.#limits;
    if (typeof size !== 'number' || size <= maxPageSize) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `\`${argumentName}\` of ${field} is ${size}; a page may have ${maxPageSize}. Ask for smaller pages.`,
      { field, cost: size, budget: maxPageSize },
    );
  }
}

function fieldNames({ path }: FieldLocation): string {
  const names: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'string') names.unshift(at.key);
  }
  return toFieldPath(names);
}
