/**
 * A displayed tree: its state, its loader and its focus. `use-main-tree.ts` passes each change of the live subscription to the
 * loader.
 */

import { client } from '../session/client.ts';
import { createTreeQueries, type TreeQueries } from './state/tree-queries.ts';
import { maxSelected, TreeFocus } from './state/tree-focus.ts';
import { TreeLoader } from './state/tree-loader.ts';
import { TreeStore } from './state/tree-store.ts';

export class Tree {
  readonly store = new TreeStore();
  readonly loader: TreeLoader;
  readonly focus = new TreeFocus(this.store);
  /** The row at the upper edge, and the pixels by which it is scrolled out. Null if the tree is not displayed. */
  top: { readonly id: string; readonly scrolledBy: number } | null = null;

  constructor(reads: TreeQueries = createTreeQueries(client)) {
    this.loader = new TreeLoader(this.store, reads);
  }

  /** Reads the root and the visible rows, again if they were read before, and reveals a folder if it exists. */
  async load(id: string | null): Promise<void> {
    const { root } = this.store;
    if (root) this.store.markSubtreeStale(root.id);
    await this.loader.readRoot();
    if (id !== null) await this.reveal(id);
  }

  /** Expands the ancestors of a folder and focuses it. Returns false if the viewer cannot see the folder. */
  async reveal(id: string): Promise<boolean> {
    try {
      if (!(await this.loader.reveal(id))) return false;
      this.focus.select(id);
      this.focus.moveToFolder(id, this.store.root?.id === id ? 'near' : 'middle');
      return true;
    } catch {
      // The folder's page shows the reason.
      return false;
    }
  }

  /** Selects from the anchor to a row. Rows that are not loaded yet are loaded and selected as well. */
  async extendSelection(index: number): Promise<void> {
    const range = this.focus.extendTo(index);
    const version = this.focus.version();
    await this.loader.loadRows(range);
    if (this.focus.version() === version) this.focus.extendTo(index);
  }

  /** Selects the siblings of the focused row. On the root, it selects the children. */
  async selectSiblings(): Promise<void> {
    const { store, focus } = this;
    const parentId = store.rowAt(focus.index)?.parentId ?? store.root?.id;
    if (parentId === undefined) return;
    const range = { from: 0, to: Math.min(maxSelected, store.level(parentId)?.total ?? 0) };
    const version = focus.version();
    await this.loader.loadChildren(parentId, range);
    const level = store.level(parentId);
    if (!level || focus.version() !== version) return;
    const positions = Array.from({ length: range.to }, (_, position) => position);
    focus.selectAll(positions.flatMap((position) => level.idAt(position) ?? []));
  }

  /** Names of ancestors that are not loaded appear as `…`. */
  pathOf(id: string): string {
    const ids = [id, ...this.store.ancestorIds(id)];
    const names = ids.map((each) => this.store.folder(each)?.name ?? '…');
    return `/${names.slice(0, -1).toReversed().join('/')}`;
  }

  /** Collapses all folders except the root. */
  collapseAll(): void {
    for (const id of [...this.store.expandedIds]) if (id !== this.store.root?.id) this.store.collapse(id);
  }

  clear(): void {
    this.loader.stop();
    this.store.clear();
    this.focus.clear();
    this.top = null;
  }
}

/** The tree next to the current folder. Actions on other screens update it immediately. */
export const mainTree = new Tree();
