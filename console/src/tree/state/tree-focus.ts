/** Which row has the focus, and which folders are selected: by folder, so that both stay while rows come and go. */

import type { FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from './tree-store.ts';

/** So many are selected at once, at most: what is done with them is done one after the other. */
const mostSelected = 500;

/** A row that the tree is to be scrolled to, as soon as it is there. */
export interface Goal {
  readonly id: string | null;
  readonly align: 'near' | 'middle' | 'top';
  /** How far the row is scrolled past. */
  readonly past: number;
}

export class TreeFocus {
  readonly #store: TreeStore;
  readonly #listeners = new Set<() => void>();
  #focused: string | { readonly parentId: string; readonly place: number } | null = null;
  #lastIndex = 0;
  #selected: ReadonlySet<string> = new Set();
  #anchor: string | null = null;
  #goal: Goal | null = null;
  #version = 0;

  constructor(store: TreeStore) {
    this.#store = store;
  }

  /** The row that has the focus; if it is gone or hidden, one that is near. */
  get index(): number {
    const index = this.#find();
    if (index !== null) this.#lastIndex = index;
    return Math.max(0, Math.min(this.#lastIndex, this.#store.rowCount - 1));
  }

  get folder(): FolderRow | null {
    return this.#store.rowAt(this.index)?.folder ?? null;
  }

  get selected(): ReadonlySet<string> {
    return this.#selected;
  }

  /**
   * What something is done with, for which this folder was pointed at: all that are selected, if it is one of them. Not
   * those inside others that are selected.
   */
  chosen(folder: FolderRow): readonly FolderRow[] {
    if (!this.#selected.has(folder.id)) return [folder];
    const isTop = (id: string) => !this.#store.ancestorIds(id).some((above) => this.#selected.has(above));
    const top = [...this.#selected].filter(isTop).flatMap((id) => this.#store.folder(id) ?? []);
    return top.length > 0 ? top : [folder];
  }

  moveTo(index: number): void {
    const row = this.#store.rowAt(Math.max(0, Math.min(index, this.#store.rowCount - 1)));
    if (!row) return;
    this.#focused = row.folder?.id ?? { parentId: row.parentId!, place: row.position };
    this.#goal = { id: null, align: 'near', past: 0 };
    this.#changed();
  }

  /** Also of one that is not known yet. */
  moveToFolder(id: string, align: Goal['align'] = 'near'): void {
    this.#focused = id;
    this.#goal = { id: null, align, past: 0 };
    this.#changed();
  }

  /** Scrolls, without moving the focus. */
  show(id: string, align: Goal['align'], past = 0): void {
    this.#goal = { id, align, past };
    this.#changed();
  }

  /** The row to scroll to, once it is there: then it is reached, and null from then on. */
  takeGoal(): (Goal & { readonly index: number }) | null {
    const goal = this.#goal;
    if (!goal) return null;
    const index = goal.id === null ? this.#find() : this.#store.indexOf(goal.id);
    if (index === null) return null;
    this.#goal = null;
    return { ...goal, index };
  }

  /** This one alone, or none. */
  select(id: string | null): void {
    this.#selected = new Set(id === null ? [] : [id]);
    this.#anchor = id;
    this.#changed();
  }

  toggle(id: string): void {
    const selected = new Set(this.#selected);
    if (!selected.delete(id) && selected.size < mostSelected) selected.add(id);
    this.#selected = selected;
    this.#anchor = id;
    this.#changed();
  }

  /** From where the selection began to a row, as far as rows are read. */
  extendTo(index: number): void {
    this.#anchor ??= this.folder?.id ?? null;
    const from = (this.#anchor === null ? null : this.#store.indexOf(this.#anchor)) ?? this.index;
    const step = index < from ? -1 : 1;
    const selected = new Set<string>();
    for (let at = from, left = mostSelected; left > 0; at += step, left--) {
      const folder = this.#store.rowAt(at)?.folder;
      if (folder) selected.add(folder.id);
      if (at === index) break;
    }
    this.#selected = selected;
    this.moveTo(index);
  }

  clear(): void {
    this.#focused = null;
    this.#goal = null;
    this.#lastIndex = 0;
    this.select(null);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  #find(): number | null {
    if (this.#focused === null) return null;
    if (typeof this.#focused !== 'string') {
      const { parentId, place } = this.#focused;
      const index = this.#store.indexOfPosition(parentId, place);
      const known = index === null ? undefined : this.#store.rowAt(index)?.folder?.id;
      if (known !== undefined) this.#focused = known;
      return index;
    }
    for (const id of [this.#focused, ...this.#store.ancestorIds(this.#focused)]) {
      const index = this.#store.indexOf(id);
      if (index !== null) return index;
    }
    return null;
  }

  #changed(): void {
    this.#lastIndex = this.#find() ?? this.#lastIndex;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
