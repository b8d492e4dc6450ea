/**
 * The children of one folder, as far as they are loaded: their number, and the ids of some by position. Memory grows with
 * the loaded part, not with the size of the level.
 */

/** Above this number of ids, `putRange` drops those far from the range that it stores. */
const maxCachedIds = 10_000;

export interface IndexRange {
  /** The first index. */
  readonly from: number;
  /** The index after the last. */
  readonly to: number;
}

export class Level {
  total: number;
  /** The level has changed on the server, so its visible rows must be read again. */
  isStale = false;
  readonly #ids = new Map<number, string>();
  readonly #positions = new Map<string, number>();

  constructor(total: number) {
    this.total = total;
  }

  get isComplete(): boolean {
    return !this.isStale && this.#ids.size === this.total;
  }

  /** An empty level has no visible row that would cause a new read, so the loader checks for this. */
  get isEmptyAndStale(): boolean {
    return this.isStale && this.total === 0;
  }

  get loadedCount(): number {
    return this.#ids.size;
  }

  get ids(): Iterable<string> {
    return this.#positions.keys();
  }

  idAt(position: number): string | undefined {
    return this.#ids.get(position);
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** Returns the smallest range that covers all unloaded positions in a range, or null if all are loaded. */
  findMissing({ from, to }: IndexRange): IndexRange | null {
    let [first, last] = [-1, -1];
    for (let position = Math.max(0, from); position < Math.min(to, this.total); position++) {
      if (this.#ids.has(position)) continue;
      if (first < 0) first = position;
      last = position;
    }
    return first < 0 ? null : { from: first, to: last + 1 };
  }

  /**
   * Stores a range read from the server, which may extend past the end. If it contradicts the loaded ids, all other ids
   * are dropped except those that `mustKeep` accepts. Returns the ids that are no longer in the level.
   */
  putRange(
    { from, to }: IndexRange,
    ids: readonly string[],
    total: number,
    mustKeep: (id: string) => boolean,
  ) {
    const isContradictory =
      this.isStale ||
      total !== this.total ||
      ids.some((id, index) => (this.#positions.get(id) ?? from + index) !== from + index);
    this.total = total;
    this.isStale = false;
    const readIds = new Set(ids);
    const removed: string[] = [];
    const isFull = this.#ids.size > maxCachedIds;
    for (const [position, id] of this.#ids) {
      const isInRange = position >= from && position < to;
      if (!isInRange && !readIds.has(id) && position < total) {
        if (mustKeep(id)) continue;
        if (!isContradictory && !(isFull && Math.abs(position - from) > maxCachedIds / 4)) continue;
      }
      this.#ids.delete(position);
      this.#positions.delete(id);
      if (!readIds.has(id)) removed.push(id);
    }
    ids.forEach((id, index) => this.#set(from + index, id));
    return removed;
  }

  /** Stores the position of one folder in a level of `total` folders. */
  putAt(id: string, position: number, total: number): void {
    const oldPosition = this.#positions.get(id);
    const displacedId = this.#ids.get(position);
    if (oldPosition === position && total === this.total) return;
    if (
      this.#ids.size > 0 &&
      (total !== this.total || oldPosition !== undefined || displacedId !== undefined)
    ) {
      this.isStale = true;
    }
    if (oldPosition !== undefined) this.#ids.delete(oldPosition);
    if (displacedId !== undefined) this.#positions.delete(displacedId);
    this.total = Math.max(total, position + 1);
    this.#set(position, id);
  }

  /** Shifts the later folders down by one position. */
  insert(position: number, id: string): void {
    this.#shift(position, 1);
    this.#set(position, id);
    this.total += 1;
  }

  /** Shifts the later folders up by one position. Returns the former position. */
  remove(id: string): number | undefined {
    const position = this.#positions.get(id);
    if (position === undefined) return undefined;
    this.#positions.delete(id);
    this.#ids.delete(position);
    this.#shift(position + 1, -1);
    this.total -= 1;
    return position;
  }

  #shift(from: number, by: number): void {
    const moved = [...this.#ids].filter(([position]) => position >= from);
    for (const [position] of moved) this.#ids.delete(position);
    for (const [position, id] of moved) this.#set(position + by, id);
  }

  #set(position: number, id: string): void {
    this.#ids.set(position, id);
    this.#positions.set(id, position);
  }
}
