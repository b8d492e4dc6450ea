/** Refreshes a session repeatedly at random nodes, sometimes twice at once. */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../../support/api-client.ts';
import type { ChaosClient, Outcome, Unknown } from './chaos-client.ts';

export type Tokens = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

const raceShare = 0.3;
const replayShare = 0.2;

export class Refresher {
  /** Tokens that an acknowledged refresh replaced. */
  readonly spent: Tokens[] = [];
  readonly #client: ChaosClient;
  readonly #credentials: Credentials;
  #pair: Tokens | undefined;
  /** Refreshes with an unknown outcome. The tokens may be spent. */
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

  /** Checks that the last tokens refresh and that no earlier tokens do. */
  async check(): Promise<void> {
    while (this.#uncertain.length > 0) await this.#step();
    const url = this.#client.random.pick(this.#client.world.cluster.urls);
    const last = this.#pair;
    if (last) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, last, url));
      if (kind !== 'done') this.#client.violation('the last acknowledged pair does not refresh');
      this.spent.push(last);
    }
    for (const old of this.spent.toReversed()) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, old));
      if (kind !== 'refused') this.#client.violation('a spent pair refreshes');
      this.#client.world.tally.count('spent pairs tried again at the end');
    }
  }

  async #step(): Promise<void> {
    const { random, world } = this.#client;
    this.#pair ??= await this.#logIn();
    const tokens = this.#pair;
    const attempts = random.chance(raceShare) ? 2 : 1;
    const outcomes = await Promise.all(Array.from({ length: attempts }, () => refresh(this.#client, tokens)));
    const won = outcomes.flatMap((each) => (each.kind === 'done' ? [each.value] : []));
    const unknown = outcomes.flatMap((each) => (each.kind === 'unknown' ? [each] : []));
    if (won.length > 1) this.#client.violation('two refreshes of one pair succeeded');
    if (won.length > 0) {
      world.tally.count('refreshes acknowledged');
      this.spent.push(tokens);
      this.#pair = won[0]!;
      this.#uncertain = [];
      if (random.chance(replayShare)) await this.#replay(tokens);
      return;
    }
    this.#uncertain.push(...unknown);
    world.tally.count('refreshes not acknowledged', unknown.length);
    // Only this session can have spent the tokens.
    if (unknown.length < attempts) this.#isSpent(outcomes);
    else await this.#client.backOff();
  }

  #isSpent(outcomes: readonly Outcome<Tokens>[]): void {
    const { tally } = this.#client.world;
    if (this.#uncertain.length === 0) {
      this.#client.violation(`a good pair was refused: ${JSON.stringify(outcomes)}`);
    } else if (this.#uncertain.every(({ isRetryable }) => isRetryable)) {
      this.#client.violation('a refresh was done, and said to be tried again');
    }
    tally.count('refreshes not acknowledged, and done: a session lost');
    this.#pair = undefined;
    this.#uncertain = [];
  }

  async #replay(tokens: Tokens): Promise<void> {
    const outcome = await refresh(this.#client, tokens);
    if (outcome.kind === 'done') this.#client.violation('a spent pair refreshes');
  }

  async #logIn(): Promise<Tokens> {
    return logIn(this.#client, this.#credentials);
  }
}

export function refresh(client: ChaosClient, tokens: Tokens, url?: string): Promise<Outcome<Tokens>> {
  const { authToken, refreshToken } = tokens;
  return client.post<Tokens>('/login/refresh', { refreshToken }, { authToken, ...(url && { url }) });
}

/** Logs in. A correct password is never refused. */
export async function logIn(client: ChaosClient, credentials: Credentials): Promise<Tokens> {
  const tokens = await client.retryUntilDone(() => client.post<Tokens>('/login', credentials));
  client.world.tally.count('logins acknowledged');
  return tokens;
}
