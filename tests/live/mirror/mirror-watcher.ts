/**
 * A mirror with its stream. It can be slow, disconnect and reconnect. A callback checks whether it may
 * receive each change.
 */

import assert from 'node:assert/strict';
import type { PulledStream, RightsOf, StreamSource } from './mirror-testbed.ts';
import { Mirror, watchChanges, type RunQuery, type Change } from './mirror.ts';

/**
 * A prompt watcher takes each change before the next operation. A slow watcher takes changes only on request.
 * It applies a change, and makes the reads for it, only when it takes the next one.
 */
export type Pace = 'prompt' | 'slow';

export interface WatcherOptions {
  readonly name: string;
  readonly pace: Pace;
  readonly rights: () => RightsOf;
  readonly source: StreamSource;
  readonly runQuery: RunQuery;
  /** Called for each change before it is applied. Throws if the person must not receive it. */
  readonly onChange: (change: Change, isBehind: boolean) => void;
}

export class Watcher {
  readonly pace: Pace;
  /** The applied changes. A change that is pending at a disconnect is not included. */
  readonly received: Change[] = [];
  readonly #options: WatcherOptions;
  #mirror: Mirror;
  #stream: PulledStream | undefined;
  #wasDisconnected = false;
  /** Whether the next change is the first after a reconnect. */
  #hasReconnected = false;
  #resyncs = 0;
  #pending: Change | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.pace = options.pace;
    this.#mirror = new Mirror(options.runQuery);
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  get resyncs(): number {
    return this.#resyncs + this.#mirror.resyncs;
  }

  /** Starts a new mirror, of the whole tree or of one folder. */
  async open(under?: string): Promise<void> {
    await this.disconnect();
    this.#resyncs += this.#mirror.resyncs;
    this.#mirror = new Mirror(this.#options.runQuery, under);
    this.#wasDisconnected = false;
    await this.#mirror.read();
    await this.#subscribe();
  }

  async disconnect(): Promise<void> {
    await this.#stream?.end();
    this.#stream = undefined;
    this.#pending = undefined;
    this.#wasDisconnected = true;
  }

  /** Reconnects after its last cursor. The server refuses this while the person does not see the folder. */
  async reconnect(): Promise<void> {
    if (this.#stream) return;
    this.#hasReconnected = true;
    await this.#subscribe();
  }

  /** Waits until the next change is available or the source is idle. */
  async waitUntilReady(): Promise<void> {
    await this.#stream?.waitUntilReady();
  }

  /** Takes all pending changes, up to `max`. */
  async take(max = Infinity): Promise<void> {
    await this.#applyPending();
    for (let count = 0; count < max; count++) {
      const change = await this.#stream?.take();
      if (!change) return;
      this.#options.onChange(change, this.pace === 'slow' || this.#wasDisconnected);
      this.#checkResync(change);
      this.#pending = change;
      if (count + 1 < max) await this.#applyPending();
    }
  }

  async #applyPending(): Promise<void> {
    const change = this.#pending;
    this.#pending = undefined;
    if (!change) return;
    this.received.push(change);
    await this.#mirror.apply(change);
    if (this.pace === 'slow' || this.#wasDisconnected) return;
    assert.equal(
      this.#mirror.unknownChanges,
      0,
      `${this.name}: ${change.kind} of a folder that it did not have`,
    );
  }

  /** Takes all pending changes and asserts that the mirror equals a fresh read. */
  async check(): Promise<void> {
    if (!this.#stream) return;
    await this.take();
    assert.deepEqual(await this.#mirror.differences(), [], this.name);
  }

  get name(): string {
    const { under } = this.#mirror;
    return `${this.#options.name}, ${this.pace}, ${under ? `under ${under}` : 'of the whole tree'}`;
  }

  #checkResync({ kind }: Change): void {
    const isAllowed = kind !== 'RESYNC' || this.#hasReconnected || this.pace === 'slow';
    this.#hasReconnected = false;
    assert.ok(isAllowed, `${this.name}: received a RESYNC, although it was not behind`);
  }

  async #subscribe(): Promise<void> {
    const { under, cursor: after } = this.#mirror;
    const { source, rights } = this.#options;
    this.#stream = await source.open(rights(), watchChanges, { under, after });
  }
}
