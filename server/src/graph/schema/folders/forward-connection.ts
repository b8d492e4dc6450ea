/** Lists of folders that clients page through forward only: everything below a folder, and the matches of a search. */

import type { GraphQLResolveInfo } from 'graphql';
import { countDescendants } from '../../../folders/children/child-counts.ts';
import { fromCursor, readSearchCursor, toCursor } from '../../../folders/cursor.ts';
import { pathKey, positionsOfKey, readDescendants } from '../../../folders/children/descendants.ts';
import type { FolderColumns } from '../../../folders/children/folder-slice.ts';
import { searchFolders, searchList, toSearchText } from '../../../folders/search/search.ts';
import { Refusal } from '../../../refusal.ts';
import type { GraphContext } from '../builder.ts';
import type { PageInfo } from '../connections/keyset-connection.ts';
import { FolderBatch, type FolderNode } from './folder-batch.ts';
import { FolderEdge, pageSize, type FolderConnection } from './folder-connection.ts';
import { selectedColumns } from './selected-columns.ts';

interface ForwardPage {
  readonly edges: readonly FolderEdge[];
  readonly hasNextPage: boolean;
  readonly endCursor: () => string | null;
}

interface ForwardList {
  readonly readPage: () => Promise<ForwardPage>;
  readonly count: () => Promise<number>;
  readonly hasPreviousPage: boolean;
}

/** Reads the page and the count only if the query selects them, and each of them once. */
class ForwardConnection implements FolderConnection, PageInfo {
  readonly #list: ForwardList;
  #page: Promise<ForwardPage> | undefined;
  #count: Promise<number> | undefined;

  constructor(list: ForwardList) {
    this.#list = list;
  }

  get edges(): Promise<readonly FolderEdge[]> {
    return this.#read().then(({ edges }) => edges);
  }

  get totalCount(): Promise<number> {
    return (this.#count ??= this.#list.count());
  }

  get pageInfo(): PageInfo {
    return this;
  }

  get startCursor(): Promise<string | null> {
    return this.edges.then((edges) => edges[0]?.cursor ?? null);
  }

  get endCursor(): Promise<string | null> {
    return this.#read().then(({ endCursor }) => endCursor());
  }

  get hasNextPage(): Promise<boolean> {
    return this.#read().then(({ hasNextPage }) => hasNextPage);
  }

  get hasPreviousPage(): boolean {
    return this.#list.hasPreviousPage;
  }

  #read(): Promise<ForwardPage> {
    return (this.#page ??= this.#list.readPage());
  }
}

interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Everything below a folder, as one flat list whose edges carry their depth. */
export function openDescendants(
  top: FolderNode,
  args: PageArguments & { readonly depth?: number | null | undefined },
  { budget }: GraphContext,
  info: GraphQLResolveInfo,
): FolderConnection {
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
    // A cursor comes from a page before.
    hasPreviousPage: slice.after !== undefined,
    count: () => countDescendants(view, folder, { depth, onRead: (count) => budget.scan(count, info) }),
    async readPage() {
      const { found, hasMore, exceedsMax } = await readDescendants(view, folder, slice, budget.foldersLeft);
      if (exceedsMax) throw budget.exceeded(info);
      const folders = found.map((each) => each.folder);
      const { nodes } = new FolderBatch(view, folders);
      const edges = found.map(
        (each, index) =>
          new FolderEdge(nodes[index]!, each.depth, ({ id }) => toCursor(list, { id, key: pathKey(each) })),
      );
      return { edges, hasNextPage: hasMore, endCursor: () => edges.at(-1)?.cursor ?? null };
    },
  });
}

/** The children of a folder are found by its number of children. */
function withChildCount(columns: FolderColumns): FolderColumns {
  return columns === 'texts' || columns === 'all' ? columns : 'counted';
}

export function toDepth(depth: number | null | undefined): number | undefined {
  if (typeof depth === 'number' && depth < 1) throw new Refusal('BAD_INPUT', '`depth` must be at least 1.');
  return depth ?? undefined;
}

export const defaultSearchPage = 50;

/** The matches of a search, the best first. Refuses invalid arguments before the first read. */
export async function openSearch(
  args: PageArguments & { readonly text: string; readonly under?: string | null | undefined },
  { budget, view }: GraphContext,
  info: GraphQLResolveInfo,
): Promise<FolderConnection> {
  const text = toSearchText(args.text);
  const underId = args.under ?? undefined;
  const first = pageSize(args, budget, info).limit ?? defaultSearchPage;
  const after =
    typeof args.after === 'string'
      ? await readSearchCursor(view.reader, searchList(text, underId), args.after, 'after')
      : undefined;
  const slice = { text, underId, first, after, columns: selectedColumns(info) };
  // One at a time: the sum in a refusal must not depend on how the matches were read.
  const charge = () => budget.scan(1, info);
  let found: ReturnType<typeof searchFolders> | undefined;
  const search = () => (found ??= searchFolders(view, slice, charge));
  return new ForwardConnection({
    hasPreviousPage: after !== undefined,
    count: async () => (await search()).totalCount,
    async readPage() {
      const { found: matches, hasNextPage, endCursor } = await search();
      const folders = matches.map(({ folder }) => folder);
      const { nodes } = new FolderBatch(view, folders);
      const edges = matches.map(({ cursor }, index) => new FolderEdge(nodes[index]!, null, cursor));
      return { edges, hasNextPage, endCursor };
    },
  });
}
