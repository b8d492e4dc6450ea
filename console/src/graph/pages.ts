/** The next page of a list that may be changing: none of its changes is lost by it. */

/** As a list of pages can be read; the promises are of what is under way then. */
export interface PagedList {
  readonly refetch: (options: { cancelRefetch: false }) => Promise<{ readonly isError: boolean }>;
  readonly fetchNextPage: (options: { cancelRefetch: false }) => Promise<unknown>;
}

/** What is known of a query. */
interface ListState {
  readonly fetchStatus: string;
  readonly isInvalidated: boolean;
}

/**
 * A next page makes the whole list pass for fresh, and would end the reading of it that is under way: so a list in which
 * something has changed is read again first.
 */
export async function readNextPage(list: PagedList, stateNow: () => ListState | undefined): Promise<void> {
  const isBehind = () => {
    const state = stateNow();
    return state !== undefined && (state.fetchStatus !== 'idle' || state.isInvalidated);
  };
  if (isBehind()) {
    const { isError } = await list.refetch({ cancelRefetch: false });
    // It failed, or whoever looked at it has gone.
    if (isError || isBehind()) return;
  }
  await list.fetchNextPage({ cancelRefetch: false });
}

/** As every connection of the graph has it. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A search may return empty pages before it finds something. */
const maxEmptyPages = 20;

/** Reads on while a page is empty and is not the last one. */
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
/** The server returns at most this many items in one page. */

export const maxPageSize = 1000;

export type ItemPage<Item> = Omit<Page<Item>, 'totalCount'>;
/** `readPage` gets null for the first page; it returns null if there is no such list. */

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
