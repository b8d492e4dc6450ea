/** The focused row and the selected folders. Both are stored by folder id, so they survive changes of the rows around them. */

import type { FolderRow } from '../../graph/live.tsx';
import type { IndexRange } from './level.ts';
import type { TreeStore } from './tree-store.ts';

/** Limited, because an action runs on the selected folders one after the other. */
export const maxSelected = 500;

/** A row to scroll to once it is loaded. Without an id, the focused row. */
interface ScrollTarget {
  readonly id: string | null;
  readonly align: 'near' | 'middle' | 'top';
  /** The pixels by which the row is scrolled out at the top. */
  readonly scrolledBy: number;
}

export class TreeFocus {
  readonly #store: TreeStore;
  readonly #listeners = new Set<() => void>();
  #focused: string | { readonly parentId: string; readonly position: number } | null = null;
  #lastIndex = 0;
  #selected: ReadonlySet<string> = new Set();
  #anchor: string | null = null;
  #scrollTarget: ScrollTarget | null = null;
  #version = 0;

  constructor(store: TreeStore) {
    this.#store = store;
  }

  /** The focused row, or a row near it if it is gone or hidden. */
  get index(): number {
    const index = this.#findIndex();
    if (index !== null) this.#lastIndex = index;
    return Math.max(0, Math.min(this.#lastIndex, this.#store.rowCount - 1));
  }

  get folder(): FolderRow | null {
    return this.#store.rowAt(this.index)?.folder ?? null;
  }

  get selected(): ReadonlySet<string> {
    return this.#selected;
  }

  /** The selected folders that still exist. */
  get selectedFolders(): readonly FolderRow[] {
    return [...this.#selected].flatMap((id) => this.#store.folder(id) ?? []);
  }

  /** Returns whether folders other than the current one are selected. The current folder is selected when it opens. */
  hasOtherSelection(currentId: string | null): boolean {
    return this.#selected.size > 1 || (this.#selected.size === 1 && !this.#selected.has(currentId ?? ''));
  }

  /**
   * The folders that an action on this folder applies to: the whole selection if the folder is selected, otherwise only the
   * folder. Descendants of other selected folders are left out.
   */
  selectionFor(folder: FolderRow): readonly FolderRow[] {
    if (!this.#selected.has(folder.id)) return [folder];
    const isTop = (id: string) =>
      !this.#store.ancestorIds(id).some((ancestorId) => this.#selected.has(ancestorId));
    const top = [...this.#selected].filter(isTop).flatMap((id) => this.#store.folder(id) ?? []);
    return top.length > 0 ? top : [folder];
  }

  /** Moves the focus to a row. The next range of selected rows starts there. */
  moveTo(index: number): void {
    this.#anchor = null;
    this.#focusRow(index);
  }

  #focusRow(index: number): void {
    const row = this.#store.rowAt(Math.max(0, Math.min(index, this.#store.rowCount - 1)));
    if (!row) return;
    this.#focused = row.folder?.id ?? { parentId: row.parentId!, position: row.position };
    this.#scrollTarget = { id: null, align: 'near', scrolledBy: 0 };
    this.#notify();
  }

  /** Moves the focus to a folder, which need not be loaded yet. */
  moveToFolder(id: string, align: ScrollTarget['align'] = 'near'): void {
    this.#focused = id;
    this.#anchor = null;
    this.#scrollTarget = { id: null, align, scrolledBy: 0 };
    this.#notify();
  }

  /** Scrolls to a row without moving the focus. If that hides the focused row, scrolls on until it is visible. */
  scrollTo(id: string, align: ScrollTarget['align'], scrolledBy = 0): void {
    this.#scrollTarget = { id, align, scrolledBy };
    this.#notify();
  }

  /** Returns the row to scroll to once it is loaded, and null afterwards. */
  takeScrollTarget(): (ScrollTarget & { readonly index: number }) | null {
    const target = this.#scrollTarget;
    if (!target) return null;
    const index = target.id === null ? this.#findIndex() : this.#store.indexOf(target.id);
    if (index === null) return null;
    this.#scrollTarget = null;
    return { ...target, index };
  }

  /** Selects only this folder, or none. */
  select(id: string | null): void {
    this.#selected = new Set(id === null ? [] : [id]);
    this.#anchor = id;
    this.#notify();
  }

  toggle(id: string): void {
    const selected = new Set(this.#selected);
    if (!selected.delete(id) && selected.size < maxSelected) selected.add(id);
    this.#selected = selected;
    this.#anchor = id;
    this.#notify();
  }

  /** Selects these folders, up to the maximum. The focus stays. */
  selectAll(ids: readonly string[]): void {
    this.#selected = new Set(ids.slice(0, maxSelected));
    this.#notify();
  }

  /**
   * Selects from the anchor to a row, without the root, which has no actions for several folders. Rows that are not loaded
   * are skipped. Returns the rows of the range.
   */
  extendTo(index: number): IndexRange {
    this.#anchor ??= this.folder?.id ?? null;
    const from = (this.#anchor === null ? null : this.#store.indexOf(this.#anchor)) ?? this.index;
    const step = index < from ? -1 : 1;
    const selected = new Set<string>();
    let row = from;
    for (; selected.size < maxSelected && Math.abs(row - from) < maxSelected; row += step) {
      const found = this.#store.rowAt(row);
      if (found?.folder && found.parentId !== null) selected.add(found.folder.id);
      if (row === index) break;
    }
    this.#selected = selected;
    this.#focusRow(index);
    return { from: Math.min(from, row), to: Math.max(from, row) + 1 };
  }

  clear(): void {
    this.#focused = null;
    this.#scrollTarget = null;
    this.#lastIndex = 0;
    this.select(null);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  #findIndex(): number | null {
    if (this.#focused === null) return null;
    if (typeof this.#focused !== 'string') {
      const { parentId, position } = this.#focused;
      const index = this.#store.indexOfPosition(parentId, position);
      const loadedId = index === null ? undefined : this.#store.rowAt(index)?.folder?.id;
      if (loadedId !== undefined) this.#focused = loadedId;
      return index;
    }
    for (const id of [this.#focused, ...this.#store.ancestorIds(this.#focused)]) {
      const index = this.#store.indexOf(id);
      if (index !== null) return index;
    }
    return null;
  }

  #notify(): void {
    this.#lastIndex = this.#findIndex() ?? this.#lastIndex;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
