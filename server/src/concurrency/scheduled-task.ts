/** A task of the fair scheduler: counts its rows and time, and waits for its user's next turn when a slice is over. */

import { abandoned } from '../refusal.ts';
import type { FairScheduler, Task, TaskOptions } from './fair-scheduler.ts';

export const maxSliceMs = 5;

export class ScheduledTask implements Task {
  readonly #scheduler: FairScheduler;
  readonly #userId: string;
  readonly #signal: TaskOptions['signal'];
  readonly #share: number;
  yields = 0;
  readonly pendingReads = new Set<Promise<unknown>>();
  #rows = 0;
  /** Waits for something else than a turn: this time is not charged. */
  #isPaused = false;
  /** When the measured part of the slice began; undefined while the scheduler measures the first slice. */
  #resumedAt: number | undefined;
  #startedAt: number;

  constructor(scheduler: FairScheduler, userId: string, { signal, charge = 1 }: TaskOptions) {
    this.#scheduler = scheduler;
    this.#userId = userId;
    this.#signal = signal;
    this.#share = charge;
    this.#startedAt = scheduler.now();
  }

  yieldBefore(rows: number): Promise<void> | undefined {
    const { maxRows } = this.#scheduler;
    const isOver =
      this.#rows > 0 &&
      (this.#rows + rows > maxRows || this.#scheduler.now() - this.#startedAt >= maxSliceMs);
    if (!isOver) {
      this.#rows += rows;
      return undefined;
    }
    this.pause();
    this.yields++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#scheduler.enqueueResume(this.#userId, () => {
      if (this.#signal?.aborted) return reject(abandoned());
      this.resume();
      this.#rows = rows;
      resolve();
    });
    return promise;
  }

  addRows(rows: number): void {
    this.#rows += rows;
  }

  resume(): void {
    this.#isPaused = false;
    this.startClock();
    this.#startedAt = this.#resumedAt!;
  }

  /** From now on, the task measures its own time. */
  startClock(): void {
    if (!this.#isPaused) this.#resumedAt = this.#scheduler.now();
  }

  /** Charges the time since the task was resumed. */
  pause(): void {
    this.#isPaused = true;
    if (this.#resumedAt === undefined) return;
    const ms = this.#scheduler.now() - this.#resumedAt;
    this.#resumedAt = undefined;
    this.#scheduler.chargeSlice(this.#userId, ms, this.#share);
  }
}
