/**
 * Lists as Relay's cursor connections: https://relay.dev/graphql/connections.htm. A cursor holds the key of a row, not its index,
 * so that it stays correct while rows are added and removed.
 */

import type { KeyedSlice } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { decodeCursor, encodeCursor } from '../../../database/cursor-encoding.ts';
import { isRowId } from '../../../database/statement.ts';
import { Refusal } from '../../../refusal.ts';
import type { Budget, FieldLocation } from '../../cost/budget.ts';

export interface PageInfo {
  readonly hasNextPage: PromiseOrValue<boolean>;
  readonly hasPreviousPage: PromiseOrValue<boolean>;
  readonly startCursor: PromiseOrValue<string | null>;
  readonly endCursor: PromiseOrValue<string | null>;
}

export class Edge<Node> {
  readonly node: Node;
  /** The number of levels below the folder of the list; null in a list without levels. */
  readonly depth: number | null;
  readonly #cursorOf: (node: Node) => string;

  /** Lists pass the same function to all edges where possible, because there may be very many edges. */
  constructor(node: Node, depth: number | null, cursorOf: (node: Node) => string) {
    this.node = node;
    this.depth = depth;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}

export interface Page<Node> {
  readonly edges: readonly Edge<Node>[];
  /** Whether the list has more nodes in the direction in which it is read. */
  readonly hasMore: boolean;
  /** Set if a page can be empty although the list has more nodes. By default, this is the cursor of the last edge. */
  readonly endCursor?: () => string | null;
}

/** Reads only what the query selects: a count alone reads no rows, and rows alone are not counted. */
export abstract class Connection<Node> implements PageInfo {
  #page: PromiseOrValue<Page<Node>> | undefined;

  abstract readonly totalCount: PromiseOrValue<number>;
  abstract readonly hasPreviousPage: PromiseOrValue<boolean>;
  /** Called once. */
  protected abstract readPage(): PromiseOrValue<Page<Node>>;

  protected get page(): PromiseOrValue<Page<Node>> {
    return (this.#page ??= this.readPage());
  }

  get edges(): PromiseOrValue<readonly Edge<Node>[]> {
    return whenDone(this.page, ({ edges }) => edges);
  }

  get hasNextPage(): PromiseOrValue<boolean> {
    return whenDone(this.page, ({ hasMore }) => hasMore);
  }

  get startCursor(): PromiseOrValue<string | null> {
    return whenDone(this.page, ({ edges }) => edges[0]?.cursor ?? null);
  }

  get endCursor(): PromiseOrValue<string | null> {
    return whenDone(this.page, ({ edges, endCursor }) =>
      endCursor ? endCursor() : (edges.at(-1)?.cursor ?? null),
    );
  }
}

/** A list in the order of a key, forward only. */
export interface KeysetList<Node> {
  /** Identifies the list. A cursor is valid only in the list that it comes from. */
  readonly name: string;
  readonly keyOf: (node: Node) => string;
  read(slice: KeyedSlice): PromiseOrValue<readonly Node[]>;
  count(): PromiseOrValue<number>;
}

export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export const defaultPageSize = 50;
export const maxKeysetPageSize = 1_000;

export class KeysetConnection<Node> extends Connection<Node> {
  readonly #list: KeysetList<Node>;
  readonly #first: number;
  readonly #after: string | undefined;
  /** The first node after the cursor, even if `first` is 0. */
  #start: Node | undefined;

