/** A mirror with its stream: it keeps up or is slow, is cut off and comes back, and is told only what it may know. */

import assert from 'node:assert/strict';
import type { PulledStream, StreamSource } from './mirror-bed.ts';
import { Mirror, watchChanges, type Ask, type Change } from './mirror.ts';

/**
 * Prompt: it takes each change before the next thing happens. Slow: it takes some when it is told to, and applies the
 * last of them, with what it has to read for it, when it takes the next.
 */
export type Pace = 'prompt' | 'slow';

export interface WatcherOptions {
  readonly name: string;
  readonly pace: Pace;
  readonly userId: string;
  readonly source: StreamSource;
  readonly ask: Ask;
  /** Told of each change before it is applied; throws if it must not be told. */
  readonly onChange: (change: Change, isBehind: boolean) => void;
}

export class Watcher {
  readonly pace: Pace;
  /** What it has applied. What was on its way when it was cut off is not among it. */
  readonly told: Change[] = [];
  readonly #options: WatcherOptions;
  #mirror: Mirror;
  #stream: PulledStream | undefined;
  #wasCut = false;
  /** The next change is the first after it came back. */
  #isBack = false;
  #resyncs = 0;
  #held: Change | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.pace = options.pace;
    this.#mirror = new Mirror(options.ask);
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  get resyncs(): number {
    return this.#resyncs + this.#mirror.resyncs;
  }

  /** Begins anew, with the whole tree or inside a folder. */
  async open(under?: string): Promise<void> {
    await this.cut();
    this.#resyncs += this.#mirror.resyncs;
    this.#mirror = new Mirror(this.#options.ask, under);
    this.#wasCut = false;
    await this.#mirror.read();
    await this.#subscribe();
  }

  async cut(): Promise<void> {
    await this.#stream?.end();
    this.#stream = undefined;
    this.#held = undefined;
    this.#wasCut = true;
  }

  /** After its last cursor; whoever does not see the folder any more is refused, and may try again later. */
  async comeBack(): Promise<void> {
    if (this.#stream) return;
    this.#isBack = true;
    await this.#subscribe();
  }

  /** Waits until the next change is on its way, or there is none. */
  async begun(): Promise<void> {
    await this.#stream?.begun();
  }

  /** Takes what there is, or at most so many changes. */
  async take(most = Infinity): Promise<void> {
    await this.#applyHeld();
    for (let taken = 0; taken < most; taken++) {
      const change = await this.#stream?.take();
      if (!change) return;
      this.#options.onChange(change, this.pace === 'slow' || this.#wasCut);
      this.#judge(change);
      this.#held = change;
      if (taken + 1 < most) await this.#applyHeld();
    }
  }

  async #applyHeld(): Promise<void> {
    const change = this.#held;
    this.#held = undefined;
    if (!change) return;
    this.told.push(change);
    await this.#mirror.apply(change);
    if (this.pace === 'slow' || this.#wasCut) return;
    assert.equal(this.#mirror.unknown, 0, `${this.name}: ${change.kind} of a folder that it did not have`);
  }

  /** Takes all that there is, and must then have what a fresh read shows. */
  async check(): Promise<void> {
    if (!this.#stream) return;
    await this.take();
    assert.deepEqual(await this.#mirror.differences(), [], this.name);
  }

  get name(): string {
    const { under } = this.#mirror;
    return `${this.#options.name}, ${this.pace}, ${under ? `under ${under}` : 'of the whole tree'}`;
  }

  #judge({ kind }: Change): void {
    const isFine = kind !== 'RESYNC' || this.#isBack || this.pace === 'slow';
    this.#isBack = false;
    assert.ok(isFine, `${this.name}: RESYNC, although it had kept up`);
  }

  async #subscribe(): Promise<void> {
    const { under, cursor: after } = this.#mirror;
    const { source, userId } = this.#options;
    this.#stream = await source.open(userId, watchChanges, { under, after });
  }
}
