/** "Show more" buttons: for lists read page by page, and for long lists that are already loaded. */

import { useState, type ReactNode } from 'react';
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

interface TruncatedListProps<Item> {
  readonly items: readonly Item[];
  /** The plural name of the items: "grants". */
  readonly noun: string;
  readonly size?: number;
  readonly children: (visible: readonly Item[]) => ReactNode;
}

/** Renders the first items of a loaded list, and more on demand. */
export function TruncatedList<Item>({ items, noun, size = 25, children }: TruncatedListProps<Item>) {
  const [count, setCount] = useState(size);
  return (
    <>
      {children(items.slice(0, count))}
      {items.length > count && (
        <div className="show-more">
          <Button onPress={() => setCount(count + 4 * size)}>Show more {noun}</Button>
          <span className="soft number">
            {count.toLocaleString('en')} of {items.length.toLocaleString('en')}
          </span>
        </div>
      )}
    </>
  );
}
