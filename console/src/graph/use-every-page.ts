/** A list of the graph that a component needs as a whole. */

import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { client } from '../session/client.ts';
import { maxPageSize, readEveryPage, type ItemPage } from './every-page.ts';
import type { About } from './use-graph.ts';

/** The document takes `$first` and `$after`; `pageOf` finds the page in its answer. */
export function useEveryPage<Result, Item>(
  about: About,
  document: string,
  variables: object,
  pageOf: (result: Result) => ItemPage<Item> | null,
  { isEnabled = true }: { readonly isEnabled?: boolean } = {},
): UseQueryResult<readonly Item[]> {
  return useQuery({
    queryKey: about,
    queryFn: ({ signal }) =>
      readEveryPage(async (after) =>
        pageOf(await client.query<Result>(document, { ...variables, first: maxPageSize, after }, { signal })),
      ),
    enabled: isEnabled,
  });
}
