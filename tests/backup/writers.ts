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
  readonly #acknowledged: string[] = [];
  #waiting: { readonly count: number; readonly notify: () => void } | undefined;
  #isOver = false;
  #running: Promise<void>[] = [];

  constructor(tree: TreeTestbed) {
    this.#tree = tree;
  }

  async begin(count: number): Promise<void> {
    const person = await this.#tree.person({});
    this.#running = Array.from({ length: count }, (_, index) => this.#write(index, person.id));
    await this.reach(1);
  }

  /** Waits for `more` further changes. Returns the cursors of all acknowledged changes. */
  async reach(more: number): Promise<readonly string[]> {
    const count = this.#acknowledged.length + more;
    await Promise.race([
      new Promise<void>((notify) => (this.#waiting = { count, notify })),
      // A failed writer ends the wait.
      Promise.all(this.#running),
    ]);
    return [...this.#acknowledged];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #write(index: number, userId: string): Promise<void> {
    const own = await this.#create(`Writer ${index}`);
    for (let round = 0; !this.#isOver; round++) {
      const parentId = await this.#create(`Round ${round}`, own);
      const id = await this.#create('inside', parentId);
      await this.#do('updateFolder', { id, name: `renamed ${round}`, title: `Größe ${round}` });
      await this.#do('moveFolder', { id, parentId: own });
      await this.#do('grantAccess', { folderId: id, userId, level: round % 2 === 0 ? 'READ' : 'WRITE' });
      await this.#do('deleteFolder', { id: parentId, recursive: true });
      if (round % 2 === 0) await this.#do('restoreFolder', { id: parentId });
    }
  }

  async #create(name: string, parentId?: string): Promise<string> {
    return (await this.#do('createFolder', { name, parentId }, 'cursor folder{id}')).folder!.id;
  }

  async #do(name: string, input: Variables, selection = 'cursor'): Promise<MutationResult> {
    const done = await this.#tree.mutate<MutationResult>(name, input, selection);
    this.#acknowledged.push(done.cursor);
    if (this.#waiting && this.#acknowledged.length >= this.#waiting.count) this.#waiting.notify();
    return done;
  }
}
