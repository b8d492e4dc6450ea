/** Receives changes through a subscription of the client and compares them with the journal. */

import assert from 'node:assert/strict';
import type { Client } from '@espalier/client';
import type { ClientTestbed } from './client-testbed.ts';

export interface Change {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

export const followChanges =
  'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}';

export class ReceivedChanges {
  readonly changes: Change[] = [];
  readonly #testbed: ClientTestbed;
  readonly #startCursor: string;
  readonly #abortController = new AbortController();
  /** The cursors that servers sent when they shut down. */
  readonly shutdownCursors: string[] = [];
  #cursor: string;
  #wake: () => void = () => undefined;
  #endReason: unknown;

  static async follow(testbed: ClientTestbed, client: Client): Promise<ReceivedChanges> {
    const { cursor } = await testbed.query<{ cursor: string }>('{cursor}');
    const received = new ReceivedChanges(testbed, cursor);
    received.#follow(client).then(
      () => received.#end('ended'),
      (error: unknown) => received.#end(error),
    );
    return received;
  }

  private constructor(testbed: ClientTestbed, startCursor: string) {
    this.#testbed = testbed;
    this.#startCursor = this.#cursor = startCursor;
  }

  /** Why the subscription has ended, or undefined if it has not. */
  get endReason(): unknown {
    return this.#endReason;
  }

  stop(): void {
    this.#abortController.abort();
  }

  async waitUntil(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Asserts that all changes of the journal since the start arrived once and in order. */
  async assertMissedNothing(): Promise<void> {
    const query = 'query($after: String){changes(after: $after, first: 1000){items{kind cursor folderId}}}';
    const { changes } = await this.#testbed.query<{ changes: { items: Change[] } }>(query, {
      after: this.#startCursor,
    });
    await this.waitUntil(() => this.changes.length >= changes.items.length || this.#endReason !== undefined);
    assert.deepEqual(this.changes, changes.items);
  }

  async #follow(client: Client): Promise<void> {
    const onGoingAway = (cursor: string) => {
      this.shutdownCursors.push(cursor);
      this.#cursor = cursor;
    };
    const { signal } = this.#abortController;
    const changes = client.subscribe<{ folderChanges: Change }>(
      followChanges,
      () => ({ after: this.#cursor }),
      {
        onGoingAway,
        signal,
      },
    );
    for await (const { folderChanges } of changes) {
      this.changes.push(folderChanges);
      this.#cursor = folderChanges.cursor;
      this.#wake();
    }
  }

  #end(reason: unknown): void {
    this.#endReason = reason;
    this.#wake();
  }
}
