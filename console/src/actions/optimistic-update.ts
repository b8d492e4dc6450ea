/** Optimistic updates of cached queries, for `optimisticUpdate` of a task. Each function returns the rollback. */

import type { InfiniteData } from '@tanstack/react-query';
import { queries, type GraphQueryKey } from '../graph/use-graph.ts';
import type { Page } from '../graph/use-pages.ts';

/** Changes the cached result of `useGraph`, if there is one. */
export function updateQueryOptimistically<Result>(
  queryKey: GraphQueryKey,
  change: (result: Result) => Result,
): () => void {
  const before = queries.getQueryData<Result>(queryKey);
  if (before === undefined) return () => undefined;
  // A pending response would overwrite the change.
  void queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, change(before));
  return () => void queries.setQueryData(queryKey, before);
}

/** Changes the cached items of `usePages`. `change` returns null to remove an item. */
export function updateItemsOptimistically<Item>(
  queryKey: GraphQueryKey,
  change: (item: Item) => Item | null,
): () => void {
  return updateQueryOptimistically<InfiniteData<Page<Item>>>(queryKey, ({ pages, pageParams }) => {
    const changed = pages.map((page) => page.items.map(change).filter((item) => item !== null));
    const removed = pages.reduce((sum, { items }, index) => sum + items.length - changed[index]!.length, 0);
    return {
      pageParams,
      pages: pages.map((page, index) => ({
        ...page,
        items: changed[index]!,
        totalCount: page.totalCount - removed,
      })),
    };
  });
}
