/**
 * Maps the rows of the tree to positions in levels, and back. A level is the children of one folder. The rows inside an expanded
 * folder follow its row, before the row of its next sibling. The time of a lookup depends on the number of expanded folders, not
 * on the number of rows.
 */

import type { Level } from './level.ts';

interface Layout {
  /** The expanded folders of the level, in order. */
  readonly ids: readonly string[];
  readonly positions: readonly number[];
  /** For each expanded folder, the number of rows inside the expanded folders before it. The last item is the sum. */
  readonly rowsInsideBefore: readonly number[];
  /** The number of rows in the level, with the rows inside expanded folders. */
  readonly size: number;
}

interface LayoutSource {
  readonly expandedIds: ReadonlySet<string>;
  level(id: string): Level | undefined;
  isExpanded(id: string): boolean;
}

export class RowLayout {
  readonly #source: LayoutSource;
  /** The counts are recomputed only after a change. */
  readonly #layouts = new Map<string, Layout>();

  constructor(source: LayoutSource) {
    this.#source = source;
  }

  /** Returns the number of rows below a folder's row that belong to the folder. */
  countRowsInside(id: string): number {
    return this.#source.isExpanded(id) ? this.#layout(id).size : 0;
  }

  /** Returns the position that lies `below` rows below the row of an expanded folder. */
  locate(id: string, below: number): { parentId: string; position: number; depth: number } {
    let [parentId, row, depth] = [id, below - 1, 1];
    for (;;) {
      const { ids, positions, rowsInsideBefore } = this.#layout(parentId);
      const rowOf = (index: number) => positions[index]! + rowsInsideBefore[index]!;
      // The last expanded folder of the level at this row or above it.
      const nearest = findFirstIndex(ids.length, (index) => rowOf(index) > row) - 1;
      if (nearest < 0) return { parentId, position: row, depth };
      const after = row - rowOf(nearest);
      // The row is the expanded folder itself.
      if (after === 0) return { parentId, position: positions[nearest]!, depth };
      const rowsBefore = rowsInsideBefore[nearest + 1]!;
      const rowsInside = rowsBefore - rowsInsideBefore[nearest]!;
      // The row belongs to a later sibling of the expanded folder, after the rows inside it.
      if (after > rowsInside) return { parentId, position: row - rowsBefore, depth };
      [parentId, row, depth] = [ids[nearest]!, after - 1, depth + 1];
    }
  }

  /** Returns how many rows below its parent's row a position is. */
  offsetOf(parentId: string, position: number): number {
    const { ids, positions, rowsInsideBefore } = this.#layout(parentId);
    return (
      1 + position + rowsInsideBefore[findFirstIndex(ids.length, (index) => positions[index]! >= position)]!
    );
  }

  /** Callers must invalidate a changed folder and all its ancestors. */
  invalidate(id: string): void {
    this.#layouts.delete(id);
  }

  #layout(id: string): Layout {
    const cached = this.#layouts.get(id);
    if (cached) return cached;
    const level = this.#source.level(id)!;
    const { expandedIds } = this.#source;
    const expanded: { readonly id: string; readonly position: number }[] = [];
    for (const expandedId of expandedIds.size < level.loadedCount ? expandedIds : level.ids) {
      const position = level.positionOf(expandedId);
      if (position !== undefined && this.#source.isExpanded(expandedId))
        expanded.push({ id: expandedId, position });
    }
    expanded.sort((one, other) => one.position - other.position);
    const rowsInsideBefore = [0];
    for (const folder of expanded) {
      rowsInsideBefore.push(rowsInsideBefore.at(-1)! + this.countRowsInside(folder.id));
    }
    const layout: Layout = {
      ids: expanded.map((folder) => folder.id),
      positions: expanded.map((folder) => folder.position),
      rowsInsideBefore,
      size: level.total + rowsInsideBefore.at(-1)!,
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
