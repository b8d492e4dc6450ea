/** Reads the graph from a component, with a shared query cache. */

import {
  QueryCache,
  QueryClient,
  useQuery,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { client } from '../session/client.ts';
import { leaveEndedView } from '../session/view-as.ts';

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: leaveEndedView }),
  defaultOptions: {
    queries: {
      // The client itself retries while the server cannot be reached.
      retry: false,
      staleTime: 30_000,
      refetchOnWindowFocus: true,
    },
  },
});

/**
 * Names a query from general to specific: `['folder', id, 'access']`. After a change, invalidate a prefix:
 * `queries.invalidateQueries({ queryKey: ['folder', id] })`.
 */
export type GraphQueryKey = readonly [subject: string, ...rest: unknown[]];

/** The lists of folders that concern only the viewer. */
export const personalKey = ['personal'] as const satisfies GraphQueryKey;

export const peopleKey = ['people'] as const satisfies GraphQueryKey;

/** The queries to read again after a change of a user or a group. */
export const peopleQueries: readonly GraphQueryKey[] = [peopleKey];

type Options<Result> = Omit<UseQueryOptions<Result, Error, Result, GraphQueryKey>, 'queryKey' | 'queryFn'>;

export function useGraph<Result>(
  queryKey: GraphQueryKey,
  document: string,
  variables?: object,
  options?: Options<Result>,
): UseQueryResult<Result> {
  return useQuery<Result, Error, Result, GraphQueryKey>({
    queryKey,
    queryFn: ({ signal }) => client.query<Result>(document, variables ?? {}, { signal }),
    ...options,
  });
}
