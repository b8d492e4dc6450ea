/** Lists that are read page by page, each when it is needed. */

import { EspalierError } from './errors.ts';

export interface ListOptions {
  /** How many are fetched at a time, or fewer where so many cost too much. 500 unless told, 100 for a search. */
  readonly pageSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

export interface PageVariables {
  readonly first: number;
  readonly after?: string | null;
}

export async function* pagesOf<Item>(
  options: Pick<ListOptions, 'pageSize'>,
  pageSize: number,
  read: (page: PageVariables) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const page = halving(options.pageSize ?? pageSize);
  let after: string | null = null;
  for (let isMore = true; isMore;) {
    const { items, pageInfo } = await page((first) => read({ first, after }));
    yield* items;
    ({ endCursor: after, hasNextPage: isMore } = pageInfo);
  }
}

/** Asks for so many, or, where that is refused because it costs too much, for half of it; from then on, too. */
export function halving(size: number): <Answer>(ask: (first: number) => Promise<Answer>) => Promise<Answer> {
  let first = size;
  return async (ask) => {
    for (;;) {
      try {
        return await ask(first);
      } catch (error) {
        const isTooMuch = error instanceof EspalierError && error.code === 'TOO_EXPENSIVE';
        if (!isTooMuch || first <= 1) throw error;
        first >>= 1;
      }
    }
  };
}
