/**
 * Reads lists page by page: the next page of a changing list, the next page with items, and all pages. Formats
 * the range of rows on a page of a table.
 */

/** The part of an infinite query that reads pages. With `cancelRefetch: false`, a call joins a pending request. */
export interface PagedList {
  readonly refetch: (options: { cancelRefetch: false }) => Promise<{ readonly isError: boolean }>;
  readonly fetchNextPage: (options: { cancelRefetch: false }) => Promise<unknown>;
}

interface ListState {
  readonly fetchStatus: string;
  readonly isInvalidated: boolean;
}

/**
 * Reads the next page. A stale list is read again first, because `fetchNextPage` marks the whole list as fresh and cancels a
 * pending refetch.
 */
export async function readNextPage(list: PagedList, readState: () => ListState | undefined): Promise<void> {
  const isStale = () => {
    const state = readState();
    return state !== undefined && (state.fetchStatus !== 'idle' || state.isInvalidated);
  };
  if (isStale()) {
    const { isError } = await list.refetch({ cancelRefetch: false });
    // The refetch failed, or the component is unmounted.
    if (isError || isStale()) return;
  }
  await list.fetchNextPage({ cancelRefetch: false });
}

/** One page of a Relay connection. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A search may return empty pages before one with results. */
const maxEmptyPages = 20;

/** Reads the next page that has items, or the last page. */
export async function readFilledPage<Item>(
  after: string | null,
  read: (after: string | null) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  let page = await read(after);
  for (let empty = 1; empty < maxEmptyPages; empty++) {
    if (page.items.length > 0 || !page.pageInfo.hasNextPage) break;
    page = await read(page.pageInfo.endCursor);
  }
  return page;
}

/** The largest page that every list of the server accepts. */
export const maxPageSize = 1_000;

export type ItemPage<Item> = Omit<Page<Item>, 'totalCount'>;

/** Reads all pages in sequence. `readPage` gets null for the first page, and returns null if the list does not exist. */
export async function readAllPages<Item>(
  readPage: (after: string | null) => Promise<ItemPage<Item> | null>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let after: string | null = null; ;) {
    const page: ItemPage<Item> | null = await readPage(after);
    if (!page) return items;
    items.push(...page.items);
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage || after === null) return items;
  }
}

/** The number of rows on a page of a table. */
export const rowsPerPage = 50;

/** For example "51–100 of 3,000". The first page is 0. Without a total, the list has an unknown number of rows. */
export function formatRange(page: number, count: number, totalCount: number | undefined): string {
  const format = (value: number) => value.toLocaleString('en');
  const of = totalCount === undefined ? '' : ` of ${format(totalCount)}`;
  if (count === 0) return `None${of} on this page`;
  const from = page * rowsPerPage;
  return `${format(from + 1)}–${format(from + count)}${of}`;
}
