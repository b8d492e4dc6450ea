/** A list in the order of a key as Relay's cursor connections have it, forward: https://relay.dev/graphql/connections.htm */

import type { KeyedSlice } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import { Refusal } from '../../refusal.ts';
import { fromListCursor, toListCursor } from './list-cursor.ts';
import type { PageInfo } from '../page-info.ts';

export interface KeysetList<Node> {
  /** Tells lists apart: a cursor is good in the list that it comes from. */
  readonly name: string;
  keyOf(node: Node): string;
  read(slice: KeyedSlice): PromiseOrValue<readonly Node[]>;
  count(): PromiseOrValue<number>;
}

export interface KeysetArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export interface KeysetEdge<Node> {
  readonly cursor: string;
  readonly node: Node;
}

interface Page<Node> {
  readonly nodes: readonly Node[];
  /** The first node after the cursor, even if the page has room for none. */
  readonly start: Node | undefined;
  /** The limit left some out. */
  readonly isCut: boolean;
}

export const defaultPageSize = 50;
export const mostPageSize = 1_000;

/** Reads only what the query selects: a count alone reads no rows, and rows alone are not counted. */
export class KeysetConnection<Node> implements PageInfo {
  readonly #list: KeysetList<Node>;
  readonly #first: number;
  readonly #after: string | undefined;
  #read: PromiseOrValue<Page<Node>> | undefined;

  constructor(list: KeysetList<Node>, { first, after }: KeysetArguments) {
    this.#list = list;
    this.#first = toPageSize(first);
    this.#after = typeof after === 'string' ? fromListCursor(list.name, after, 'after') : undefined;
  }

  get items(): PromiseOrValue<readonly Node[]> {
    return whenDone(this.#page(), ({ nodes }) => nodes);
  }

  get edges(): PromiseOrValue<readonly KeysetEdge<Node>[]> {
    return whenDone(this.#page(), ({ nodes }) =>
      nodes.map((node) => ({ node, cursor: this.#cursorOf(node) })),
    );
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#list.count();
  }

  get hasNextPage(): PromiseOrValue<boolean> {
    return whenDone(this.#page(), ({ isCut }) => isCut);
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    if (this.#after === undefined) return false;
    return whenDone(this.#list.read({ after: undefined, limit: 1 }), ([first]) =>
      first === undefined
        ? false
        : whenDone(
            this.#page(),
            ({ start }) => start === undefined || this.#list.keyOf(start) !== this.#list.keyOf(first),
          ),
    );
  }

  get startCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(0);
  }

  get endCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(-1);
  }

  #page(): PromiseOrValue<Page<Node>> {
    const first = this.#first;
    // One more than asked for tells whether there is more.
    this.#read ??= whenDone(this.#list.read({ after: this.#after, limit: first + 1 }), (nodes) => ({
      nodes: nodes.slice(0, first),
      start: nodes[0],
      isCut: nodes.length > first,
    }));
    return this.#read;
  }

  #cursorAt(place: number): PromiseOrValue<string | null> {
    return whenDone(this.#page(), ({ nodes }) => {
      const node = nodes.at(place);
      return node === undefined ? null : this.#cursorOf(node);
    });
  }

  #cursorOf(node: Node): string {
    return toListCursor(this.#list.name, this.#list.keyOf(node));
  }
}

function toPageSize(first: number | null | undefined): number {
  if (typeof first !== 'number') return defaultPageSize;
  if (first < 0) throw new Refusal('BAD_INPUT', '`first` must not be negative.');
  if (first > mostPageSize) throw new Refusal('BAD_INPUT', `\`first\` is at most ${mostPageSize}.`);
  return first;
}
