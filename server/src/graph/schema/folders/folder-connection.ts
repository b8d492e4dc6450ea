/** Lists of folders as Relay's cursor connections have them: https://relay.dev/graphql/connections.htm */

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
} from '../../../folders/folder-slice.ts';
import { fromCursor, toCursor } from '../../../folders/cursor.ts';
import type { Access } from '../../../access/access.ts';
import { Refusal } from '../../../refusal.ts';
import type { Budget } from '../../cost/budget.ts';
import type { ChildNodes, FolderNode } from './folder-batch.ts';
import type { PageInfo } from '../connections/keyset-connection.ts';
import { selectedColumns } from './selected-columns.ts';

export class FolderEdge {
  readonly node: FolderNode;
  /** How far below the folder that was asked; null where no folder was. */
  readonly depth: number | null;
  readonly #cursorOf: (node: FolderNode) => string;

  /** The same function for all edges of a list, where that is possible: there may be very many. */
  constructor(node: FolderNode, depth: number | null, cursorOf: (node: FolderNode) => string) {
    this.node = node;
    this.depth = depth;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}

/** Reads only what the query selects: a count alone reads no folders, and folders alone are not counted. */
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

  constructor(parent: FolderNode, given: ChildArguments, budget: Budget, info: GraphQLResolveInfo) {
    this.#parent = parent;
    this.#budget = budget;
    this.#info = info;
    const page = pageSize(given, budget, info);
    this.#slice = toSlice(parent.id, { ...given, ...page }, parent.batch.view.access, info);
  }

  get edges(): PromiseOrValue<readonly FolderEdge[]> {
    return (this.#edges ??= whenDone(this.#children(), ({ nodes }) =>
      nodes.map((node) => new FolderEdge(node, 1, this.#cursorOf)),
    ));
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#parent.batch.childCountOf(this.#parent, this.#slice.filter, this.#pay);
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
    return whenDone(this.#children(), ({ isCut }) => {
      if (isCut && !isFromEnd) return true;
      return before ? this.#hasAny({ after: before }) : false;
    });
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    const { after, isFromEnd, skip } = this.#slice;
    return whenDone(this.#children(), ({ isCut, nodes }) => {
      if (isCut && isFromEnd) return true;
      if (skip) return nodes.length > 0 || this.#hasAny({});
      return after ? this.#hasAny({ before: after }) : false;
    });
  }

  #children(): PromiseOrValue<ChildNodes> {
    this.#read ??= this.#parent.batch.childrenOf(this.#parent, this.#slice, {
      isForOne: this.#isOwn,
      max: this.#budget.foldersLeft,
      onRead: this.#pay,
    });
    return whenDone(this.#read, (children) => {
      if (children.exceedsMax) throw this.#budget.exceeded(this.#info);
      return children;
    });
  }

  readonly #pay = (count: number) => this.#budget.scan(count, this.#info);

  get #isOwn(): boolean {
    return this.#slice.after !== undefined || this.#slice.before !== undefined;
  }

  /** Whether the list has anything at a place or beyond it. */
  #hasAny(edge: Pick<Slice, 'after' | 'before'>): PromiseOrValue<boolean> {
    const { order, filter, columns } = this.#slice;
    const probe: Slice = { ...edge, isInclusive: true, limit: 1, order, filter, columns };
    // Of as many folders as the slice was: that has been paid for.
    const found = this.#parent.batch.childrenOf(this.#parent, probe, { isForOne: this.#isOwn, max: 1 });
    return whenDone(found, ({ nodes }) => nodes.length > 0);
  }

  #cursorAt(place: number): PromiseOrValue<string | null> {
    return whenDone(this.#children(), ({ nodes }) => {
      const node = nodes.at(place);
      return node ? this.#cursorOf(node) : null;
    });
  }

  readonly #cursorOf = ({ folder }: FolderNode): string => {
    const { order = byName } = this.#slice;
    return toCursor(this.#list(order), positionOf(folder, order.field));
  };

  #list(order: FolderOrder = byName): string {
    return childList(this.#parent.id, order);
  }
}

function childList(parentId: string, { field }: FolderOrder): string {
  return `children ${parentId} ${field}`;
}

/** What the arguments ask for of the children of a folder. */
export function toSlice(
  parentId: string,
  given: ChildArguments & Pick<Slice, 'limit' | 'isFromEnd'>,
  access: Access,
  info: Parameters<typeof selectedColumns>[0],
): Slice {
  const { order, filter, limit, isFromEnd } = given;
  const placeAt = (argument: 'after' | 'before') => {
    const cursor = given[argument];
    if (typeof cursor !== 'string') return undefined;
    const { field } = order ?? byName;
    return fromCursor(childList(parentId, order ?? byName), cursor, argument, keyBytesOf(field));
  };
  return {
    after: placeAt('after'),
    before: placeAt('before'),
    limit,
    isFromEnd,
    skip: toSkip(given),
    order,
    filter,
    // Rights of a viewer with grants are looked up by the id of each folder.
    columns: leastFor(access, selectedColumns(info), order),
  };
}

function leastFor(access: Access, columns: FolderColumns, order?: FolderOrder): FolderColumns {
  // The cursors of another order need the time of the last update.
  if (order) return columns === 'texts' ? columns : 'all';
  return columns === 'name' && !access.isAdministrator ? 'main' : columns;
}

/** Undefined for none. */
function toSkip({ skip, first, last, before }: ChildArguments): number | undefined {
  if (typeof skip !== 'number') return undefined;
  if (skip < 0) throw new Refusal('BAD_INPUT', '`skip` must not be negative.');
  if (typeof first !== 'number' || typeof last === 'number' || typeof before === 'string') {
    throw new Refusal('BAD_INPUT', '`skip` goes with `first`, and not with `last` or `before`.');
  }
  return skip || undefined;
}

/** How many are asked for, and from which end. */
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
