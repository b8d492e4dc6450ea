/** Follows the changes over a socket. */

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { SocketClient, type Frame } from '../../live/socket-client.ts';
import { Follower, numberOf, subscription, wholeChange } from './follower.ts';

const acknowledgeWithinMs = 10_000;
const lookEveryMs = 1_000;
/** Whoever is connected is told of a change by then, even if the database was gone in between. */
const tellWithinMs = 12_000;

export class Subscriber extends Follower {
  protected override async stay(until: number, isOver: () => boolean): Promise<void> {
    const { tally, cluster } = this.client.world;
    const url = this.client.random.pick(cluster.urls);
    if (!url) return;
    const client = await connect(url, this.account.authToken);
    if (!client) {
      tally.count('sockets that were not opened');
      return this.client.backOff();
    }
    tally.count('subscriptions');
    const began = performance.now();
    client.start('1', subscription, { after: this.cursor, under: this.under });
    try {
      while (!isOver() && performance.now() < until) {
        const frame = await nextFrame(client, Math.min(until - performance.now(), lookEveryMs));
        if (frame === 'none') {
          if (this.#isKeptWaiting(began)) return;
        } else if (frame === 'closed') {
          const { code, reason } = await client.closed();
          tally.count(`sockets closed with ${code}`);
          if (code !== 1006 && code !== 1013) this.client.violation(`a socket was closed: ${code} ${reason}`);
          return;
        } else if (frame.type !== 'ping') {
          if (!this.#isTold(frame)) return;
          const doneAt = this.client.world.doneAt.get(numberOf(this.cursor));
          if (doneAt) tally.time('telling a change', performance.now() - Math.max(doneAt, began));
        }
      }
    } finally {
      client.socket.terminate();
    }
  }

  /** Whether there is a change that it should have been told of by now. */
  #isKeptWaiting(began: number): boolean {
    if (this.under) return false;
    const number = numberOf(this.cursor);
    const later = [...this.client.world.doneAt].filter(([each, at]) => each > number && at > began);
    const missed = later.length > 0 ? Math.min(...later.map(([, at]) => at)) : undefined;
    if (missed === undefined || performance.now() - missed < tellWithinMs) return false;
    this.client.violation(
      `a subscription is silent, ${Math.round(performance.now() - missed)} ms after a change`,
    );
    return true;
  }

  /** Whether it goes on. Nothing but changes may come: published clients take an `error` for the end. */
  #isTold({ type, payload }: Frame): boolean {
    const change = type === 'next' && wholeChange(payload);
    if (change) this.take(change);
    else this.client.violation(`a subscription got ${type} ${JSON.stringify(payload)}`);
    return Boolean(change);
  }
}

/** Undefined if the node does not take it: it is gone, or cannot say whether the token is good. */
async function connect(url: string, authToken: string): Promise<SocketClient | undefined> {
  const client = await SocketClient.open(url).catch(() => undefined);
  if (!client) return undefined;
  client.init(authToken);
  const frame = await nextFrame(client, acknowledgeWithinMs);
  if (typeof frame !== 'string' && frame.type === 'connection_ack') return client;
  client.socket.terminate();
  return undefined;
}

/** The next frame is taken only if somebody waits for it. */
async function nextFrame(client: SocketClient, withinMs: number): Promise<Frame | 'none' | 'closed'> {
  const { socket } = client;
  const waiting = new AbortController();
  const { signal } = waiting;
  const late = setTimeout(() => waiting.abort(), Math.max(1, withinMs));
  try {
    while (client.unread.length === 0 && socket.readyState !== WebSocket.CLOSED && !signal.aborted) {
      await Promise.race([once(socket, 'message', { signal }), once(socket, 'close', { signal })]).catch(
        () => undefined,
      );
    }
  } finally {
    clearTimeout(late);
    waiting.abort();
  }
  if (client.unread.length > 0) return client.next();
  return socket.readyState === WebSocket.CLOSED ? 'closed' : 'none';
}
