/** Reads lists page by page. Requests each page only when the caller needs it. */

import { EspalierError } from './errors.ts';

/** Options of a list that is read page by page. */
export interface ListOptions {
  /** Page size. Default: 500, and 100 for a search. Halved while the server rejects a page as TOO_EXPENSIVE. */
  readonly pageSize?: number | undefined;
  /** Ends the list when you abort it: the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

/** The fields of a connection that `Page` needs in addition to `items`. */
export const pageFields = 'pageInfo{endCursor hasNextPage}';

export interface PageVariables {
  readonly first: number;
  readonly after?: string | null;
}

export async function* readPages<Item>(
  options: Pick<ListOptions, 'pageSize'>,
  pageSize: number,
  read: (page: PageVariables) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const withPageSize = adaptivePageSize(options.pageSize ?? pageSize);
  let after: string | null = null;
  for (let hasMore = true; hasMore;) {
    const { items, pageInfo } = await withPageSize((first) => read({ first, after }));
    yield* items;
    ({ endCursor: after, hasNextPage: hasMore } = pageInfo);
  }
}

/** Runs queries with a page size, and permanently halves it when the server rejects a query as too expensive. */
export function adaptivePageSize(
  size: number,
): <Result>(run: (first: number) => Promise<Result>) => Promise<Result> {
  let first = size;
  return async (run) => {
    for (;;) {
      try {
        return await run(first);
      } catch (error) {
        const isTooExpensive = error instanceof EspalierError && error.code === 'TOO_EXPENSIVE';
        if (!isTooExpensive || first <= 1) throw error;
        first >>= 1;
      }
    }
  };
}
