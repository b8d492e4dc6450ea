/** Lists that are read page by page; where a page costs too much for the server, smaller ones. */

import { EspalierError } from '@espalier/client';

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

export interface PageVariables {
  readonly first: number;
  readonly after: string | null;
}

export async function* pages<Item>(
  pageSize: number,
  read: (page: PageVariables) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let first = pageSize;
  let after: string | null = null;
  for (let isMore = true; isMore;) {
    let page: Page<Item>;
    try {
      page = await read({ first, after });
    } catch (error) {
      const isTooMuch = error instanceof EspalierError && error.code === 'TOO_EXPENSIVE';
      if (!isTooMuch || first === 1) throw error;
      first = Math.ceil(first / 2);
      continue;
    }
    yield* page.items;
    ({ endCursor: after, hasNextPage: isMore } = page.pageInfo);
  }
}
