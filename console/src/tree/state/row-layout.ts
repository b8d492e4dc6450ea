/**
 * Which row of the tree is which place of which level: levels inside open folders lie between the rows of the level
 * above. Counts only open folders, never rows, and counts again only where something has changed.
 */

import type { Level } from './level.ts';

interface Layout {
  /** The open folders of a level, in order. */
  readonly ids: readonly string[];
  readonly places: readonly number[];
  /** The rows inside those before each; at last, inside all of them. */
  readonly before: readonly number[];
  /** All rows inside. */
  readonly size: number;
}

export interface LayoutSource {
  readonly opened: ReadonlySet<string>;
  level(id: string): Level | undefined;
  isOpen(id: string): boolean;
}

export class RowLayout {
  readonly #source: LayoutSource;
  readonly #layouts = new Map<string, Layout>();

  constructor(source: LayoutSource) {
    this.#source = source;
  }

  /** The rows below that of a folder which belong to it. */
  countRowsInside(id: string): number {
    return this.#source.isOpen(id) ? this.#layout(id).size : 0;
  }

  /** What is so many rows below the row of an open folder. */
  locate(id: string, below: number): { parentId: string; place: number; levels: number } {
    let [parentId, row, levels] = [id, below - 1, 1];
    for (;;) {
      const { ids, places, before } = this.#layout(parentId);
      const nearest = findFirstIndex(ids.length, (at) => places[at]! + before[at]! > row) - 1;
      if (nearest < 0) return { parentId, place: row, levels };
      const after = row - places[nearest]! - before[nearest]!;
      const size = before[nearest + 1]! - before[nearest]!;
      if (after === 0 || after > size)
        return { parentId, place: row - before[nearest + Math.sign(after)]!, levels };
      [parentId, row, levels] = [ids[nearest]!, after - 1, levels + 1];
    }
  }

  /** How many rows below that of its parent a place is. */
  countRowsAbove(parentId: string, place: number): number {
    const { ids, places, before } = this.#layout(parentId);
    return 1 + place + before[findFirstIndex(ids.length, (at) => places[at]! >= place)]!;
  }

  /** To be told of a folder, and of all above it, when something of it has changed. */
  invalidate(id: string): void {
    this.#layouts.delete(id);
  }

  #layout(id: string): Layout {
    const known = this.#layouts.get(id);
    if (known) return known;
    const level = this.#source.level(id)!;
    const { opened } = this.#source;
    const open: { readonly id: string; readonly place: number }[] = [];
    for (const one of opened.size < level.loadedCount ? opened : level.ids) {
      const place = level.positionOf(one);
      if (place !== undefined && this.#source.isOpen(one)) open.push({ id: one, place });
    }
    open.sort((one, other) => one.place - other.place);
    const before = [0];
    for (const one of open) before.push(before.at(-1)! + this.countRowsInside(one.id));
    const layout: Layout = {
      ids: open.map((one) => one.id),
      places: open.map((one) => one.place),
      before,
      size: level.total + before.at(-1)!,
    };
    this.#layouts.set(id, layout);
    return layout;
  }
}

/** The first that is so, where all after it are so too; `count` if none is. */
export function findFirstIndex(count: number, isSo: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
