/** What is counted during a run, and what must not have happened. */

const mostKept = 40;

export class Tally {
  readonly counts = new Map<string, number>();
  readonly longest = new Map<string, number>();
  readonly #violations: string[] = [];
  #violationCount = 0;
  readonly #began = performance.now();
  readonly #onViolation: (text: string) => void;

  constructor(onViolation: (text: string) => void = () => undefined) {
    this.#onViolation = onViolation;
  }

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  /** Keeps the longest of its name. */
  time(name: string, ms: number): void {
    this.longest.set(name, Math.max(this.longest.get(name) ?? 0, Math.round(ms)));
  }

  violation(text: string): void {
    this.#violationCount++;
    const full = `${this.seconds.toFixed(1)} s: ${text}`;
    if (this.#violations.length < mostKept) this.#violations.push(full);
    this.#onViolation(full);
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /** All of them, or the first and how many more there were. */
  get violations(): readonly string[] {
    const more = this.#violationCount - this.#violations.length;
    return more > 0 ? [...this.#violations, `and ${more} more`] : this.#violations;
  }

  /** One line each, in the order of their names. */
  summary(): string {
    const lines = (all: ReadonlyMap<string, number>, unit: string) =>
      [...all]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, value]) => `${name}: ${value}${unit}`);
    return [...lines(this.counts, ''), ...lines(this.longest, ' ms at most')].join('\n');
  }
}
