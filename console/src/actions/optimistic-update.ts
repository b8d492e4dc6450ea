/** Shows what an action will do before the server has done it: for `foresee` of a task. */

import type { InfiniteData } from '@tanstack/react-query';
import { queries, type GraphQueryKey } from '../graph/use-graph.ts';
import type { Page } from '../graph/use-pages.ts';

/** Changes an answer that `useGraph` has, if it has one; gives back how to take that back. */
export function updateQueryOptimistically<Result>(
  about: GraphQueryKey,
  change: (result: Result) => Result,
): () => void {
  const before = queries.getQueryData<Result>(about);
  if (before === undefined) return () => undefined;
  // What is on its way does not know of the change.
  void queries.cancelQueries({ queryKey: about, exact: true });
  queries.setQueryData(about, change(before));
  return () => void queries.setQueryData(about, before);
}

/** The same for a list that `usePages` has: `change` leaves an item out by null. */
export function updateItemsOptimistically<Item>(
  about: GraphQueryKey,
  change: (item: Item) => Item | null,
): () => void {
  return updateQueryOptimistically<InfiniteData<Page<Item>>>(about, ({ pages, pageParams }) => {
    const changed = pages.map((page) => page.items.map(change).filter((item) => item !== null));
    const gone = pages.reduce((sum, { items }, at) => sum + items.length - changed[at]!.length, 0);
    return {
      pageParams,
      pages: pages.map((page, at) => ({
        ...page,
        items: changed[at]!,
        totalCount: page.totalCount - gone,
      })),
    };
  });
}
