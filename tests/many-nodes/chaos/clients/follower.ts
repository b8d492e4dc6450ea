/** Follows the changes from a cursor, across node failures, and records them. */

import { fromJournalCursor } from '../../../../server/src/journal/journal-entry.ts';
import type { Account, ChaosClient } from './chaos-client.ts';

export interface ReceivedChange {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string | null;
}

export interface FollowerOptions {
  readonly account: Account;
  /** The first cursor. */
  readonly cursor: string;
  /** Follows only changes in this folder and its descendants. */
  readonly under?: string;
}

export const subscription = `subscription($after: String, $under: ID){
  folderChanges(after: $after, under: $under){kind cursor folderId folder{id name parent{id}}}}`;

const followTimeoutMs = 30_000;
/** How long a follower stays connected to one node. Most stays are short. */
const shortStayMs = 4_000;
const longStayMs = 25_000;
const longStayShare = 0.3;

export abstract class Follower {
  readonly receivedChanges: ReceivedChange[] = [];
  readonly under: string | undefined;
  protected readonly client: ChaosClient;
  protected readonly account: Account;
  protected cursor: string;

  constructor(client: ChaosClient, { account, cursor, under }: FollowerOptions) {
    this.client = client;
    this.account = account;
    this.cursor = cursor;
    this.under = under;
  }

  get name(): string {
    return this.client.name;
  }

  async run(): Promise<void> {
    const { random } = this.client;
    while (!this.client.isOver) {
      const stayMs = random.between(100, random.chance(longStayShare) ? longStayMs : shortStayMs);
      await this.followOneNode(performance.now() + stayMs, () => this.client.isOver);
      await this.client.pause();
    }
  }

  /** Follows until it receives the change with this cursor. */
  async followTo(cursor: string): Promise<void> {
    const deadline = performance.now() + followTimeoutMs;
    const isReached = () => this.receivedChanges.at(-1)?.cursor === cursor;
    while (!isReached() && performance.now() < deadline) {
      await this.followOneNode(deadline, isReached);
      await this.client.pause();
    }
  }

  /** Follows at one node until the connection is lost or `isOver` returns true. */
  protected abstract followOneNode(until: number, isOver: () => boolean): Promise<void>;

  protected recordChange(change: ReceivedChange): void {
    if (change.kind === 'RESYNC')
      this.client.reportViolation('RESYNC, although the journal still contains all changes after its cursor');
    this.receivedChanges.push(change);
    this.cursor = change.cursor;
    this.client.world.tally.count('changes received');
  }
}

/**
 * Returns undefined if the change has errors, because a client that stores its cursor would never receive the
 * rest.
 */
export function changeWithoutErrors(payload: unknown): ReceivedChange | undefined {
  const { data, errors } = payload as { data?: { folderChanges: ReceivedChange } | null; errors?: unknown };
  return errors ? undefined : data?.folderChanges;
}

/** Returns the journal number of a cursor. */
export function numberOf(cursor: string): number {
  return fromJournalCursor(cursor, 'cursor').number;
}
