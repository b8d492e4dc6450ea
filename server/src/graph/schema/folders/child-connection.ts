/** The subfolders of a folder as a connection, with only the columns that a query needs. */

import { Kind, type FieldNode, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import {
  byName,
  fromCursor,
  keyBytesOf,
  positionOf,
  toCursor,
  type FolderFilter,
  type FolderOrder,
  type Slice,
} from '../../../folders/folder-slice.ts';
import type { FolderColumns } from '../../../folders/tree-view.ts';
import type { Access } from '../../../access/access.ts';
import { Refusal } from '../../../refusal.ts';
import type { Budget } from '../../cost/budget.ts';
import { Connection, Edge, type Page, type PageArguments } from '../connections/relay-connection.ts';
import type { ChildNodes, FolderNode } from './folder-batch.ts';

interface ChildArguments extends PageArguments {
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly filter?: FolderFilter | undefined;
  readonly order?: FolderOrder | undefined;
  readonly skip?: number | null | undefined;
}

export class ChildConnection extends Connection<FolderNode> {
  readonly #parent: FolderNode;
  readonly #slice: Slice;
  readonly #budget: Budget;
  readonly #info: GraphQLResolveInfo;
  #children: PromiseOrValue<ChildNodes> | undefined;

  constructor(parent: FolderNode, args: ChildArguments, budget: Budget, info: GraphQLResolveInfo) {
    super();
    this.#parent = parent;
    this.#budget = budget;
    this.#info = info;
    const page = pageSize(args, budget, info);
    this.#slice = toSlice(parent.id, { ...args, ...page }, parent.batch.view.access, info);
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#parent.batch.childCountOf(this.#parent, this.#slice.filter, this.#charge);
  }

  override get hasNextPage(): PromiseOrValue<boolean> {
    const { before, isFromEnd } = this.#slice;
    return whenDone(this.page, ({ hasMore }) => {
      if (hasMore && !isFromEnd) return true;
      return before ? this.#hasAny({ after: before }) : false;
    });
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    const { after, isFromEnd, skip } = this.#slice;
    return whenDone(this.page, ({ hasMore, edges }) => {
      if (hasMore && isFromEnd) return true;
      if (skip) return edges.length > 0 || this.#hasAny({});
      return after ? this.#hasAny({ before: after }) : false;
    });
  }

  protected readPage(): PromiseOrValue<Page<FolderNode>> {
    // A refused page is not cached, but its folders are: they are read and charged only once.
    this.#children ??= this.#parent.batch.childrenOf(this.#parent, this.#slice, {
      isForOne: this.#hasCursor,
      max: this.#budget.foldersLeft,
      onRead: this.#charge,
    });
    return whenDone(this.#children, ({ nodes, hasMore, exceedsMax }) => {
      if (exceedsMax) throw this.#budget.tooManyFolders(this.#info);
      return { edges: nodes.map((node) => new Edge(node, 1, this.#cursorOf)), hasMore };
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
    // This read needs no charge: the slice has already been charged for the same folders.
    const found = this.#parent.batch.childrenOf(this.#parent, probe, { isForOne: this.#hasCursor, max: 1 });
    return whenDone(found, ({ nodes }) => nodes.length > 0);
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
  info: FolderSelection,
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

function requiredColumns(access: Access, columns: FolderColumns, order?: FolderOrder): FolderColumns {
  // With an explicit order, a cursor may contain the time of the last update.
  if (order) return columns === 'all' ? columns : 'withoutTexts';
  // The rights of a viewer with grants depend on the id of each folder.
  return columns === 'name' && !access.isAdministrator ? 'main' : columns;
}

function toSkip({ skip, first, last, before }: ChildArguments): number | undefined {
  if (typeof skip !== 'number') return undefined;
  if (skip < 0) throw new Refusal('BAD_INPUT', '`skip` must not be negative.');
  if (typeof first !== 'number' || typeof last === 'number' || typeof before === 'string') {
    throw new Refusal('BAD_INPUT', '`skip` requires `first`. Do not combine it with `last` or `before`.');
  }
  return skip || undefined;
}

/** The requested page size, and whether the page counts from the end of the list. */
export function pageSize(
  { first, last }: Pick<ChildArguments, 'first' | 'last'>,
  budget: Budget,
  info: GraphQLResolveInfo,
): Required<Pick<Slice, 'limit' | 'isFromEnd'>> {
  if (typeof first === 'number' && typeof last === 'number') {
    throw new Refusal('BAD_INPUT', 'Set either `first` or `last`, and not both.');
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

const listFields = ['edges', 'items', 'node', 'pageInfo', 'hasNextPage', 'hasPreviousPage', 'totalCount'];
/** Fields that need only the name. */
const nameFields = new Set([...listFields, '__typename', 'name']);
/** Fields that need only the id and the name: the id leads to other folders, and cursors of the natural order contain both. */
const mainFields = new Set([
  ...nameFields,
  ...['id', 'title', 'accessLevel'],
  ...['parent', 'ancestors', 'path', 'depth', 'cursor', 'startCursor', 'endCursor'],
]);
const countedFields = new Set([...mainFields, 'folders']);
const longTexts = ['icon', 'description', 'properties'];
/** Fields that lead to other folders, which are read separately. */
const otherFolders = new Set(['folders', 'descendants', 'parent', 'ancestors']);

const cache = new WeakMap<FieldNode, FolderColumns>();

type FolderSelection = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/**
 * The columns that a query needs for the folders of a list in natural order, so that the database returns no others.
 * Ignores the directives `@include` and `@skip`.
 */
export function selectedColumns(info: FolderSelection): FolderColumns {
  const [first, ...others] = info.fieldNodes;
  if (!first || others.length > 0) return 'withoutTexts';
  let columns = cache.get(first);
  if (!columns) cache.set(first, (columns = findColumns(first, info.fragments)));
  return columns;
}

function findColumns({ selectionSet }: FieldNode, fragments: FolderSelection['fragments']): FolderColumns {
  const names = new Set<string>();
  if (selectionSet) addNames(selectionSet, fragments, names, new Set());
  const areAllIn = (fields: ReadonlySet<string>) => [...names].every((name) => fields.has(name));
  if (areAllIn(nameFields)) return 'name';
  if (areAllIn(mainFields)) return 'main';
  if (areAllIn(countedFields)) return 'counted';
  return longTexts.some((name) => names.has(name)) ? 'all' : 'withoutTexts';
}

function addNames(
  { selections }: SelectionSetNode,
  fragments: FolderSelection['fragments'],
  names: Set<string>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      names.add(selection.name.value);
      const { selectionSet } = selection;
      if (selectionSet && !otherFolders.has(selection.name.value))
        addNames(selectionSet, fragments, names, seen);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      addNames(selection.selectionSet, fragments, names, seen);
    } else if (!seen.has(selection.name.value)) {
      seen.add(selection.name.value);
      const fragment = fragments[selection.name.value];
      if (fragment) addNames(fragment.selectionSet, fragments, names, seen);
    }
  }
}
