/** Writers that change a tree over HTTP all the time, each in its own folder, and keep the cursors of what was acknowledged. */

import type { Variables } from '../support/graph-testbed.ts';
import type { TreeTestbed } from '../tree/tree-testbed.ts';

interface Done {
  readonly cursor: string;
  readonly folder?: { readonly id: string };
}

export class Writers {
  readonly #tree: TreeTestbed;
  /** In the order of their answers. */
  readonly #acknowledged: string[] = [];
  #waiting: { readonly count: number; readonly tell: () => void } | undefined;
  #isOver = false;
  #running: Promise<void>[] = [];

  constructor(tree: TreeTestbed) {
    this.#tree = tree;
  }

  async begin(count: number): Promise<void> {
    const person = await this.#tree.person({});
    this.#running = Array.from({ length: count }, (_, place) => this.#write(place, person.id));
    await this.reach(1);
  }

  /** So many more changes; answers with the cursors of all that are acknowledged by then. */
  async reach(more: number): Promise<readonly string[]> {
    const count = this.#acknowledged.length + more;
    await Promise.race([
      new Promise<void>((tell) => (this.#waiting = { count, tell })),
      // Who fails does not keep anybody waiting.
      Promise.all(this.#running),
    ]);
    return [...this.#acknowledged];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #write(place: number, userId: string): Promise<void> {
    const own = await this.#create(`Writer ${place}`);
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

  async #do(name: string, input: Variables, selection = 'cursor'): Promise<Done> {
    const done = await this.#tree.mutate<Done>(name, input, selection);
    this.#acknowledged.push(done.cursor);
    if (this.#waiting && this.#acknowledged.length >= this.#waiting.count) this.#waiting.tell();
    return done;
  }
}
