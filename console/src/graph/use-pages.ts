/** A list of the graph that is read page by page: the first, and on demand the next. */

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../session/client.ts';
import { readFilledPage, type Page } from './next-page.ts';
import type { About } from './use-graph.ts';
import { useNextPage, type NextPage } from './use-next-page.ts';

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
  readonly isOfBefore: boolean;
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
  about: About,
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
  const { data, error, isPending, refetch, hasNextPage, isPlaceholderData: isOfBefore } = query;
  return { data, isOfBefore, error, isPending, refetch, hasMore: hasNextPage, ...next };
}
