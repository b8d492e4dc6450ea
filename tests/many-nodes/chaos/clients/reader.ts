/**
 * Reads at random nodes. Checks that a later read is never older, and that each response shows one consistent
 * state.
 */

import { fromJournalCursor } from '../../../../server/src/journal/journal-entry.ts';
import type { Account, ChaosClient } from './chaos-client.ts';

interface TreeResponse {
  readonly cursor: string;
  readonly folder: {
    readonly folders: { readonly totalCount: number; readonly items: readonly InnerFolder[] };
  };
}
interface InnerFolder {
  readonly name: string;
  readonly folders: { readonly totalCount: number; readonly items: readonly { readonly id: string }[] };
}

const query = '{cursor folder{folders{totalCount items{name folders{totalCount items{id}}}}}}';

export class Reader {
  readonly #client: ChaosClient;
  readonly #account: Account;

  constructor(client: ChaosClient, account: Account) {
    this.#client = client;
    this.#account = account;
  }

  async run(): Promise<void> {
    let lastNumber = 0;
    while (!this.#client.isOver) {
      const { cursor, folder } = await this.#client.query<TreeResponse>(query, {}, this.#account.authToken);
      const { number } = fromJournalCursor(cursor, 'cursor');
      if (number < lastNumber)
        this.#client.reportViolation(`a read returned entry ${number} after entry ${lastNumber}`);
      lastNumber = number;
      for (const { totalCount, items } of [
        folder.folders,
        ...folder.folders.items.map((each) => each.folders),
      ]) {
        if (totalCount !== items.length) {
          this.#client.reportViolation(`totalCount is ${totalCount}, but ${items.length} folders are listed`);
        }
      }
      this.#client.world.tally.count('reads');
      await this.#client.pause();
    }
  }
}
