/** A random number generator with a seed: mulberry32, https://github.com/bryc/code/blob/master/jshash/PRNGs.md */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Returns undefined only for an empty list. */
  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!;
  }

  shuffle<T>(all: readonly T[]): T[] {
    return all
      .map((each) => ({ each, sortKey: this.next() }))
      .sort((one, other) => one.sortKey - other.sortKey)
      .map(({ each }) => each);
  }

  /** Returns a new generator. Later numbers of this generator do not affect it. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