  constructor(list: KeysetList<Node>, { first, after }: PageArguments) {
    super();
    this.#list = list;
    this.#first = toPageSize(first);
    this.#after = typeof after === 'string' ? fromListCursor(list.name, after, 'after') : undefined;
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#list.count();
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    if (this.#after === undefined) return false;
    const { keyOf } = this.#list;
    return whenDone(this.#list.read({ after: undefined, limit: 1 }), ([first]) => {
      if (first === undefined) return false;
      return whenDone(this.page, () => this.#start === undefined || keyOf(this.#start) !== keyOf(first));
    });
  }

  protected readPage(): PromiseOrValue<Page<Node>> {
    const { name, keyOf } = this.#list;
    const cursorOf = (node: Node) => toListCursor(name, keyOf(node));
    // Reads one node more than the page holds, to find out whether there is a next page.
    return whenDone(this.#list.read({ after: this.#after, limit: this.#first + 1 }), (nodes) => {
      this.#start = nodes[0];
      const edges = nodes.slice(0, this.#first).map((node) => new Edge(node, null, cursorOf));
      return { edges, hasMore: nodes.length > this.#first };
    });
  }
}

function toPageSize(first: number | null | undefined): number {
  if (typeof first !== 'number') return defaultPageSize;
  if (first < 0) throw new Refusal('BAD_INPUT', '`first` must not be negative.');
  if (first > maxKeysetPageSize)
    throw new Refusal(
      'BAD_INPUT',
      `\`first\` must be at most ${maxKeysetPageSize}. Read further pages with \`after\`.`,
    );
  return first;
}

export function toListCursor(list: string, key: string): string {
  return encodeCursor(list, Buffer.from(key));
}

/** Returns the key. Refuses a cursor that was edited or comes from another list. */
export function fromListCursor(list: string, cursor: string, argument: string): string {
  const key = decodeCursor(list, cursor)?.toString() ?? '';
  const isValid = key !== '' && !/\p{Cc}/u.test(key) && toListCursor(list, key) === cursor;
  if (!isValid) throw listCursorRefusal(argument);
  return key;
}

export function listCursorRefusal(argument = 'after'): Refusal {
  return new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list.`);
}

/** Clients can forge a checksum, so the key of a cursor is validated like any other input. */
export function toKeyNumber(key: string): number {
  if (!/^\d{1,15}$/.test(key)) throw listCursorRefusal();
  return Number(key);
}

/** Reads a key that consists of a time and an id. */
export function toTimeAndId(
  key: string | undefined,
): { readonly time: number; readonly id: string } | undefined {
  if (key === undefined) return undefined;
  const [time = '', id = ''] = key.split(' ');
  if (!isRowId(id)) throw listCursorRefusal();
  return { time: toKeyNumber(time), id };
}

type ByOwner<T> = PromiseOrValue<ReadonlyMap<string, T>>;

/** Reads the lists of several owners with one statement. The maps have no entry for an owner without items. */
export interface OwnedLists<Item> {
  /** Reads the same slice of each owner's list. */
  read(ownerIds: readonly string[], slice: KeyedSlice): ByOwner<readonly Item[]>;
  count(ownerIds: readonly string[]): ByOwner<number>;
}

/** The budget and the field that the items are charged to. */
export interface Charge {
  readonly budget: Budget;
  readonly info: FieldLocation;
}

/** Bounds the memory and the time of one statement. */
const maxRowsPerStatement = 5_000;

/** Lists of several owners, for example the sessions of each user. The first pages of all owners are read together. */
export class BatchedLists<Item> {
  readonly #ownerIds: readonly string[];
  readonly #lists: OwnedLists<Item>;
  readonly #firstPages = new Map<number, ByOwner<readonly Item[]>>();
  #counts: ByOwner<number> | undefined;

  constructor(ownerIds: readonly string[], lists: OwnedLists<Item>) {
    this.#ownerIds = ownerIds;
    this.#lists = lists;
  }

  /** A page of the list of one owner. */
  connect(
    ownerId: string,
    { name, keyOf }: Pick<KeysetList<Item>, 'name' | 'keyOf'>,
    page: PageArguments,
    charge: Charge,
  ): KeysetConnection<Item> {
    const list: KeysetList<Item> = {
      name: `${name} of ${ownerId}`,
      keyOf,
      read: (slice) => this.pageOf(ownerId, slice, charge),
      count: () => this.countOf(ownerId),
    };
    return new KeysetConnection(list, page);
  }

  pageOf(ownerId: string, slice: KeyedSlice, charge: Charge): PromiseOrValue<readonly Item[]> {
    return whenDone(this.#readFor(ownerId, slice, charge), (pages) => pages.get(ownerId) ?? []);
  }

  countOf(ownerId: string): PromiseOrValue<number> {
    this.#counts ??= this.#lists.count(this.#ownerIds);
    return whenDone(this.#counts, (counts) => counts.get(ownerId) ?? 0);
  }

  #readFor(ownerId: string, slice: KeyedSlice, charge: Charge): ByOwner<readonly Item[]> {
    // A cursor belongs to the list of one owner.
    if (slice.after !== undefined) return this.#lists.read([ownerId], slice);
    let pages = this.#firstPages.get(slice.limit);
    if (!pages) this.#firstPages.set(slice.limit, (pages = this.#readFirstPages(slice, charge)));
    return pages;
  }

  /** Refuses as soon as the pages hold more items than the response may hold. */
  #readFirstPages(slice: KeyedSlice, { budget, info }: Charge): ByOwner<readonly Item[]> {
    const ownerIds = this.#ownerIds;
    const batch = Math.max(1, Math.floor(maxRowsPerStatement / slice.limit));
    // Each page reads one item more than it returns.
    const maxItems = budget.foldersLeft + ownerIds.length;
    const pages = new Map<string, readonly Item[]>();
    let count = 0;
    const readFrom = (start: number): ByOwner<readonly Item[]> => {
      if (start >= ownerIds.length) return pages;
      return whenDone(this.#lists.read(ownerIds.slice(start, start + batch), slice), (found) => {
        for (const [ownerId, items] of found) {
          pages.set(ownerId, items);
          count += items.length;
        }
        if (count > maxItems) throw budget.tooManyFolders(info);
        return readFrom(start + batch);
      });
    };
    return readFrom(0);
  }
}
