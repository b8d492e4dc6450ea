/** Counts how much of a limited resource is in use, in total and by user. */

export class UsageByUser {
  readonly #byUser = new Map<string, number>();
  readonly #onRelease: () => void;
  total = 0;

  constructor(onRelease: () => void = () => undefined) {
    this.#onRelease = onRelease;
  }

  of(userId: string): number {
    return this.#byUser.get(userId) ?? 0;
  }

  /** Returns a function that releases the amount. */
  take(userId: string, amount: number): () => void {
    this.add(userId, amount);
    return () => this.add(userId, -amount);
  }

  add(userId: string, amount: number): void {
    const usage = this.of(userId) + amount;
    this.total += amount;
    if (usage > 0) this.#byUser.set(userId, usage);
    else this.#byUser.delete(userId);
    if (amount < 0) this.#onRelease();
  }
}
