/** Optimistic updates of cached queries, for `optimisticUpdate` of a task. Each function returns the rollback. */

import type { InfiniteData } from '@tanstack/react-query';
import { queries, type GraphQueryKey } from '../graph/use-graph.ts';
import type { Page } from '../graph/use-pages.ts';

/** Changes the cached result of `useGraph`, if there is one. */
export function updateQueryOptimistically<Result>(
  queryKey: GraphQueryKey,
  change: (result: Result) => Result,
): () => void {
  const oldResult = queries.getQueryData<Result>(queryKey);
  if (oldResult === undefined) return () => undefined;
  // A pending response would overwrite the change.
  void queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, change(oldResult));
  return () => void queries.setQueryData(queryKey, oldResult);
}

/** Changes the cached items of `usePages`. `change` returns null to remove an item. */
export function updateItemsOptimistically<Item>(
  queryKey: GraphQueryKey,
  change: (item: Item) => Item | null,
): () => void {
  return updateQueryOptimistically<InfiniteData<Page<Item>>>(queryKey, ({ pages, pageParams }) => {
    const changedPages = pages.map((page) => page.items.map(change).filter((item) => item !== null));
    const removedCount = pages.reduce(
      (sum, { items }, index) => sum + items.length - changedPages[index]!.length,
      0,
    );
    return {
      pageParams,
      pages: pages.map((page, index) => ({
        ...page,
        items: changedPages[index]!,
        totalCount: page.totalCount - removedCount,
      })),
    };
  });
}
