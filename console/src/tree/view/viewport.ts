/**
 * Which rows of a long list are on the screen. All rows are equally high. A list that would be higher than browsers can
 * draw is scrolled in larger steps.
 */

import { type RefObject, useRef, useState, useCallback, useLayoutEffect } from 'react';
import type { IndexRange } from '../state/level.ts';

export const rowHeight = 30;

/** Firefox draws nothing below 17.8 million pixels, Chromium below 33 million. */
export const mostPixels = 16_000_000;
/** Drawn beyond what is seen, so that a slow scroll shows no gap. */
const overscan = 8;

export interface RowWindow {
  /** Of all rows, in pixels that can be scrolled. */
  readonly height: number;
  /** Pixels of rows for each pixel that is scrolled: 1, unless the list is too high. */
  readonly scale: number;
  /** To be drawn. */
  readonly rows: IndexRange;
  /** Where the first of them is drawn. */
  readonly offset: number;
  /** How many rows a page is. */
  readonly page: number;
  /** The row at the upper edge, and how far it is scrolled past. */
  readonly top: { readonly row: number; readonly past: number };
}

/** `scrolled` is how far, `seen` how much of the list is on the screen, in pixels. */
export function rowWindow(rowCount: number, scrolled: number, seen: number): RowWindow {
  const all = rowCount * rowHeight;
  const height = Math.min(all, mostPixels);
  const scale = height > seen ? (all - seen) / (height - seen) : 1;
  const above = Math.max(0, Math.min(scrolled * scale, all - seen));
  const from = Math.max(0, Math.floor(above / rowHeight) - overscan);
  const to = Math.min(rowCount, Math.ceil((above + seen) / rowHeight) + overscan);
  return {
    height,
    scale,
    rows: { from, to },
    offset: scrolled - (above - from * rowHeight),
    page: Math.max(1, Math.floor(seen / rowHeight) - 1),
    top: { row: Math.floor(above / rowHeight), past: above % rowHeight },
  };
}

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
