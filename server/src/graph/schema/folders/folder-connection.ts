/** The sub-folders of a folder as a Relay connection: https://relay.dev/graphql/connections.htm */

import type { GraphQLResolveInfo } from 'graphql';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import {
  byName,
  keyBytesOf,
  positionOf,
  type FolderColumns,
  type FolderFilter,
  type FolderOrder,
  type Slice,
} from '../../../folders/children/folder-slice.ts';
import { fromCursor, toCursor } from '../../../folders/cursor.ts';
import type { Access } from '../../../access/access.ts';
import { Refusal } from '../../../refusal.ts';
import type { Budget } from '../../cost/budget.ts';
import type { ChildNodes, FolderNode } from './folder-batch.ts';
import type { PageInfo } from '../connections/keyset-connection.ts';
import { selectedColumns } from './selected-columns.ts';

export class FolderEdge {
  readonly node: FolderNode;
  /** The number of levels below the folder of the list; null in a search. */
  readonly depth: number | null;
  readonly #cursorOf: (node: FolderNode) => string;

  /** Lists pass the same function to all edges where possible, because there may be very many. */
  constructor(node: FolderNode, depth: number | null, cursorOf: (node: FolderNode) => string) {
    this.node = node;
    this.depth = depth;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}

/** A connection reads only what the query selects: a count alone reads no folders, and folders alone are not counted. */
export interface FolderConnection {
  readonly edges: PromiseOrValue<readonly FolderEdge[]>;
  readonly totalCount: PromiseOrValue<number>;
  readonly pageInfo: PageInfo;
}

export interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface ChildArguments extends ConnectionArguments {
  readonly filter?: FolderFilter | undefined;
  readonly order?: FolderOrder | undefined;
  readonly skip?: number | null | undefined;
}

/** The sub-folders of a folder. */
export class ChildConnection implements FolderConnection, PageInfo {
  readonly #parent: FolderNode;
  readonly #slice: Slice;
  readonly #budget: Budget;
  readonly #info: GraphQLResolveInfo;
  #read: PromiseOrValue<ChildNodes> | undefined;
  #edges: PromiseOrValue<readonly FolderEdge[]> | undefined;

  constructor(parent: FolderNode, args: ChildArguments, budget: Budget, info: GraphQLResolveInfo) {
    this.#parent = parent;
    this.#budget = budget;
    this.#info = info;
    const page = pageSize(args, budget, info);
    this.#slice = toSlice(parent.id, { ...args, ...page }, parent.batch.view.access, info);
  }

  get edges(): PromiseOrValue<readonly FolderEdge[]> {
    return (this.#edges ??= whenDone(this.#children(), ({ nodes }) =>
      nodes.map((node) => new FolderEdge(node, 1, this.#cursorOf)),
    ));
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#parent.batch.childCountOf(this.#parent, this.#slice.filter, this.#charge);
  }

  get pageInfo(): PageInfo {
    return this;
  }

  get startCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(0);
  }

  get endCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(-1);
  }

