/** Reading the graph from a component: asked once, kept, and read again when something of it has changed. */

import { QueryClient, useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { client } from '../session/client.ts';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The client itself asks again while the server cannot be reached.
      retry: false,
      staleTime: 30_000,
      refetchOnWindowFocus: true,
    },
  },
});

/**
 * What a question is about, the most general first: `['folder', id, 'access']`. Whoever changes something of it tells by
 * `queries.invalidateQueries({ queryKey: ['folder', id] })`.
 */
export type GraphQueryKey = readonly [subject: string, ...rest: unknown[]];

type Options<Result> = Omit<UseQueryOptions<Result, Error, Result, GraphQueryKey>, 'queryKey' | 'queryFn'>;

export function useGraph<Result>(
  about: GraphQueryKey,
  document: string,
  variables?: object,
  options?: Options<Result>,
): UseQueryResult<Result> {
  return useQuery<Result, Error, Result, GraphQueryKey>({
    queryKey: about,
    queryFn: ({ signal }) => client.query<Result>(document, variables ?? {}, { signal }),
    ...options,
  });
}
