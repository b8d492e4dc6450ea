/** Hooks for lists: page by page, or all pages at once. */

import { keepPreviousData, useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { client } from '../session/client.ts';
import {
  maxPageSize,
  readAllPages,
  readFilledPage,
  readNextPage,
  type ItemPage,
  type Page,
  type PagedList,
} from './pages.ts';
import { queries, type GraphQueryKey } from './use-graph.ts';

interface LoadedItems<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
}

export type { Page };

/** The input of `<ShowMore>` and `<QueryResult>`. */
export interface PagedQuery<Item> extends ShowMoreState {
  readonly data: LoadedItems<Item> | undefined;
  /** `data` belongs to the previous variables. The new response is pending. */
  readonly isPreviousData: boolean;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
  readonly hasMore: boolean;
}

interface PagesOptions {
  readonly isEnabled?: boolean;
  readonly pollMs?: number;
}

/** Reads pages on demand. The document takes `$after`. `pageOf` selects the page from the response. */
export function usePages<Result, Item>(
  queryKey: GraphQueryKey,
  document: string,
  variables: object,
  pageOf: (result: Result) => Page<Item>,
  { pollMs, isEnabled = true }: PagesOptions = {},
): PagedQuery<Item> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }): Promise<Page<Item>> =>
      readFilledPage(pageParam, async (after) =>
        pageOf(await client.query<Result>(document, { ...variables, after }, { signal })),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    select: ({ pages }): LoadedItems<Item> => ({
      items: pages.flatMap(({ items }) => items),
      totalCount: pages.at(-1)?.totalCount ?? 0,
    }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    ...(pollMs === undefined ? {} : { refetchInterval: pollMs }),
  });
  const next = useNextPage(queryKey, query);
  const { data, error, isPending, refetch, hasNextPage, isPlaceholderData: isPreviousData } = query;
  return { data, isPreviousData, error, isPending, refetch, hasMore: hasNextPage, ...next };
}

/** Reads all pages. The document takes `$first` and `$after`. `pageOf` selects the page from the response. */
export function useAllPages<Result, Item>(
  queryKey: GraphQueryKey,
  document: string,
  variables: object,
  pageOf: (result: Result) => ItemPage<Item> | null,
  { isEnabled = true }: { readonly isEnabled?: boolean } = {},
): UseQueryResult<readonly Item[]> {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      readAllPages(async (after) =>
        pageOf(await client.query<Result>(document, { ...variables, first: maxPageSize, after }, { signal })),
      ),
    enabled: isEnabled,
  });
}

interface ShowMoreState {
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

/** "Show more" for a list that is read page by page. */
export function useNextPage(
  queryKey: GraphQueryKey,
  list: PagedList & { readonly isFetchingNextPage: boolean },
): ShowMoreState {
  const [isWaiting, setWaiting] = useState(false);
  /** Blocks a second call before React has rendered `isWaiting`. */
  const isRunning = useRef(false);
  const readMore = async () => {
    if (isRunning.current) return;
    isRunning.current = true;
    setWaiting(true);
    try {
      await readNextPage(list, () => queries.getQueryState(queryKey));
    } finally {
      isRunning.current = false;
      setWaiting(false);
    }
  };
  return { isReadingMore: isWaiting || list.isFetchingNextPage, readMore: () => void readMore() };
}
