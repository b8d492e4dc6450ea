/** "Show more" of a list that is read page by page. */

import { useRef, useState } from 'react';
import { readNextPage, type PagedList } from './next-page.ts';
import { queries, type About } from './use-graph.ts';

export interface NextPage {
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

export function useNextPage(
  about: About,
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
