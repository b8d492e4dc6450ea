/**
 * Maps rows of the tree to positions in levels and back. The rows of an open folder lie between the rows of its own level.
 * The cost depends on the number of open folders, not rows. Cached counts are recomputed only after a change.
 */

import type { Level } from './level.ts';

interface Layout {
  /** The open folders of the level, in order. */
  readonly ids: readonly string[];
  readonly positions: readonly number[];
  /** For each open folder, the number of rows inside the open folders before it. The last item is the sum. */
  readonly before: readonly number[];
  /** The number of rows in the level, with those of open folders. */
  readonly size: number;
}

interface LayoutSource {
  readonly openIds: ReadonlySet<string>;
  level(id: string): Level | undefined;
  isOpen(id: string): boolean;
}

export class RowLayout {
  readonly #source: LayoutSource;
  readonly #layouts = new Map<string, Layout>();

  constructor(source: LayoutSource) {
    this.#source = source;
  }

  /** Returns the number of rows below a folder's row that belong to the folder. */
  countRowsInside(id: string): number {
    return this.#source.isOpen(id) ? this.#layout(id).size : 0;
  }

  /** Returns the position that lies `below` rows below the row of an open folder. */
  locate(id: string, below: number): { parentId: string; position: number; depth: number } {
    let [parentId, row, depth] = [id, below - 1, 1];
    for (;;) {
      const { ids, positions, before } = this.#layout(parentId);
      const nearest = findFirstIndex(ids.length, (index) => positions[index]! + before[index]! > row) - 1;
      if (nearest < 0) return { parentId, position: row, depth };
      const after = row - positions[nearest]! - before[nearest]!;
      const size = before[nearest + 1]! - before[nearest]!;
      if (after === 0 || after > size)
        return { parentId, position: row - before[nearest + Math.sign(after)]!, depth };
      [parentId, row, depth] = [ids[nearest]!, after - 1, depth + 1];
    }
  }

  /** Returns how many rows below its parent's row a position is. */
  offsetOf(parentId: string, position: number): number {
    const { ids, positions, before } = this.#layout(parentId);
    return 1 + position + before[findFirstIndex(ids.length, (index) => positions[index]! >= position)]!;
  }

  /** Callers must invalidate a changed folder and all its ancestors. */
  invalidate(id: string): void {
    this.#layouts.delete(id);
  }

  #layout(id: string): Layout {
    const cached = this.#layouts.get(id);
    if (cached) return cached;
    const level = this.#source.level(id)!;
    const { openIds } = this.#source;
    const open: { readonly id: string; readonly position: number }[] = [];
    for (const openId of openIds.size < level.loadedCount ? openIds : level.ids) {
      const position = level.positionOf(openId);
      if (position !== undefined && this.#source.isOpen(openId)) open.push({ id: openId, position });
    }
    open.sort((one, other) => one.position - other.position);
    const before = [0];
    for (const folder of open) before.push(before.at(-1)! + this.countRowsInside(folder.id));
    const layout: Layout = {
      ids: open.map((folder) => folder.id),
      positions: open.map((folder) => folder.position),
      before,
      size: level.total + before.at(-1)!,
    };
    this.#layouts.set(id, layout);
    return layout;
  }
}

/** Binary search: returns the first index that matches, or `count`. All indexes after a match must match. */
export function findFirstIndex(count: number, matches: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (matches(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
