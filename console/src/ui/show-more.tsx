/** A "Show more" button for lists that are read page by page and are not tables. */

import type { PagedQuery } from '../graph/use-pages.ts';
import { Button } from './button.tsx';

/** `noun` is the plural name of the items: "users". */
export function ShowMore({ pages, noun }: { pages: PagedQuery<unknown>; noun: string }) {
  const { data, hasMore, isReadingMore, readMore } = pages;
  if (!data || !hasMore) return null;
  return (
    <div className="show-more">
      <Button isPending={isReadingMore} onPress={readMore}>
        Show more {noun}
      </Button>
      <span className="soft number">
        {data.items.length.toLocaleString('en')} of {data.totalCount.toLocaleString('en')}
      </span>
    </div>
  );
}
