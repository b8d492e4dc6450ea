/** Writes to a folder that several writers share, so that writes conflict. The journal shows the results. */

import { mutation } from '../../../support/graph-testbed.ts';
import type { Account, ChaosClient, Outcome } from './chaos-client.ts';

interface Payload {
  readonly cursor: string;
}

/** The expected refusals if another writer made a conflicting change first. */
const expectedRefusals = ['CONFLICT', 'NOT_FOUND', 'CYCLE'];
const names = ['one', 'two', 'three', 'four', 'five', 'six'];
const minFolders = 3;
const maxFolders = 12;

export class SharedFolderWriter {
  /** Cursors of the acknowledged changes, in order. */
  readonly cursors: string[] = [];
  readonly account: Account;
  readonly #client: ChaosClient;
  readonly #topId: string;

  constructor(client: ChaosClient, account: Account, topId: string) {
    this.#client = client;
    this.account = account;
    this.#topId = topId;
  }

  async run(): Promise<void> {
    const { random } = this.#client;
    while (!this.#client.isOver) {
      const ids = await this.#read();
      const parentIds = [...ids, this.#topId];
      const isFull = ids.length >= maxFolders;
      const isEmpty = ids.length < minFolders;
      const [id, parentId, name] = [random.pick(ids), random.pick(parentIds), random.pick(names)];
      const draw = isEmpty ? 0 : random.between(isFull ? 3 : 0, 9);
      if (draw < 3) await this.#send('createFolder', { parentId, name });
      else if (draw < 6) await this.#send('moveFolder', { id, parentId });
      else if (draw < 8) await this.#send('updateFolder', { id, name });
      else await this.#send('deleteFolder', { id, recursive: true });
      await this.#client.pause();
    }
  }

  async #send(name: string, input: Record<string, unknown>): Promise<void> {
    const { authToken } = this.account;
    const outcome: Outcome<Record<string, Payload>> = await this.#client.graph(
      mutation(name, 'cursor'),
      { input },
      { authToken },
    );
    if (outcome.kind === 'done') this.cursors.push(outcome.value[name]!.cursor);
    else if (outcome.kind === 'refused' && !expectedRefusals.includes(outcome.code)) {
      this.#client.reportViolation(`${name} was refused: ${outcome.code} ${outcome.message}`);
    }
  }

  async #read(): Promise<string[]> {
    const { folder } = await this.#client.query<{ folder: { descendants: { items: { id: string }[] } } }>(
      'query($id: ID!){folder(id: $id){descendants{items{id}}}}',
      { id: this.#topId },
      this.account.authToken,
    );
    return folder.descendants.items.map(({ id }) => id);
  }
}
