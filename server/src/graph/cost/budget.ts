/**
 * What one answer may hold, counted while it is made. A short query can ask for a long answer: how long, only the tree
 * knows. Lists and long texts pay before they enter the answer.
 */

import type { GraphQLResolveInfo } from 'graphql';
import type { Refusal } from '../../refusal.ts';
import type { ElementFields, Selected } from './element-fields.ts';
import type { Limits } from './limits.ts';
import { tooExpensive, toFieldPath } from './limits.ts';

export type BudgetLimits = Pick<
  Limits,
  'maxFolders' | 'maxValues' | 'maxTextBytes' | 'maxPageSize' | 'maxScanned' | 'maxExportFolders'
>;
export type Place = Pick<GraphQLResolveInfo, 'path'>;

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

  /** Who reads this many and one more has read enough to be refused. */
  get foldersLeft(): number {
    return Math.max(0, this.#limits.maxFolders - this.#folders);
  }

  /** Passes a list on, unless it is too long together with what the answer holds already. */
  spend<T>(list: readonly T[], info: Place & Selected): readonly T[] {
    this.spendFolders(list.length, info);
    return list;
  }

  /** The same for so many folders. */
  spendFolders(count: number, info: Place & Selected): void {
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

  /** How many values each element of a list brings into the answer, without those of lists within it. */
  valuesOfElement(info: Selected): number {
    return Math.max(1, this.#elementFields.count(info));
  }

  /** Passes an export on: it has a budget of its own, for its folders and for what is selected of each. */
  spendExport<T>(list: readonly T[], info: Place & Selected): readonly T[] {
    const budget = this.#limits.maxExportFolders * valuesPerExported;
    if (list.length > 0) this.#exported += list.length * this.#elementFields.count(info);
    if (this.#exported <= budget) return list;
    const field = fieldNames(info);
    throw tooExpensive(
      `With ${field} the answer would hold ${this.#exported} values of exported folders; it may hold ${budget}. Select fewer fields of each folder, or export in parts.`,
      { field, cost: this.#exported, budget },
    );
  }

  /** Pays for folders that are looked at, whether they come into the answer or not. */
  scan(count: number, info: Place): void {
    const { maxScanned } = this.#limits;
    this.#scanned += count;
    if (this.#scanned <= maxScanned) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `For ${field}, ${this.#scanned} folders or more would have to be looked at; for one answer it may be ${maxScanned}. Ask for less at a time, or in a smaller part of the tree.`,
      { field, cost: this.#scanned, budget: maxScanned },
    );
  }

  /** For whoever stopped reading at one more than `foldersLeft`. */
  exceeded(info: Place): Refusal {
    return this.#tooManyFolders(this.#limits.maxFolders + 1, info);
  }

  #tooManyFolders(cost: number, info: Place): Refusal {
    const { maxFolders } = this.#limits;
    // The list, whichever of its fields came first: that is what can be paged.
    const field = fieldNames(info).replace(/\.(edges|items)$/, '');
    return tooExpensive(
      `With ${field} the answer would hold ${cost} folders or more; it may hold ${maxFolders} folders. Ask for fewer at a time: page with \`first\` and \`after\`.`,
      { field, cost, budget: maxFolders },
    );
  }

  /** Passes a text of any length on, unless the answer holds too much text already. */
  spendText<T extends string | null | undefined>(text: T, info: Place): T {
    if (typeof text === 'string') this.spendTextBytes(Buffer.byteLength(text), info);
    return text;
  }

  /** The same for so many bytes. */
  spendTextBytes(count: number, info: Place): void {
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

  /** Refuses a page that is larger than any may be, however few folders there are. */
  checkPage(size: number | null | undefined, argumentName: string, info: Place): void {
    const { maxPageSize } = this.#limits;
    if (typeof size !== 'number' || size <= maxPageSize) return;
    const field = fieldNames(info);
    throw tooExpensive(
      `\`${argumentName}\` of ${field} is ${size}; a page may have ${maxPageSize}. Ask for smaller pages.`,
      { field, cost: size, budget: maxPageSize },
    );
  }
}

function fieldNames({ path }: Place): string {
  const names: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'string') names.unshift(at.key);
  }
  return toFieldPath(names);
}
