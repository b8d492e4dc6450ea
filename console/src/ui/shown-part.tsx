/** As much of a list that is here already as is good to look at, and a button for more. */

import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';

interface ShownPartProps<Item> {
  readonly of: readonly Item[];
  /** What they are called: "grants". */
  readonly things: string;
  readonly size?: number;
  readonly children: (shown: readonly Item[]) => ReactNode;
}

export function ShownPart<Item>({ of: items, things, size = 25, children }: ShownPartProps<Item>) {
  const [count, setCount] = useState(size);
  return (
    <>
      {children(items.slice(0, count))}
      {items.length > count && (
        <div className="show-more">
          <Button onPress={() => setCount(count + 4 * size)}>Show more {things}</Button>
          <span className="soft number">
            {count.toLocaleString('en')} of {items.length.toLocaleString('en')}
          </span>
        </div>
      )}
    </>
  );
}
