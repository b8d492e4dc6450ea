/** A list of the graph that is read page by page: the first, and on demand the next. */

import { keepPreviousData, useInfiniteQuery, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { client } from '../session/client.ts';
import {
  readAllPages,
  maxPageSize,
  readFilledPage,
  type ItemPage,
  type Page,
  type PagedList,
  readNextPage,
} from './pages.ts';
import { queries, type GraphQueryKey } from './use-graph.ts';
import { useState, useRef } from 'react';

export interface List<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
}

export type { Page };

/** With what `<ShowMore of>` needs. */
export interface Pages<Item> extends NextPage {
  /** For `<Answer of>`. */
  readonly data: List<Item> | undefined;
  /** What is shown is of what was asked for before; the answer is on its way. */
  readonly isPreviousData: boolean;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
  readonly hasMore: boolean;
}

interface PagesOptions {
  /** False: nothing is asked. */
  readonly isEnabled?: boolean;
  readonly pollMs?: number;
}

/** The document takes `$after`; `pageOf` finds the page in its answer. */
export function usePages<Result, Item>(
  about: GraphQueryKey,
  document: string,
  variables: object,
  pageOf: (result: Result) => Page<Item>,
  { pollMs, isEnabled = true }: PagesOptions = {},
): Pages<Item> {
  const query = useInfiniteQuery({
    queryKey: about,
    queryFn: ({ pageParam, signal }): Promise<Page<Item>> =>
      readFilledPage(pageParam, async (after) =>
        pageOf(await client.query<Result>(document, { ...variables, after }, { signal })),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    select: ({ pages }): List<Item> => ({
      items: pages.flatMap(({ items }) => items),
      totalCount: pages.at(-1)?.totalCount ?? 0,
    }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    ...(pollMs === undefined ? {} : { refetchInterval: pollMs }),
  });
  const next = useNextPage(about, query);
  const { data, error, isPending, refetch, hasNextPage, isPlaceholderData: isPreviousData } = query;
  return { data, isPreviousData, error, isPending, refetch, hasMore: hasNextPage, ...next };
}

/** The document takes `$first` and `$after`; `pageOf` finds the page in its answer. */

export function useAllPages<Result, Item>(
  about: GraphQueryKey,
  document: string,
  variables: object,
  pageOf: (result: Result) => ItemPage<Item> | null,
  { isEnabled = true }: { readonly isEnabled?: boolean } = {},
): UseQueryResult<readonly Item[]> {
  return useQuery({
    queryKey: about,
    queryFn: ({ signal }) =>
      readAllPages(async (after) =>
        pageOf(await client.query<Result>(document, { ...variables, first: maxPageSize, after }, { signal })),
      ),
    enabled: isEnabled,
  });
}

export interface NextPage {
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

export function useNextPage(
  about: GraphQueryKey,
  list: PagedList & { readonly isFetchingNextPage: boolean },
): NextPage {
  const [isWaiting, setWaiting] = useState(false);
  const isAsked = useRef(false);
  const readMore = async () => {
    if (isAsked.current) return;
    isAsked.current = true;
    setWaiting(true);
    try {
      await readNextPage(list, () => queries.getQueryState(about));
    } finally {
      isAsked.current = false;
      setWaiting(false);
    }
  };
  return { isReadingMore: isWaiting || list.isFetchingNextPage, readMore: () => void readMore() };
}
