/** Lists of several owners, for example the sessions of each user. One statement reads the first pages of all owners. */

import type { KeyedSlice } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { KeysetList } from './keyset-connection.ts';
import type { Budget, FieldLocation } from '../../cost/budget.ts';

export interface ListsOfEach<Item> {
  /** Reads the same slice of each owner's list. The map has no entry for an owner without items. */
  read(ownerIds: readonly string[], slice: KeyedSlice): PromiseOrValue<ReadonlyMap<string, readonly Item[]>>;
  count(ownerIds: readonly string[]): PromiseOrValue<ReadonlyMap<string, number>>;
}

/** The budget and the field that the items are charged to. */
export interface Charge {
  readonly budget: Budget;
  readonly info: FieldLocation;
}

/** Bounds the memory and the time of one statement. */
const maxRowsPerStatement = 5_000;

export class PagesOfEach<Item> {
  readonly #ownerIds: readonly string[];
  readonly #lists: ListsOfEach<Item>;
  readonly #firstPages = new Map<number, PromiseOrValue<ReadonlyMap<string, readonly Item[]>>>();
  #counts: PromiseOrValue<ReadonlyMap<string, number>> | undefined;

  constructor(ownerIds: readonly string[], lists: ListsOfEach<Item>) {
    this.#ownerIds = ownerIds;
    this.#lists = lists;
  }

  listOf(
    ownerId: string,
    { name, keyOf }: Pick<KeysetList<Item>, 'name' | 'keyOf'>,
    charge: Charge,
  ): KeysetList<Item> {
    return {
      name,
      keyOf,
      read: (slice) => this.pageOf(ownerId, slice, charge),
      count: () => this.countOf(ownerId),
    };
  }

  pageOf(ownerId: string, slice: KeyedSlice, charge: Charge): PromiseOrValue<readonly Item[]> {
    return whenDone(this.#readFor(ownerId, slice, charge), (pages) => pages.get(ownerId) ?? []);
  }

  countOf(ownerId: string): PromiseOrValue<number> {
    this.#counts ??= this.#lists.count(this.#ownerIds);
    return whenDone(this.#counts, (counts) => counts.get(ownerId) ?? 0);
  }

  #readFor(
    ownerId: string,
    slice: KeyedSlice,
    charge: Charge,
  ): PromiseOrValue<ReadonlyMap<string, readonly Item[]>> {
    // A cursor belongs to the list of one owner.
    if (slice.after !== undefined) return this.#lists.read([ownerId], slice);
    let pages = this.#firstPages.get(slice.limit);
    if (!pages) this.#firstPages.set(slice.limit, (pages = this.#readFirstPages(slice, charge)));
    return pages;
  }

  /** Refuses as soon as the pages hold more items than the response may hold. */
  #readFirstPages(
    slice: KeyedSlice,
    { budget, info }: Charge,
  ): PromiseOrValue<ReadonlyMap<string, readonly Item[]>> {
    const ownerIds = this.#ownerIds;
    const batch = Math.max(1, Math.floor(maxRowsPerStatement / slice.limit));
    // Each page reads one item more than it returns.
    const maxItems = budget.foldersLeft + ownerIds.length;
    const pages = new Map<string, readonly Item[]>();
    let count = 0;
    const readFrom = (start: number): PromiseOrValue<ReadonlyMap<string, readonly Item[]>> => {
      if (start >= ownerIds.length) return pages;
      return whenDone(this.#lists.read(ownerIds.slice(start, start + batch), slice), (found) => {
        for (const [ownerId, items] of found) {
          pages.set(ownerId, items);
          count += items.length;
        }
        if (count > maxItems) throw budget.exceeded(info);
        return readFrom(start + batch);
      });
    };
    return readFrom(0);
  }
}
