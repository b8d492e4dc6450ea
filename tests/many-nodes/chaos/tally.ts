/** Counts, times and violations of a run. */

const maxViolations = 40;

export class Tally {
  readonly counts = new Map<string, number>();
  readonly #times = new Map<string, number[]>();
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

  time(name: string, ms: number): void {
    const times = this.#times.get(name);
    if (times) times.push(ms);
    else this.#times.set(name, [ms]);
  }

  /** Times in milliseconds, ascending. */
  timesOf(name: string): readonly number[] {
    return (this.#times.get(name) ?? []).toSorted((one, other) => one - other);
  }

  lastTime(name: string): string {
    return this.#times.get(name)?.at(-1)?.toFixed(0) ?? '';
  }

  reportViolation(text: string): void {
    this.#violationCount++;
    const full = `${this.seconds.toFixed(1)} s: ${text}`;
    if (this.#violations.length < maxViolations) this.#violations.push(full);
    this.#onViolation(full);
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /** All violations, or the first ones and the number of further ones. */
  get violations(): readonly string[] {
    const more = this.#violationCount - this.#violations.length;
    return more > 0 ? [...this.#violations, `and ${more} more`] : this.#violations;
  }

  /** One line per name, sorted by name. */
  summary(): string {
    const inOrder = <T>(all: ReadonlyMap<string, T>) =>
      [...all].sort(([one], [other]) => (one < other ? -1 : 1));
    return [
      ...inOrder(this.counts).map(([name, count]) => `${name}: ${count}`),
      ...inOrder(this.#times).map(([name]) => `${name}: ${this.#spread(name)}`),
    ].join('\n');
  }

  #spread(name: string): string {
    const times = this.timesOf(name);
    const [min, median, max] = [0, times.length >> 1, times.length - 1].map((index) => times[index]!);
    return `${min!.toFixed(0)} to ${max!.toFixed(0)} ms, median ${median!.toFixed(0)} ms`;
  }
}
