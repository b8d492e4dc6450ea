/**
 * Computes which rows of a long list are on the screen. All rows have the same height. A list that exceeds the maximum
 * height of browsers is scrolled in larger steps.
 */

import { useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore, type RefObject } from 'react';
import type { IndexRange } from '../state/level.ts';

const rowHeights = { normal: 30, touch: 44 };

const subscribeToPointer = (listener: () => void): (() => void) => {
  const query = matchMedia('(pointer: coarse)');
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};
const isTouch = () => matchMedia('(pointer: coarse)').matches;

/** The height of `--row` in the style sheets. */
function useRowHeight(): number {
  return useSyncExternalStore(subscribeToPointer, isTouch) ? rowHeights.touch : rowHeights.normal;
}

/** Firefox renders nothing beyond 17.8 million pixels, Chromium nothing beyond 33 million. */
export const maxListPixels = 16_000_000;
/** The number of rows rendered beyond each edge, so that a slow scroll shows no gap. */
const overscan = 8;

/** The rendered part of a list. Sizes are in pixels. */
interface RowWindow {
  /** The height of the scrollable content. */
  readonly height: number;
  /** Pixels of rows per scrolled pixel: 1, unless the list exceeds the maximum height. */
  readonly scale: number;
  /** The rows to render. */
  readonly rows: IndexRange;
  /**
   * The vertical position of the first rendered row inside the scrollable content. With a scale above 1, it depends on
   * `scrollTop`.
   */
  readonly offset: number;
  readonly rowHeight: number;
  /** The number of rows that Page Up and Page Down move by. */
  readonly page: number;
  /** The row at the upper edge, and the pixels by which it is scrolled out. */
  readonly top: { readonly row: number; readonly scrolledBy: number };
}

export function computeRowWindow(
  rowCount: number,
  scrollTop: number,
  viewHeight: number,
  rowHeight: number = rowHeights.normal,
): RowWindow {
  const fullHeight = rowCount * rowHeight;
  const height = Math.min(fullHeight, maxListPixels);
  const scale = height > viewHeight ? (fullHeight - viewHeight) / (height - viewHeight) : 1;
  const pixelsAbove = Math.max(0, Math.min(scrollTop * scale, fullHeight - viewHeight));
  const from = Math.max(0, Math.floor(pixelsAbove / rowHeight) - overscan);
  const to = Math.min(rowCount, Math.ceil((pixelsAbove + viewHeight) / rowHeight) + overscan);
  return {
    height,
    scale,
    rows: { from, to },
    offset: scrollTop - (pixelsAbove - from * rowHeight),
    page: Math.max(1, Math.floor(viewHeight / rowHeight) - 1),
    top: { row: Math.floor(pixelsAbove / rowHeight), scrolledBy: pixelsAbove % rowHeight },
    rowHeight,
  };
}

/** The visible part of a list element while the user scrolls and resizes. */
interface Viewport extends RowWindow {
  readonly ref: RefObject<HTMLDivElement | null>;
  /** False while a small screen shows the page of the folder instead. */
  readonly isVisible: boolean;
  readonly onScroll: () => void;
  /** `near` scrolls only as far as needed. `scrolledBy` applies only to `top`. */
  readonly scrollTo: (row: number, align: 'near' | 'middle' | 'top', scrolledBy?: number) => void;
}

export function useViewport(rowCount: number): Viewport {
  const ref = useRef<HTMLDivElement>(null);
  const lastScrollTop = useRef(0);
  const rowHeight = useRowHeight();
  const [{ scrollTop, viewHeight }, setView] = useState({ scrollTop: 0, viewHeight: 600 });
  const rowWindow = computeRowWindow(rowCount, scrollTop, viewHeight, rowHeight);
  const { scale } = rowWindow;

  const measure = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = ref.current ?? {};
    if (clientHeight > 0) lastScrollTop.current = scrollTop;
    setView((before) =>
      before.scrollTop === scrollTop && before.viewHeight === clientHeight
        ? before
        : { scrollTop, viewHeight: clientHeight },
    );
  }, []);

  useLayoutEffect(() => {
    const { current } = ref;
    if (!current) return;
    measure();
    let isVisible = current.clientHeight > 0;
    const observer = new ResizeObserver(() => {
      // The browser forgets the position of a hidden element.
      if (!isVisible && current.clientHeight > 0) current.scrollTop = lastScrollTop.current;
      isVisible = current.clientHeight > 0;
      measure();
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [measure]);

  const scrollTo = useCallback<Viewport['scrollTo']>(
    (row, align, scrolledBy = 0) => {
      const { current } = ref;
      if (!current) return;
      const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
      const currentTop = current.scrollTop * scale;
      let nextTop = start + scrolledBy;
      if (align === 'middle') nextTop = start - (viewHeight - rowHeight) / 2;
      if (align === 'near') nextTop = Math.min(start, Math.max(currentTop, end - viewHeight));
      if (nextTop !== currentTop) current.scrollTop = nextTop / scale;
      measure();
    },
    [scale, viewHeight, rowHeight, measure],
  );
  return { ...rowWindow, ref, isVisible: viewHeight > 0, onScroll: measure, scrollTo };
}
