/** Follows the changes page by page, without a persistent connection. */

import { Follower, type ReceivedChange } from './follower.ts';

const pageQuery = `query($after: String, $under: ID){
  changes(after: $after, under: $under, first: 40){items{kind cursor folderId} cursor hasMore}}`;
const pauseMs = 200;

export class Poller extends Follower {
  protected override async followOneNode(until: number, isOver: () => boolean): Promise<void> {
    while (!isOver() && performance.now() < until) {
      await this.#readPage();
      await this.client.pause(pauseMs);
    }
  }

  async #readPage(): Promise<void> {
    const { changes } = await this.client.query<{
      changes: { items: readonly ReceivedChange[]; cursor: string; hasMore: boolean };
    }>(pageQuery, { after: this.cursor, under: this.under }, this.account.authToken);
    changes.items.forEach((change) => this.recordChange(change));
    this.cursor = changes.cursor;
  }
}
