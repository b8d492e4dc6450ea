/**
 * What is inside one folder, as far as it is known: how many folders there are, and the ids of some by their place. A
 * level of 100,000 costs what was read of it.
 */

/** So many ids are kept of a level; more are forgotten where nobody looks. */
const maxCachedIds = 10_000;

export interface IndexRange {
  /** The first place. */
  readonly from: number;
  /** The place after the last. */
  readonly to: number;
}

export class Level {
  total: number;
  /** Something in it has changed that is not known here: what is shown of it is to be read again. */
  isStale = false;
  readonly #ids = new Map<number, string>();
  readonly #places = new Map<string, number>();

  constructor(total: number) {
    this.total = total;
  }

  /** Whether all of it is known. */
  get isComplete(): boolean {
    return !this.isStale && this.#ids.size === this.total;
  }

  /** Whether it has no rows by which it would be seen that it is stale. */
  get isEmptyAndStale(): boolean {
    return this.isStale && this.total === 0;
  }

  /** How much of it is known. */
  get loadedCount(): number {
    return this.#ids.size;
  }

  get ids(): Iterable<string> {
    return this.#places.keys();
  }

  idAt(place: number): string | undefined {
    return this.#ids.get(place);
  }

  positionOf(id: string): number | undefined {
    return this.#places.get(id);
  }

  /** The part of a stretch that is not known; null if there is none. */
  findMissing({ from, to }: IndexRange): IndexRange | null {
    let [first, last] = [-1, -1];
    for (let place = Math.max(0, from); place < Math.min(to, this.total); place++) {
      if (this.#ids.has(place)) continue;
      if (first < 0) first = place;
      last = place;
    }
    return first < 0 ? null : { from: first, to: last + 1 };
  }

  /**
   * Takes what was read of a stretch, which may reach beyond the end. If that does not go with what is known, only what
   * must be kept stays of it. Answers with what is not there any more: of what must be kept, it is to be asked where it is.
   */
  putRange(
    { from, to }: IndexRange,
    ids: readonly string[],
    total: number,
    mustKeep: (id: string) => boolean,
  ) {
    const isOther =
      this.isStale ||
      total !== this.total ||
      ids.some((id, at) => (this.#places.get(id) ?? from + at) !== from + at);
    this.total = total;
    this.isStale = false;
    const read = new Set(ids);
    const gone: string[] = [];
    const isFull = this.#ids.size > maxCachedIds;
    for (const [place, id] of this.#ids) {
      const isInside = place >= from && place < to;
      if (!isInside && !read.has(id) && place < total) {
        if (mustKeep(id)) continue;
        if (!isOther && !(isFull && Math.abs(place - from) > maxCachedIds / 4)) continue;
      }
      this.#ids.delete(place);
      this.#places.delete(id);
      if (!read.has(id)) gone.push(id);
    }
    ids.forEach((id, at) => this.#set(from + at, id));
    return gone;
  }

  /** Puts one at the place that it is known to have, as one of `total`. */
  putAt(id: string, putAt: number, total: number): void {
    const before = this.#places.get(id);
    const other = this.#ids.get(putAt);
    if (before === putAt && total === this.total) return;
    if (this.#ids.size > 0 && (total !== this.total || before !== undefined || other !== undefined)) {
      this.isStale = true;
    }
    if (before !== undefined) this.#ids.delete(before);
    if (other !== undefined) this.#places.delete(other);
    this.total = Math.max(total, putAt + 1);
    this.#set(putAt, id);
  }

  /** What comes after it moves on by one place. */
  insert(place: number, id: string): void {
    this.#shift(place, 1);
    this.#set(place, id);
    this.total += 1;
  }

  /** What comes after it moves up; answers with where it was. */
  remove(id: string): number | undefined {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    this.#places.delete(id);
    this.#ids.delete(place);
    this.#shift(place + 1, -1);
    this.total -= 1;
    return place;
  }

  #shift(from: number, by: number): void {
    const moved = [...this.#ids].filter(([place]) => place >= from);
    for (const [place] of moved) this.#ids.delete(place);
    for (const [place, id] of moved) this.#set(place + by, id);
  }

  #set(place: number, id: string): void {
    this.#ids.set(place, id);
    this.#places.set(id, place);
  }
}
