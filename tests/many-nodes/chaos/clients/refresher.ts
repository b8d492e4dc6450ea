/** Refreshes a session repeatedly at random nodes, sometimes with two concurrent requests. */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../../../support/api-client.ts';
import type { ChaosClient, Outcome, Unknown } from './chaos-client.ts';

export type Tokens = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

const raceShare = 0.3;
const replayShare = 0.2;

export class Refresher {
  /** Tokens that an acknowledged refresh replaced. */
  readonly spent: Tokens[] = [];
  readonly #client: ChaosClient;
  readonly #credentials: Credentials;
  #tokens: Tokens | undefined;
  /** Refreshes of the current tokens with an unknown outcome. They may have spent the tokens. */
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

  /** Checks that the last tokens can be refreshed and all earlier tokens cannot. */
  async check(): Promise<void> {
    while (this.#uncertain.length > 0) await this.#step();
    const url = this.#client.random.pick(this.#client.world.cluster.urls);
    const last = this.#tokens;
    if (last) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, last, url));
      if (kind !== 'done') this.#client.violation('the last acknowledged tokens were refused');
      this.spent.push(last);
    }
    for (const old of this.spent.toReversed()) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, old));
      if (kind !== 'refused') this.#client.violation('spent tokens were accepted');
      this.#client.world.tally.count('spent tokens tried again at the end');
    }
  }

  async #step(): Promise<void> {
    const { random, world } = this.#client;
    this.#tokens ??= await this.#logIn();
    const tokens = this.#tokens;
    const attempts = random.chance(raceShare) ? 2 : 1;
    const outcomes = await Promise.all(Array.from({ length: attempts }, () => refresh(this.#client, tokens)));
    const won = outcomes.flatMap((each) => (each.kind === 'done' ? [each.value] : []));
    const unknown = outcomes.flatMap((each) => (each.kind === 'unknown' ? [each] : []));
    if (won.length > 1) this.#client.violation('two refreshes of the same tokens succeeded');
    if (won.length > 0) {
      world.tally.count('refreshes acknowledged');
      this.spent.push(tokens);
      this.#tokens = won[0]!;
      this.#uncertain = [];
      if (random.chance(replayShare)) await this.#replay(tokens);
      return;
    }
    this.#uncertain.push(...unknown);
    world.tally.count('refreshes not acknowledged', unknown.length);
    // Only an earlier request of this client can have spent the tokens.
    if (unknown.length < attempts) this.#handleSpentTokens(outcomes);
    else await this.#client.backOff();
  }

  #handleSpentTokens(outcomes: readonly Outcome<Tokens>[]): void {
    const { tally } = this.#client.world;
    if (this.#uncertain.length === 0) {
      this.#client.violation(`valid tokens were refused: ${JSON.stringify(outcomes)}`);
    } else if (this.#uncertain.every(({ isRetryable }) => isRetryable)) {
      this.#client.violation('a refresh was done, but its response allowed a retry');
    }
    tally.count('refreshes not acknowledged, but done: a session lost');
    this.#tokens = undefined;
    this.#uncertain = [];
  }

  async #replay(tokens: Tokens): Promise<void> {
    const outcome = await refresh(this.#client, tokens);
    if (outcome.kind === 'done') this.#client.violation('spent tokens were accepted');
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
