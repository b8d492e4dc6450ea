/**
 * Lists in the order of a key as Relay's cursor connections, forward only: https://relay.dev/graphql/connections.htm.
 * A cursor holds the key of a row, not its index, so that it stays correct while rows are added and removed.
 */

import type { ArgBuilder } from '@pothos/core';
import type { KeyedSlice } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { decodeCursor, encodeCursor } from '../../../database/cursor-encoding.ts';
import { isRowId } from '../../../database/statement.ts';
import { Refusal } from '../../../refusal.ts';
import { completeInSlices } from '../../time-slices.ts';
import type { Builder, ExtendedTypes, ObjectRefOf } from '../builder.ts';

export interface KeysetList<Node> {
  /** Identifies the list. A cursor is valid only in the list that it comes from. */
  readonly name: string;
  readonly keyOf: (node: Node) => string;
  read(slice: KeyedSlice): PromiseOrValue<readonly Node[]>;
  count(): PromiseOrValue<number>;
}

interface KeysetArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

interface KeysetEdge<Node> {
  readonly cursor: string;
  readonly node: Node;
}

interface Page<Node> {
  readonly nodes: readonly Node[];
  /** The first node after the cursor, even if `first` is 0. */
  readonly start: Node | undefined;
  readonly hasMore: boolean;
}

const defaultPageSize = 50;
const maxPageSize = 1_000;

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
    return whenDone(this.#page(), ({ hasMore }) => hasMore);
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    if (this.#after === undefined) return false;
    const { keyOf } = this.#list;
    return whenDone(this.#list.read({ after: undefined, limit: 1 }), ([first]) =>
      first === undefined
        ? false
        : whenDone(this.#page(), ({ start }) => start === undefined || keyOf(start) !== keyOf(first)),
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
    // Reads one node more than the page holds, to find out whether there is a next page.
    this.#read ??= whenDone(this.#list.read({ after: this.#after, limit: first + 1 }), (nodes) => ({
      nodes: nodes.slice(0, first),
      start: nodes[0],
      hasMore: nodes.length > first,
    }));
    return this.#read;
  }

  #cursorAt(index: number): PromiseOrValue<string | null> {
    return whenDone(this.#page(), ({ nodes }) => {
      const node = nodes.at(index);
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
  if (first > maxPageSize) throw new Refusal('BAD_INPUT', `\`first\` is at most ${maxPageSize}.`);
  return first;
}

export function toListCursor(list: string, key: string): string {
  return encodeCursor(list, Buffer.from(key));
}

/** Returns the key. Refuses a cursor that was edited or comes from another list. */
export function fromListCursor(list: string, cursor: string, argument: string): string {
  const key = decodeCursor(list, cursor)?.toString() ?? '';
  const isValid = key !== '' && !/\p{Cc}/u.test(key) && toListCursor(list, key) === cursor;
  if (!isValid) throw notAListCursor(argument);
  return key;
}

export function notAListCursor(argument = 'after'): Refusal {
  return new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list.`);
}

/** Clients can forge a checksum, so the key of a cursor is validated like any other input. */
export function toKeyNumber(key: string): number {
  if (!/^\d{1,15}$/.test(key)) throw notAListCursor();
  return Number(key);
}

/** Reads a key that consists of a time and an id. */
export function toTimeAndId(
  key: string | undefined,
): { readonly time: number; readonly id: string } | undefined {
  if (key === undefined) return undefined;
  const [time = '', id = ''] = key.split(' ');
  if (!isRowId(id)) throw notAListCursor();
  return { time: toKeyNumber(time), id };
}

/** The arguments of a field that returns a connection. */
export function pageArguments(arg: ArgBuilder<ExtendedTypes>) {
  return {
    first: arg.int({
      description: `At most so many from the start: ${defaultPageSize} unless told, and no more than ${maxPageSize}.`,
    }),
    after: arg.string({ description: 'Only what follows this cursor.' }),
  };
}

/** Defines the types of the connection and its edges. */
export function defineKeysetConnection<Node>(
  builder: Builder,
  { PageInfo, Node, plural }: { PageInfo: PageInfoRef; Node: ObjectRefOf<Node>; plural: string },
) {
  const nodeRef = Node as ObjectRefOf<unknown>;
  const Edge = builder.objectRef<KeysetEdge<Node>>(`${Node.name}Edge`).implement({
    description: `One of a list of ${plural}, and its place there.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor'),
      node: t.field({ type: nodeRef, resolve: ({ node }) => node }),
    }),
  });
  return builder.objectRef<KeysetConnection<Node>>(`${Node.name}Connection`).implement({
    description: `A list of ${plural}, or a page of it.`,
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        resolve: ({ edges }, _, context, info) =>
          whenDone(edges, (all) => completeInSlices(context.budget.spend(all, info), context, info)),
      }),
      items: t.field({
        type: [nodeRef],
        description: 'The nodes of the edges.',
        resolve: ({ items }, _, context, info) =>
          whenDone(items, (all) => completeInSlices(context.budget.spend(all, info), context, info)),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: (connection) => connection }),
      totalCount: t.int({
        description: `How many ${plural} the whole list has.`,
        resolve: (connection) => connection.totalCount,
      }),
    }),
  });
}

export interface PageInfo {
  readonly hasNextPage: PromiseOrValue<boolean>;
  readonly hasPreviousPage: PromiseOrValue<boolean>;
  readonly startCursor: PromiseOrValue<string | null>;
  readonly endCursor: PromiseOrValue<string | null>;
}

export type PageInfoRef = ReturnType<typeof definePageInfo>;

export function definePageInfo(builder: Builder) {
  return builder.objectRef<PageInfo>('PageInfo').implement({
    description: 'Whether there is more, and where to go on.',
    fields: (t) => ({
      hasNextPage: t.boolean({ resolve: (page) => page.hasNextPage }),
      hasPreviousPage: t.boolean({ resolve: (page) => page.hasPreviousPage }),
      startCursor: t.string({
        nullable: true,
        resolve: ({ startCursor }, _, { budget }, info) =>
          whenDone(startCursor, (cursor) => budget.spendText(cursor, info)),
      }),
      endCursor: t.string({
        nullable: true,
        resolve: ({ endCursor }, _, { budget }, info) =>
          whenDone(endCursor, (cursor) => budget.spendText(cursor, info)),
      }),
    }),
  });
}
