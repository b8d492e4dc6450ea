/** The end of a list that is read page by page. */

import type { Pages } from '../graph/use-pages.ts';
import { Button } from './button.tsx';

/** `things` is what they are called: "users". */
export function ShowMore({ of: list, things }: { of: Pages<unknown>; things: string }) {
  const { data, hasMore, isReadingMore, readMore } = list;
  if (!data || !hasMore) return null;
  return (
    <div className="show-more">
      <Button isPending={isReadingMore} onPress={readMore}>
        Show more {things}
      </Button>
      <span className="soft number">
        {data.items.length.toLocaleString('en')} of {data.totalCount.toLocaleString('en')}
      </span>
    </div>
  );
}
