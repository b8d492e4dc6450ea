/** Refreshes a session repeatedly at random nodes, sometimes with two concurrent requests. */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../../../support/api-client.ts';
import type { ChaosClient, Outcome, UnknownOutcome } from './chaos-client.ts';

export type Tokens = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

const raceShare = 0.3;
const replayShare = 0.2;

export class Refresher {
  /** Tokens that an acknowledged refresh replaced. */
  readonly spentTokens: Tokens[] = [];
  readonly #client: ChaosClient;
  readonly #credentials: Credentials;
  #tokens: Tokens | undefined;
  /** Refreshes of the current tokens with an unknown outcome. They may have spent the tokens. */
  #unknownRefreshes: UnknownOutcome[] = [];

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
    while (this.#unknownRefreshes.length > 0) await this.#step();
    const url = this.#client.random.pick(this.#client.world.cluster.urls);
    const lastTokens = this.#tokens;
    if (lastTokens) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, lastTokens, url));
      if (kind !== 'done') this.#client.reportViolation('the last acknowledged tokens were refused');
      this.spentTokens.push(lastTokens);
    }
    for (const oldTokens of this.spentTokens.toReversed()) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, oldTokens));
      if (kind !== 'refused') this.#client.reportViolation('spent tokens were accepted');
      this.#client.world.tally.count('spent tokens tried again at the end');
    }
  }

  async #step(): Promise<void> {
    const { random, world } = this.#client;
    this.#tokens ??= await this.#logIn();
    const tokens = this.#tokens;
    const attempts = random.chance(raceShare) ? 2 : 1;
    const outcomes = await Promise.all(Array.from({ length: attempts }, () => refresh(this.#client, tokens)));
    const newTokens = outcomes.flatMap((each) => (each.kind === 'done' ? [each.value] : []));
    const unknownOutcomes = outcomes.flatMap((each) => (each.kind === 'unknown' ? [each] : []));
    if (newTokens.length > 1) this.#client.reportViolation('two refreshes of the same tokens succeeded');
    if (newTokens.length > 0) {
      world.tally.count('refreshes acknowledged');
      this.spentTokens.push(tokens);
      this.#tokens = newTokens[0]!;
      this.#unknownRefreshes = [];
      if (random.chance(replayShare)) await this.#replay(tokens);
      return;
    }
    this.#unknownRefreshes.push(...unknownOutcomes);
    world.tally.count('refreshes not acknowledged', unknownOutcomes.length);
    // Only an earlier request of this client can have spent the tokens.
    if (unknownOutcomes.length < attempts) this.#handleSpentTokens(outcomes);
    else await this.#client.backOff();
  }

  #handleSpentTokens(outcomes: readonly Outcome<Tokens>[]): void {
    const { tally } = this.#client.world;
    if (this.#unknownRefreshes.length === 0) {
      this.#client.reportViolation(`valid tokens were refused: ${JSON.stringify(outcomes)}`);
    } else if (this.#unknownRefreshes.every(({ isRetryable }) => isRetryable)) {
      this.#client.reportViolation('a refresh was done, but its response allowed a retry');
    }
    tally.count('refreshes not acknowledged, but done: a session lost');
    this.#tokens = undefined;
    this.#unknownRefreshes = [];
  }

  async #replay(tokens: Tokens): Promise<void> {
    const outcome = await refresh(this.#client, tokens);
    if (outcome.kind === 'done') this.#client.reportViolation('spent tokens were accepted');
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
