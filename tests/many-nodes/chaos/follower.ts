/** Follows the changes from a cursor on, through nodes that come and go, and keeps what it was told. */

import { fromJournalCursor } from '../../../server/src/journal/journal-cursor.ts';
import type { Account, ChaosClient } from './chaos-client.ts';

export interface Told {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string | null;
}

export interface FollowerOptions {
  readonly account: Account;
  /** Where it begins. */
  readonly cursor: string;
  /** Only this folder and what is inside. */
  readonly under?: string;
}

export const subscription = `subscription($after: String, $under: ID){
  folderChanges(after: $after, under: $under){kind cursor folderId folder{id name parent{id}}}}`;

const followWithinMs = 30_000;
/** How long it stays with a node: mostly not long. */
const shortStayMs = 4_000;
const longStayMs = 25_000;
const longStays = 0.3;

export abstract class Follower {
  readonly told: Told[] = [];
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
      const stayMs = random.between(100, random.chance(longStays) ? longStayMs : shortStayMs);
      await this.stay(performance.now() + stayMs, () => this.client.isOver);
      await this.client.pause();
    }
  }

  /** Goes on until it is told of that change. */
  async followTo(cursor: string): Promise<void> {
    const deadline = performance.now() + followWithinMs;
    const isThere = () => this.told.at(-1)?.cursor === cursor;
    while (!isThere() && performance.now() < deadline) {
      await this.stay(deadline, isThere);
      await this.client.pause();
    }
  }

  /** At one node, until the connection is lost or it is over. */
  protected abstract stay(until: number, isOver: () => boolean): Promise<void>;

  protected take(told: Told): void {
    if (told.kind === 'RESYNC') this.client.violation('RESYNC, although nothing was forgotten');
    this.told.push(told);
    this.cursor = told.cursor;
    this.client.world.tally.count('changes told');
  }
}

/** Undefined unless it is told whole: whoever keeps its cursor would never be told the rest. */
export function wholeChange(payload: unknown): Told | undefined {
  const { data, errors } = payload as { data?: { folderChanges: Told } | null; errors?: unknown };
  return errors ? undefined : data?.folderChanges;
}

/** In the journal. */
export function numberOf(cursor: string): number {
  return fromJournalCursor(cursor, 'cursor').number;
}
