/**
 * Moves folders by dragging them with the mouse: closed folders open when one waits above them, the tree scrolls at its
 * edges, Escape gives up. Fingers scroll; for them, and for keys, there is "Move to…".
 */

import { useEffect, useRef, useState, type PointerEvent as ReactPointerEvent } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { canTake, rightsOf } from '../edit/folder-rights.ts';
import type { Tree } from '../tree.ts';

export interface Drag {
  readonly folders: readonly FolderRow[];
  readonly x: number;
  readonly y: number;
  /** Where they would go; null if they cannot go there. */
  readonly target: FolderRow | null;
}

const startPixels = 5;
const openAfterMs = 700;
const edgePixels = 36;
const stepPixels = 9;

/** Follows a press on a row until it is let go. */
class Dragging {
  readonly #tree: Tree;
  readonly #element: HTMLElement;
  readonly #folders: readonly FolderRow[];
  readonly #tell: (drag: Drag | null) => void;
  readonly #drop: (folders: readonly FolderRow[], target: FolderRow) => void;
  readonly #start: { readonly x: number; readonly y: number };
  readonly #ending = new AbortController();
  #at: { x: number; y: number };
  #target: FolderRow | null = null;
  #over: string | null = null;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #isMoving = false;

  constructor(
    tree: Tree,
    element: HTMLElement,
    { clientX: x, clientY: y }: { clientX: number; clientY: number },
    folders: readonly FolderRow[],
    tell: (drag: Drag | null) => void,
    drop: (folders: readonly FolderRow[], target: FolderRow) => void,
  ) {
    this.#tree = tree;
    this.#element = element;
    this.#folders = folders;
    this.#tell = tell;
    this.#drop = drop;
    this.#start = this.#at = { x, y };
    const { signal } = this.#ending;
    addEventListener('pointermove', (event) => this.#move(event), { signal });
    addEventListener('pointerup', () => this.#end(true), { signal });
    addEventListener('pointercancel', () => this.#end(false), { signal });
    addEventListener('blur', () => this.#end(false), { signal });
    addEventListener('keydown', (event) => this.#key(event), { signal, capture: true });
  }

  stop(): void {
    this.#end(false);
  }

  #move({ clientX: x, clientY: y }: PointerEvent): void {
    this.#at = { x, y };
    if (!this.#isMoving) {
      if (Math.hypot(x - this.#start.x, y - this.#start.y) < startPixels) return;
      this.#isMoving = true;
      requestAnimationFrame(() => this.#scroll());
    }
    this.#look();
  }

  /** What is below the pointer now. */
  #look(): void {
    const { store } = this.#tree;
    const row = document.elementFromPoint(this.#at.x, this.#at.y)?.closest<HTMLElement>('[data-index]');
    const isOurs = row && this.#element.contains(row);
    const over = isOurs ? (store.rowAt(Number(row.dataset['index']))?.folder ?? null) : null;
    this.#target = over && canTake(store, over, this.#folders) ? over : null;
    if (over?.id !== this.#over) {
      this.#over = over?.id ?? null;
      clearTimeout(this.#opening);
      if (over && !store.isOpen(over.id)) this.#opening = setTimeout(() => store.open(over.id), openAfterMs);
    }
    this.#tell({ folders: this.#folders, ...this.#at, target: this.#target });
  }

  #scroll(): void {
    if (this.#ending.signal.aborted) return;
    const { top, bottom } = this.#element.getBoundingClientRect();
    const { y } = this.#at;
    const by = y < top + edgePixels ? -stepPixels : y > bottom - edgePixels ? stepPixels : 0;
    if (by !== 0) {
      this.#element.scrollTop += by;
      this.#look();
    }
    requestAnimationFrame(() => this.#scroll());
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.#end(false);
  }

  #end(isDropped: boolean): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    clearTimeout(this.#opening);
    if (!this.#isMoving) return;
    this.#tell(null);
    // The click that follows is the end of this, and opens nothing.
    const swallow = (event: MouseEvent) => event.stopPropagation();
    addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0);
    if (isDropped && this.#target) this.#drop(this.#folders, this.#target);
  }
}

export function useDrag(tree: Tree, drop: (folders: readonly FolderRow[], target: FolderRow) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const current = useRef<Dragging | null>(null);
  useEffect(() => () => current.current?.stop(), []);

  const onPointerDown = (event: ReactPointerEvent<HTMLDivElement>) => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>('[data-index]');
    const isPlain =
      event.button === 0 && event.pointerType === 'mouse' && !target.closest('[data-part],input');
    if (!row || !isPlain || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { store, focus } = tree;
    const folder = store.rowAt(Number(row.dataset['index']))?.folder;
    const folders = folder ? focus.chosen(folder) : [];
    if (folders.length === 0 || !folders.every((one) => rightsOf(store, one).takeAway)) return;
    current.current = new Dragging(tree, event.currentTarget, event, folders, setDrag, drop);
  };
  return { drag, onPointerDown };
}