  get hasNextPage(): PromiseOrValue<boolean> {
    const { before, isFromEnd } = this.#slice;
    return whenDone(this.#children(), ({ hasMore }) => {
      if (hasMore && !isFromEnd) return true;
      return before ? this.#hasAny({ after: before }) : false;
    });
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    const { after, isFromEnd, skip } = this.#slice;
    return whenDone(this.#children(), ({ hasMore, nodes }) => {
      if (hasMore && isFromEnd) return true;
      if (skip) return nodes.length > 0 || this.#hasAny({});
      return after ? this.#hasAny({ before: after }) : false;
    });
  }

  #children(): PromiseOrValue<ChildNodes> {
    this.#read ??= this.#parent.batch.childrenOf(this.#parent, this.#slice, {
      isForOne: this.#hasCursor,
      max: this.#budget.foldersLeft,
      onRead: this.#charge,
    });
    return whenDone(this.#read, (children) => {
      if (children.exceedsMax) throw this.#budget.exceeded(this.#info);
      return children;
    });
  }

  readonly #charge = (count: number) => this.#budget.scan(count, this.#info);

  get #hasCursor(): boolean {
    return this.#slice.after !== undefined || this.#slice.before !== undefined;
  }

  /** Whether the list has folders at an edge or beyond it. */
  #hasAny(edge: Pick<Slice, 'after' | 'before'>): PromiseOrValue<boolean> {
    const { order, filter, columns } = this.#slice;
    const probe: Slice = { ...edge, isInclusive: true, limit: 1, order, filter, columns };
    // It reads for as many folders as the slice did, and those have been charged.
    const found = this.#parent.batch.childrenOf(this.#parent, probe, { isForOne: this.#hasCursor, max: 1 });
    return whenDone(found, ({ nodes }) => nodes.length > 0);
  }

  #cursorAt(index: number): PromiseOrValue<string | null> {
    return whenDone(this.#children(), ({ nodes }) => {
      const node = nodes.at(index);
      return node ? this.#cursorOf(node) : null;
    });
  }

  readonly #cursorOf = ({ folder }: FolderNode): string => {
    const { order = byName } = this.#slice;
    return toCursor(childList(this.#parent.id, order), positionOf(folder, order.field));
  };
}

function childList(parentId: string, { field }: FolderOrder): string {
  return `children ${parentId} ${field}`;
}

/** Converts the arguments of `Folder.folders`. */
export function toSlice(
  parentId: string,
  args: ChildArguments & Pick<Slice, 'limit' | 'isFromEnd'>,
  access: Access,
  info: Parameters<typeof selectedColumns>[0],
): Slice {
  const { order, filter, limit, isFromEnd } = args;
  const positionAt = (argument: 'after' | 'before') => {
    const cursor = args[argument];
    if (typeof cursor !== 'string') return undefined;
    const { field } = order ?? byName;
    return fromCursor(childList(parentId, order ?? byName), cursor, argument, keyBytesOf(field));
  };
  return {
    after: positionAt('after'),
    before: positionAt('before'),
    limit,
    isFromEnd,
    skip: toSkip(args),
    order,
    filter,
    columns: requiredColumns(access, selectedColumns(info), order),
  };
}

/** The rights of a viewer with grants depend on the id of each folder. */
function requiredColumns(access: Access, columns: FolderColumns, order?: FolderOrder): FolderColumns {
  // Cursors of another order contain the time of the last update.
  if (order) return columns === 'texts' ? columns : 'all';
  return columns === 'name' && !access.isAdministrator ? 'main' : columns;
}

function toSkip({ skip, first, last, before }: ChildArguments): number | undefined {
  if (typeof skip !== 'number') return undefined;
  if (skip < 0) throw new Refusal('BAD_INPUT', '`skip` must not be negative.');
  if (typeof first !== 'number' || typeof last === 'number' || typeof before === 'string') {
    throw new Refusal('BAD_INPUT', '`skip` goes with `first`, and not with `last` or `before`.');
  }
  return skip || undefined;
}

/** The requested page size, and the end of the list that it counts from. */
export function pageSize(
  { first, last }: Pick<ConnectionArguments, 'first' | 'last'>,
  budget: Budget,
  info: GraphQLResolveInfo,
): Required<Pick<Slice, 'limit' | 'isFromEnd'>> {
  if (typeof first === 'number' && typeof last === 'number') {
    throw new Refusal('BAD_INPUT', 'Give `first` or `last`, not both.');
  }
  checkSize(first, 'first');
  checkSize(last, 'last');
  return { limit: first ?? last ?? undefined, isFromEnd: typeof last === 'number' };

  function checkSize(size: number | null | undefined, name: string): void {
    if (typeof size !== 'number') return;
    if (size < 0) throw new Refusal('BAD_INPUT', `\`${name}\` must not be negative.`);
    budget.checkPage(size, name, info);
  }
}
