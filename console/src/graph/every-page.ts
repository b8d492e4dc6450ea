/** All pages of a list of the graph, one after the other. */

import type { Page } from './use-pages.ts';

/** The server returns at most this many items in one page. */
export const maxPageSize = 1_000;

export type ItemPage<Item> = Omit<Page<Item>, 'totalCount'>;

/** `readPage` gets null for the first page; it returns null if there is no such list. */
export async function readEveryPage<Item>(
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
