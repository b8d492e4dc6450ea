/**
 * Moves folders by dragging them with the mouse. Collapsed folders expand when the pointer rests on them, the tree scrolls at
 * its edges, and Escape cancels. Touch scrolls instead, and a long press opens the menu, which has "Move to…".
 */

import { useEffect, useRef, useState, type PointerEvent as ReactPointerEvent } from 'react';
import type { FolderRow } from '../../graph/live.tsx';
import { canMoveInto, rightsOf } from '../edit/folder-rights.ts';
import type { Tree } from '../tree.ts';

export interface Drag {
  readonly folders: readonly FolderRow[];
  readonly x: number;
  readonly y: number;
  /** The folder under the pointer, or null if the folders cannot move there. */
  readonly target: FolderRow | null;
}

const startPixels = 5;
const expandAfterMs = 700;
const edgePixels = 36;
const stepPixels = 9;

/** One drag, from the press on a row to the release. */
class DragSession {
  readonly #tree: Tree;
  readonly #element: HTMLElement;
  readonly #folders: readonly FolderRow[];
  readonly #onChange: (drag: Drag | null) => void;
  readonly #onDrop: (folders: readonly FolderRow[], target: FolderRow) => void;
  readonly #start: { readonly x: number; readonly y: number };
  readonly #controller = new AbortController();
  #pointer: { x: number; y: number };
  #target: FolderRow | null = null;
  #hoveredId: string | null = null;
  #expandTimer: ReturnType<typeof setTimeout> | undefined;
  #isMoving = false;

  constructor(
    tree: Tree,
    element: HTMLElement,
    { clientX: x, clientY: y }: { clientX: number; clientY: number },
    folders: readonly FolderRow[],
    onChange: (drag: Drag | null) => void,
    onDrop: (folders: readonly FolderRow[], target: FolderRow) => void,
  ) {
    this.#tree = tree;
    this.#element = element;
    this.#folders = folders;
    this.#onChange = onChange;
    this.#onDrop = onDrop;
    this.#start = this.#pointer = { x, y };
    const { signal } = this.#controller;
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
    this.#pointer = { x, y };
    if (!this.#isMoving) {
      if (Math.hypot(x - this.#start.x, y - this.#start.y) < startPixels) return;
      this.#isMoving = true;
      requestAnimationFrame(() => this.#scroll());
    }
    this.#updateTarget();
  }

  /** Updates the target from the row under the pointer. */
  #updateTarget(): void {
    const { store } = this.#tree;
    const row = document
      .elementFromPoint(this.#pointer.x, this.#pointer.y)
      ?.closest<HTMLElement>('[data-index]');
    const isInTree = row && this.#element.contains(row);
    const hovered = isInTree ? (store.rowAt(Number(row.dataset['index']))?.folder ?? null) : null;
    this.#target = hovered && canMoveInto(store, hovered, this.#folders) ? hovered : null;
    if (hovered?.id !== this.#hoveredId) {
      this.#hoveredId = hovered?.id ?? null;
      clearTimeout(this.#expandTimer);
      if (hovered && !store.isExpanded(hovered.id)) {
        this.#expandTimer = setTimeout(() => store.expand(hovered.id), expandAfterMs);
      }
    }
    this.#onChange({ folders: this.#folders, ...this.#pointer, target: this.#target });
  }

  #scroll(): void {
    if (this.#controller.signal.aborted) return;
    const { top, bottom } = this.#element.getBoundingClientRect();
    const { y } = this.#pointer;
    const by = y < top + edgePixels ? -stepPixels : y > bottom - edgePixels ? stepPixels : 0;
    if (by !== 0) {
      this.#element.scrollTop += by;
      this.#updateTarget();
    }
    requestAnimationFrame(() => this.#scroll());
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.#end(false);
  }

  #end(isDropped: boolean): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    clearTimeout(this.#expandTimer);
    if (!this.#isMoving) return;
    this.#onChange(null);
    // The browser sends a click after the release. It must not open a folder.
    const swallow = (event: MouseEvent) => event.stopPropagation();
    addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0);
    if (isDropped && this.#target) this.#onDrop(this.#folders, this.#target);
  }
}

export function useDrag(tree: Tree, onDrop: (folders: readonly FolderRow[], target: FolderRow) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const session = useRef<DragSession | null>(null);
  useEffect(() => () => session.current?.stop(), []);

  const onPointerDown = (event: ReactPointerEvent<HTMLDivElement>) => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>('[data-index]');
    const isPlain =
      event.button === 0 && event.pointerType === 'mouse' && !target.closest('[data-part],input');
    if (!row || !isPlain || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { store, focus } = tree;
    const folder = store.rowAt(Number(row.dataset['index']))?.folder;
    const folders = folder ? focus.selectionFor(folder) : [];
    if (folders.length === 0 || !folders.every((each) => rightsOf(store, each).remove)) return;
    session.current = new DragSession(tree, event.currentTarget, event, folders, setDrag, onDrop);
  };
  return { drag, onPointerDown };
}

const longPressMs = 500;
const maxPressPixels = 10;

/** Calls `onLongPress` when a finger rests on a row. Browsers on iOS send no event for that. */
export function useLongPress(onLongPress: (row: HTMLElement, at: { x: number; y: number }) => void) {
  const cancel = useRef<() => void>(undefined);
  useEffect(() => () => cancel.current?.(), []);

  return ({ target, pointerType, isPrimary, clientX: x, clientY: y }: ReactPointerEvent) => {
    cancel.current?.();
    const row = (target as HTMLElement).closest<HTMLElement>('[data-index]');
    if (!row || pointerType === 'mouse' || !isPrimary || (target as HTMLElement).closest('input')) return;
    const controller = new AbortController();
    const stop = (cancel.current = () => controller.abort());
    const { signal } = controller;
    const timer = setTimeout(() => {
      stop();
      swallowNextClick();
      onLongPress(row, { x, y });
    }, longPressMs);
    signal.addEventListener('abort', () => clearTimeout(timer));
    const onMove = (event: PointerEvent) => {
      if (Math.hypot(event.clientX - x, event.clientY - y) > maxPressPixels) stop();
    };
    addEventListener('pointermove', onMove, { signal });
    // Other browsers send "contextmenu", which opens the menu.
    for (const name of ['pointerup', 'pointercancel', 'contextmenu'])
      addEventListener(name, stop, { signal });
  };
}

/** Ignores the click after a long press, which would open the folder. */
function swallowNextClick(): void {
  const controller = new AbortController();
  const { signal } = controller;
  const swallow = (event: MouseEvent) => {
    event.stopPropagation();
    event.preventDefault();
    controller.abort();
  };
  addEventListener('click', swallow, { capture: true, signal });
  addEventListener('pointerdown', () => controller.abort(), { capture: true, signal });
}
