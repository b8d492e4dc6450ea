/** Follows the changes over server-sent events. */

import { EventClient } from '../../../live/event-client.ts';
import { Follower, subscription, changeWithoutErrors } from './follower.ts';

export class EventFollower extends Follower {
  protected override async followOneNode(until: number, isOver: () => boolean): Promise<void> {
    const { tally, cluster } = this.client.world;
    const url = this.client.random.pick(cluster.urls);
    if (!url) return;
    const variables = { after: this.cursor, under: this.under };
    const headers = { authorization: `Bearer ${this.account.authToken}` };
    const events = await EventClient.open(url, { query: subscription, variables }, headers).catch(
      () => undefined,
    );
    const isOpen = events?.response.status === 200;
    tally.count(isOpen ? 'event streams' : 'event streams that were not opened');
    const timeout = setTimeout(() => events?.disconnect(), Math.max(1, until - performance.now()));
    try {
      while (isOpen && !isOver()) {
        const event = await events.next();
        // The connection was lost.
        if (!event) return;
        const change = event.event === 'next' && changeWithoutErrors(event.data);
        if (!change) return this.client.reportViolation(`an event stream received ${JSON.stringify(event)}`);
        this.recordChange(change);
      }
    } catch {
      // The connection was lost or closed.
    } finally {
      clearTimeout(timeout);
      events?.disconnect();
    }
  }
}
