/** Follows changes through a client's subscription, and compares what was told with the journal. */

import assert from 'node:assert/strict';
import type { Client } from '@espalier/client';
import type { ClientBed } from './client-bed.ts';

export interface Change {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

export const followChanges =
  'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}';

export class ToldChanges {
  readonly changes: Change[] = [];
  readonly #bed: ClientBed;
  readonly #start: string;
  readonly #stopping = new AbortController();
  /** Of a server that went away. */
  readonly farewells: string[] = [];
  #cursor: string;
  #wake: () => void = () => undefined;
  #ended: unknown;

  static async follow(bed: ClientBed, client: Client): Promise<ToldChanges> {
    const { cursor } = await bed.query<{ cursor: string }>('{cursor}');
    const told = new ToldChanges(bed, cursor);
    told.#follow(client).then(
      () => told.#end('ended'),
      (error: unknown) => told.#end(error),
    );
    return told;
  }

  private constructor(bed: ClientBed, start: string) {
    this.#bed = bed;
    this.#start = this.#cursor = start;
  }

  /** How it ended, if it has. */
  get ended(): unknown {
    return this.#ended;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** It was told of all that the journal holds since it began, in order, and of nothing twice. */
  async assertMissedNothing(): Promise<void> {
    const query = 'query($after: String){changes(after: $after, first: 1000){items{kind cursor folderId}}}';
    const { changes } = await this.#bed.query<{ changes: { items: Change[] } }>(query, {
      after: this.#start,
    });
    await this.until(() => this.changes.length >= changes.items.length || this.#ended !== undefined);
    assert.deepEqual(this.changes, changes.items);
  }

  async #follow(client: Client): Promise<void> {
    const onGoingAway = (cursor: string) => {
      this.farewells.push(cursor);
      this.#cursor = cursor;
    };
    const { signal } = this.#stopping;
    const told = client.subscribe<{ folderChanges: Change }>(followChanges, () => ({ after: this.#cursor }), {
      onGoingAway,
      signal,
    });
    for await (const { folderChanges } of told) {
      this.changes.push(folderChanges);
      this.#cursor = folderChanges.cursor;
      this.#wake();
    }
  }

  #end(how: unknown): void {
    this.#ended = how;
    this.#wake();
  }
}
