/** The next page of a list that may be changing: none of its changes is lost by it. */

/** As a list of pages can be read; the promises are of what is under way then. */
export interface PagedList {
  readonly refetch: (options: { cancelRefetch: false }) => Promise<{ readonly isError: boolean }>;
  readonly fetchNextPage: (options: { cancelRefetch: false }) => Promise<unknown>;
}

/** What is known of a query. */
interface ListState {
  readonly fetchStatus: string;
  readonly isInvalidated: boolean;
}

/**
 * A next page makes the whole list pass for fresh, and would end the reading of it that is under way: so a list in which
 * something has changed is read again first.
 */
export async function readNextPage(list: PagedList, stateNow: () => ListState | undefined): Promise<void> {
  const isBehind = () => {
    const state = stateNow();
    return state !== undefined && (state.fetchStatus !== 'idle' || state.isInvalidated);
  };
  if (isBehind()) {
    const { isError } = await list.refetch({ cancelRefetch: false });
    // It failed, or whoever looked at it has gone.
    if (isError || isBehind()) return;
  }
  await list.fetchNextPage({ cancelRefetch: false });
}
