/** Follows the changes over a socket. */

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { SocketClient, type Frame } from '../../../live/socket-client.ts';
import { Follower, numberOf, subscription, changeWithoutErrors } from './follower.ts';

const acknowledgeTimeoutMs = 10_000;
const pollIntervalMs = 1_000;
/** After this delay of an acknowledged change, the subscription is compared with a new one at the same node. */
const maxDelayMs = 12_000;
/**
 * How long a node may take to send the change to one of the two subscriptions. A busy machine can delay it
 * for half a minute.
 */
const compareTimeoutMs = 60_000;
/**
 * The share of subscriptions that stay open until they have received every change. The others can end at any
 * moment.
 */
const completeShare = 0.5;

interface OpenSocket {
  readonly client: SocketClient;
  readonly url: string;
  /** When the socket was opened. */
  readonly openedAt: number;
}

export class Subscriber extends Follower {
  protected override async followOneNode(until: number, isOver: () => boolean): Promise<void> {
    const { tally, cluster } = this.client.world;
    const url = this.client.random.pick(cluster.urls);
    if (!url) return;
    const isComplete = this.client.random.chance(completeShare);
    const client = await connect(url, this.account.authToken);
    if (!client) {
      tally.count('sockets that were not opened');
      return this.client.backOff();
    }
    tally.count('subscriptions');
    const openSocket: OpenSocket = { client, url, openedAt: performance.now() };
    client.start('1', subscription, { after: this.cursor, under: this.under });
    const isTimeUp = () => isOver() || performance.now() >= until;
    const isChangeMissing = () => isComplete && this.#missingSince(openSocket.openedAt, until) !== undefined;
    try {
      while (!isTimeUp() || isChangeMissing()) {
        const leftMs = until - performance.now();
        const frame = await nextFrame(client, leftMs > 0 ? Math.min(leftMs, pollIntervalMs) : pollIntervalMs);
        if (frame === 'none') {
          if (await this.#isSilent(openSocket)) return;
        } else if (frame === 'closed') {
          const { code, reason } = await client.closed();
          tally.count(`sockets closed with ${code}`);
          if (code !== 1006 && code !== 1013)
            this.client.reportViolation(`a socket was closed: ${code} ${reason}`);
          return;
        } else if (frame.type !== 'ping') {
          if (!this.#handleFrame(frame)) return;
          const acknowledgedAt = this.client.world.acknowledgedAt.get(numberOf(this.cursor));
          if (acknowledgedAt)
            tally.time('sending a change', performance.now() - Math.max(acknowledgedAt, openSocket.openedAt));
        }
      }
    } finally {
      client.socket.terminate();
    }
  }

  /** Returns when the first missing change between two times was acknowledged. */
  #missingSince(after: number, before: number): number | undefined {
    if (this.under) return undefined;
    const number = numberOf(this.cursor);
    const missingTimes = [...this.client.world.acknowledgedAt]
      .filter(([each, at]) => each > number && at > after && at <= before)
      .map(([, at]) => at);
    return missingTimes.length > 0 ? Math.min(...missingTimes) : undefined;
  }

  /**
   * Compares a subscription that lacks a change with a new subscription at the same node. A busy machine or an unreachable
   * database delays both. The old subscription is silent if only the new one receives the change, or if neither does.
   */
  async #isSilent({ client, url, openedAt: at }: OpenSocket): Promise<boolean> {
    const missingSince = this.#missingSince(at, Infinity);
    if (missingSince === undefined || performance.now() - missingSince < maxDelayMs) return false;
    this.client.world.tally.count('subscriptions compared with a new one');
    const other = await connect(url, this.account.authToken);
    if (!other) return false;
    try {
      other.start('1', subscription, { after: this.cursor });
      await Promise.race([waitForFrame(other, compareTimeoutMs), waitForFrame(client, compareTimeoutMs)]);
      // If the node or the database fails, the new socket is closed, and the comparison proves nothing.
      const isComparable = other.unread.length > 0 || other.socket.readyState === WebSocket.OPEN;
      if (!isComparable || (await waitForFrame(client, maxDelayMs))) return false;
    } finally {
      other.socket.terminate();
    }
    const ms = Math.round(performance.now() - missingSince);
    this.client.reportViolation(`a subscription is silent, ${ms} ms after a change`);
    return true;
  }

  /**
   * Returns whether the subscription continues. Only changes may arrive, because published clients treat an `error` as
   * the end.
   */
  #handleFrame({ type, payload }: Frame): boolean {
    const change = type === 'next' && changeWithoutErrors(payload);
    if (change) this.recordChange(change);
    else this.client.reportViolation(`a subscription received ${type} ${JSON.stringify(payload)}`);
    return Boolean(change);
  }
}

/**
 * Returns undefined if the node does not accept the connection, because it has ended or cannot verify the
 * token.
 */
async function connect(url: string, authToken: string): Promise<SocketClient | undefined> {
  const client = await SocketClient.open(url).catch(() => undefined);
  if (!client) return undefined;
  client.init(authToken);
  const frame = await nextFrame(client, acknowledgeTimeoutMs);
  if (typeof frame !== 'string' && frame.type === 'connection_ack') return client;
  client.socket.terminate();
  return undefined;
}

/** Returns the next frame. After a timeout, a later frame stays unread. */
async function nextFrame(client: SocketClient, timeoutMs: number): Promise<Frame | 'none' | 'closed'> {
  if (!(await waitForFrame(client, timeoutMs))) return 'none';
  return client.unread.length > 0 ? client.next() : 'closed';
}

/** Waits until there is a frame to read or the socket is closed. Returns false if neither happens in time. */
async function waitForFrame(client: SocketClient, timeoutMs: number): Promise<boolean> {
  const { socket } = client;
  const controller = new AbortController();
  const { signal } = controller;
  const timeout = setTimeout(() => controller.abort(), Math.max(1, timeoutMs));
  const hasFrame = () => client.unread.length > 0 || socket.readyState === WebSocket.CLOSED;
  try {
    while (!hasFrame() && !signal.aborted) {
      await Promise.race([once(socket, 'message', { signal }), once(socket, 'close', { signal })]).catch(
        () => undefined,
      );
    }
  } finally {
    clearTimeout(timeout);
    controller.abort();
  }
  return hasFrame();
}
