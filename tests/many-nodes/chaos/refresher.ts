/** A session that is refreshed again and again, at whichever node; sometimes by two at once. */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../../api-client.ts';
import type { ChaosClient, Outcome, Unknown } from './chaos-client.ts';

export type Pair = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

const raceShare = 0.3;
const replayShare = 0.2;

export class Refresher {
  /** Exchanged with an acknowledged refresh. */
  readonly spent: Pair[] = [];
  readonly #client: ChaosClient;
  readonly #credentials: Credentials;
  #pair: Pair | undefined;
  /** Attempts whose end is not known: the pair may be spent. */
  #uncertain: Unknown[] = [];

  constructor(client: ChaosClient, credentials: Credentials) {
    this.#client = client;
    this.#credentials = credentials;
  }

  async run(): Promise<void> {
    while (!this.#client.isOver) {
      await this.#step();
      await this.#client.pause();
    }
  }

  /** The last pair goes on, and none of those before it, however often they are tried. */
  async check(): Promise<void> {
    while (this.#uncertain.length > 0) await this.#step();
    const url = this.#client.random.pick(this.#client.world.cluster.urls);
    const last = this.#pair;
    if (last) {
      const { kind } = await this.#client.insist(() => refresh(this.#client, last, url));
      if (kind !== 'done') this.#client.violation('the last acknowledged pair does not refresh');
      this.spent.push(last);
    }
    for (const old of this.spent.toReversed()) {
      const { kind } = await this.#client.insist(() => refresh(this.#client, old));
      if (kind !== 'refused') this.#client.violation('a spent pair refreshes');
      this.#client.world.tally.count('spent pairs tried again at the end');
    }
  }

  async #step(): Promise<void> {
    const { random, world } = this.#client;
    this.#pair ??= await this.#logIn();
    const pair = this.#pair;
    const attempts = random.chance(raceShare) ? 2 : 1;
    const outcomes = await Promise.all(Array.from({ length: attempts }, () => refresh(this.#client, pair)));
    const won = outcomes.flatMap((each) => (each.kind === 'done' ? [each.value] : []));
    const unknown = outcomes.flatMap((each) => (each.kind === 'unknown' ? [each] : []));
    if (won.length > 1) this.#client.violation('two refreshes of one pair succeeded');
    if (won.length > 0) {
      world.tally.count('refreshes acknowledged');
      this.spent.push(pair);
      this.#pair = won[0]!;
      this.#uncertain = [];
      if (random.chance(replayShare)) await this.#replay(pair);
      return;
    }
    this.#uncertain.push(...unknown);
    world.tally.count('refreshes not acknowledged', unknown.length);
    // Nobody but this session can have spent the pair.
    if (unknown.length < attempts) this.#isSpent(outcomes);
    else await this.#client.backOff();
  }

  #isSpent(outcomes: readonly Outcome<Pair>[]): void {
    const { tally } = this.#client.world;
    if (this.#uncertain.length === 0) {
      this.#client.violation(`a good pair was refused: ${JSON.stringify(outcomes)}`);
    } else if (this.#uncertain.every(({ isForRetry }) => isForRetry)) {
      this.#client.violation('a refresh was done, and said to be tried again');
    }
    tally.count('refreshes not acknowledged, and done: a session lost');
    this.#pair = undefined;
    this.#uncertain = [];
  }

  async #replay(pair: Pair): Promise<void> {
    const outcome = await refresh(this.#client, pair);
    if (outcome.kind === 'done') this.#client.violation('a spent pair refreshes');
  }

  async #logIn(): Promise<Pair> {
    return logIn(this.#client, this.#credentials);
  }
}

export function refresh(client: ChaosClient, pair: Pair, url?: string): Promise<Outcome<Pair>> {
  const { authToken, refreshToken } = pair;
  return client.post<Pair>('/login/refresh', { refreshToken }, { authToken, ...(url && { url }) });
}

/** A right password is never refused. */
export async function logIn(client: ChaosClient, credentials: Credentials): Promise<Pair> {
  const pair = await client.insistOn(() => client.post<Pair>('/login', credentials));
  client.world.tally.count('logins acknowledged');
  return pair;
}
