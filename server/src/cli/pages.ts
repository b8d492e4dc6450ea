/** Lists that come in pages, read as they are needed. */

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

export interface PageSlice {
  readonly first: number;
  readonly after: string | null;
}

/** What a query selects beside the items. */
export const pageInfo = 'pageInfo { hasNextPage endCursor }';

/** The server gives no more at once. */
const mostPageSize = 1_000;

export type ReadPage<Item> = (slice: PageSlice) => Promise<Page<Item>>;

interface PageOptions {
  /** No more items in all. */
  readonly most?: number;
  readonly pageSize?: number;
}

/** At least one page, which may be empty. */
export async function* pagesOf<Item>(
  read: ReadPage<Item>,
  { most = Infinity, pageSize = mostPageSize }: PageOptions = {},
): AsyncGenerator<readonly Item[], void> {
  let left = most;
  let after: string | null = null;
  for (;;) {
    const page: Page<Item> = await read({ first: Math.min(left, pageSize), after });
    yield page.items;
    left -= page.items.length;
    after = page.pageInfo.endCursor;
    if (left <= 0 || !page.pageInfo.hasNextPage || after === null) return;
  }
}

export async function everyItem<Item>(read: ReadPage<Item>, options?: PageOptions): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const items of pagesOf(read, options)) all.push(...items);
  return all;
}
