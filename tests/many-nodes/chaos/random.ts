/** Chance that can be had again by its seed. https://github.com/bryc/code/blob/master/jshash/PRNGs.md (mulberry32) */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1, which it never is. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Undefined of an empty list only. */
  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!;
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((each) => ({ each, place: this.next() }))
      .sort((one, other) => one.place - other.place)
      .map(({ each }) => each);
  }

  /** Another, whose draws do not depend on how many are made here from now on. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
