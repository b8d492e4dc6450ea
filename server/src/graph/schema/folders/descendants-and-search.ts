/** Lists of folders that clients page through forward only: everything below a folder, and the matches of a search. */

import type { GraphQLResolveInfo } from 'graphql';
import { countDescendants } from '../../../folders/children/child-counts.ts';
import { fromCursor, toCursor } from '../../../folders/folder-slice.ts';
import { pathKey, positionsOfKey, readDescendants } from '../../../folders/children/descendants.ts';
import { readSearchCursor, searchFolders, searchList } from '../../../folders/search/search.ts';
import { toSearchQuery } from '../../../folders/search/search-query.ts';
import type { FolderColumns } from '../../../folders/tree-view.ts';
import { Refusal } from '../../../refusal.ts';
import type { GraphContext } from '../builder.ts';
import { Connection, Edge, type Page, type PageArguments } from '../connections/relay-connection.ts';
import { pageSize, selectedColumns } from './child-connection.ts';
import { FolderBatch, type FolderNode } from './folder-batch.ts';

interface ForwardList {
  readonly readPage: () => Promise<Page<FolderNode>>;
  readonly count: () => Promise<number>;
  readonly hasPreviousPage: boolean;
}

/** Reads the page and the count once, however often the query selects them. */
class ForwardConnection extends Connection<FolderNode> {
  readonly #list: ForwardList;
  #count: Promise<number> | undefined;

  constructor(list: ForwardList) {
    super();
    this.#list = list;
  }

  get totalCount(): Promise<number> {
    return (this.#count ??= this.#list.count());
  }

  get hasPreviousPage(): boolean {
    return this.#list.hasPreviousPage;
  }

  protected readPage(): Promise<Page<FolderNode>> {
    return this.#list.readPage();
  }
}

/** Everything below a folder, as one flat list. Each edge contains its depth. */
export function openDescendants(
  top: FolderNode,
  args: PageArguments & { readonly depth?: number | null | undefined },
  { budget }: GraphContext,
  info: GraphQLResolveInfo,
): Connection<FolderNode> {
  const { folder, batch } = top;
  const { view } = batch;
  const depth = toDepth(args.depth);
  const list = `descendants ${top.id} ${depth ?? 'all'}`;
  const slice = {
    depth,
    first: pageSize(args, budget, info).limit,
    columns: withChildCount(selectedColumns(info)),
    after:
      typeof args.after === 'string'
        ? positionsOfKey(fromCursor(list, args.after, 'after'), 'after')
        : undefined,
  };
  return new ForwardConnection({
    // A cursor always comes from an earlier page.
    hasPreviousPage: slice.after !== undefined,
    count: () => countDescendants(view, folder, { depth, onRead: (count) => budget.scan(count, info) }),
    async readPage() {
      const { found, hasMore, exceedsMax } = await readDescendants(view, folder, slice, budget.foldersLeft);
      if (exceedsMax) throw budget.tooManyFolders(info);
      const folders = found.map((each) => each.folder);
      const { nodes } = new FolderBatch(view, folders);
      const edges = found.map(
        (each, index) =>
          new Edge(nodes[index]!, each.depth, ({ id }) => toCursor(list, { id, key: pathKey(each) })),
      );
      return { edges, hasMore };
    },
  });
}

/** Reading a subtree needs the number of children of each folder. */
function withChildCount(columns: FolderColumns): FolderColumns {
  return columns === 'all' || columns === 'withoutTexts' ? columns : 'counted';
}

export function toDepth(depth: number | null | undefined): number | undefined {
  if (typeof depth === 'number' && depth < 1) throw new Refusal('BAD_INPUT', '`depth` must be at least 1.');
  return depth ?? undefined;
}

const defaultSearchPage = 50;

/** The matches of a search, best match first. Refuses invalid arguments before the first read. */
export async function openSearch(
  args: PageArguments & { readonly text: string; readonly under?: string | null | undefined },
  { budget, view }: GraphContext,
  info: GraphQLResolveInfo,
): Promise<Connection<FolderNode>> {
  const query = toSearchQuery(args.text);
  const underId = args.under ?? undefined;
  const first = pageSize(args, budget, info).limit ?? defaultSearchPage;
  const after =
    typeof args.after === 'string'
      ? await readSearchCursor(view.reader, searchList(query, underId), args.after, 'after')
      : undefined;
  const slice = { query, underId, first, after, columns: selectedColumns(info) };
  // Charges one folder at a time, because the cost in a refusal must not depend on how the matches were read.
  const charge = () => budget.scan(1, info);
  let found: ReturnType<typeof searchFolders> | undefined;
  const search = () => (found ??= searchFolders(view, slice, charge));
  return new ForwardConnection({
    hasPreviousPage: after !== undefined,
    count: async () => (await search()).totalCount(),
    async readPage() {
      const { found: matches, hasNextPage: hasMore, endCursor } = await search();
      const folders = matches.map(({ folder }) => folder);
      const { nodes } = new FolderBatch(view, folders);
      const edges = matches.map(({ cursor }, index) => new Edge(nodes[index]!, null, cursor));
      return { edges, hasMore, endCursor };
    },
  });
}
