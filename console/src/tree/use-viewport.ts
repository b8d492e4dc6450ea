/** The part of a long list that is on the screen, as it is scrolled and resized. */

import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { rowHeight, rowWindow, type RowWindow } from './row-window.ts';

export interface Viewport extends RowWindow {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  readonly scrollTo: (row: number, align: 'near' | 'middle' | 'top', past?: number) => void;
}

export function useViewport(rowCount: number): Viewport {
  const ref = useRef<HTMLDivElement>(null);
  const [{ scrolled, seen }, setView] = useState({ scrolled: 0, seen: 600 });
  const window = rowWindow(rowCount, scrolled, seen);
  const { scale } = window;

  const measure = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = ref.current ?? {};
    setView((before) =>
      before.scrolled === scrollTop && before.seen === clientHeight
        ? before
        : { scrolled: scrollTop, seen: clientHeight },
    );
  }, []);

  useLayoutEffect(() => {
    const { current } = ref;
    if (!current) return;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [measure]);

  const scrollTo = useCallback<Viewport['scrollTo']>(
    (row, align, past = 0) => {
      const { current } = ref;
      if (!current) return;
      const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
      const now = current.scrollTop * scale;
      let next = start + past;
      if (align === 'middle') next = start - (seen - rowHeight) / 2;
      if (align === 'near') next = Math.min(start, Math.max(now, end - seen));
      if (next !== now) current.scrollTop = next / scale;
      measure();
    },
    [scale, seen, measure],
  );
  return { ...window, ref, onScroll: measure, scrollTo };
}
