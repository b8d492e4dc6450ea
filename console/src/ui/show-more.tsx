/** The end of a list that is read page by page. */

import { type ReactNode, useState } from 'react';
import type { Pages } from '../graph/use-pages.ts';
import { Button } from './button.tsx';

/** `things` is what they are called: "users". */
export function ShowMore({ pages: list, things: noun }: { pages: Pages<unknown>; noun: string }) {
  const { data, hasMore, isReadingMore, readMore } = list;
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

interface ShownPartProps<Item> {
  readonly items: readonly Item[];
  /** What they are called: "grants". */
  readonly noun: string;
  readonly size?: number;
  readonly children: (shown: readonly Item[]) => ReactNode;
}

export function TruncatedList<Item>({ items, noun, size = 25, children }: ShownPartProps<Item>) {
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
