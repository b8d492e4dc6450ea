/**
 * Clients that continuously change a tree over HTTP, each in its own folder, and record the cursors of acknowledged
 * changes.
 */

import type { Variables } from '../support/graph-testbed.ts';
import type { TreeTestbed } from '../tree/tree-testbed.ts';

interface MutationResult {
  readonly cursor: string;
  readonly folder?: { readonly id: string };
}

export class Writers {
  readonly #tree: TreeTestbed;
  /** Cursors in the order of the responses. */
  readonly #acknowledgedCursors: string[] = [];
  #waiter: { readonly count: number; readonly notify: () => void } | undefined;
  #isOver = false;
  #runs: Promise<void>[] = [];

  constructor(tree: TreeTestbed) {
    this.#tree = tree;
  }

  async begin(count: number): Promise<void> {
    const person = await this.#tree.person({});
    this.#runs = Array.from({ length: count }, (_, index) => this.#write(index, person.id));
    await this.waitForChanges(1);
  }

  /** Waits for `more` further changes. Returns the cursors of all acknowledged changes. */
  async waitForChanges(additionalCount: number): Promise<readonly string[]> {
    const count = this.#acknowledgedCursors.length + additionalCount;
    await Promise.race([
      new Promise<void>((notify) => (this.#waiter = { count, notify })),
      // A failed writer ends the wait.
      Promise.all(this.#runs),
    ]);
    return [...this.#acknowledgedCursors];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#runs);
  }

  async #write(index: number, userId: string): Promise<void> {
    const ownFolderId = await this.#create(`Writer ${index}`);
    for (let round = 0; !this.#isOver; round++) {
      const parentId = await this.#create(`Round ${round}`, ownFolderId);
      const id = await this.#create('inside', parentId);
      await this.#mutate('updateFolder', { id, name: `renamed ${round}`, title: `Größe ${round}` });
      await this.#mutate('moveFolder', { id, parentId: ownFolderId });
      await this.#mutate('grantAccess', { folderId: id, userId, level: round % 2 === 0 ? 'READ' : 'WRITE' });
      await this.#mutate('deleteFolder', { id: parentId, recursive: true });
      if (round % 2 === 0) await this.#mutate('restoreFolder', { id: parentId });
    }
  }

  async #create(name: string, parentId?: string): Promise<string> {
    return (await this.#mutate('createFolder', { name, parentId }, 'cursor folder{id}')).folder!.id;
  }

  async #mutate(name: string, input: Variables, selection = 'cursor'): Promise<MutationResult> {
    const result = await this.#tree.mutate<MutationResult>(name, input, selection);
    this.#acknowledgedCursors.push(result.cursor);
    if (this.#waiter && this.#acknowledgedCursors.length >= this.#waiter.count) this.#waiter.notify();
    return result;
  }
}
