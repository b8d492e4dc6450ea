/** A tree that is shown: what is known of it, what reads it, and where the focus is. */

import { client } from '../session/client.ts';
import { createTreeQueries, type TreeQueries } from './state/tree-queries.ts';
import { TreeFocus } from './state/tree-focus.ts';
import { TreeLoader } from './state/tree-loader.ts';
import { TreeStore } from './state/tree-store.ts';

export class Tree {
  readonly store = new TreeStore();
  readonly loader: TreeLoader;
  readonly focus = new TreeFocus(this.store);
  /** The row at the upper edge, and how far it is scrolled past, as long as it is on the screen. */
  top: { readonly id: string; readonly past: number } | null = null;

  constructor(reads: TreeQueries = createTreeQueries(client)) {
    this.loader = new TreeLoader(this.store, reads);
  }

  /** Reads what is shown, anew if it was read before, and opens the way to a folder, if it is there. */
  async begin(id: string | null): Promise<void> {
    const { root } = this.store;
    if (root) this.store.markSubtreeStale(root.id);
    await this.loader.readRoot();
    if (id !== null) await this.reveal(id);
  }

  /** Opens the way to a folder and puts the focus on it; false if it is not there, or not to be seen. */
  async reveal(id: string): Promise<boolean> {
    try {
      if (!(await this.loader.reveal(id))) return false;
      this.focus.select(id);
      this.focus.moveToFolder(id, this.store.root?.id === id ? 'near' : 'middle');
      return true;
    } catch {
      // Whoever shows the folder itself tells why.
      return false;
    }
  }

  /** As far as the way is known. */
  pathOf(id: string): string {
    const names = [id, ...this.store.ancestorIds(id)].map((one) => this.store.folder(one)?.name ?? '…');
    return `/${names.slice(0, -1).toReversed().join('/')}`;
  }

  /** Whether a folder is this one, or inside it. */
  isInside(id: string, above: string): boolean {
    return id === above || this.store.ancestorIds(id).includes(above);
  }

  /** All but the root. */
  closeAll(): void {
    for (const id of [...this.store.openIds]) if (id !== this.store.root?.id) this.store.close(id);
  }

  clear(): void {
    this.loader.stop();
    this.store.clear();
    this.focus.clear();
    this.top = null;
  }
}

/** The one beside the open folder: what people do on other screens shows in it at once. */
export const shownTree = new Tree();
