/** Logs in, looks around, and ends the session in one way or another, again and again. */

import type { Credentials } from '../../api-client.ts';
import { mutation } from '../../graph-bed.ts';
import type { ChaosClient, Outcome } from './chaos-client.ts';
import { logIn, refresh, type Pair } from './refresher.ts';

type Ending = 'logout by auth token' | 'logout by refresh token' | 'revocation' | 'none';

export interface Visit {
  readonly pair: Pair;
  readonly ending: Ending;
}

const endings: readonly Ending[] = ['logout by auth token', 'logout by refresh token', 'revocation', 'none'];
const mostLeftOpen = 10;
const pauseMs = 300;

export class Visitor {
  readonly visits: Visit[] = [];
  readonly #client: ChaosClient;
  readonly #credentials: Credentials;

  constructor(client: ChaosClient, credentials: Credentials) {
    this.#client = client;
    this.#credentials = credentials;
  }

  async run(): Promise<void> {
    while (!this.#client.isOver) {
      await this.#visit();
      await this.#client.pause(pauseMs);
    }
  }

  /** Who is out stays out, at every node; who is not may go on. */
  async check(): Promise<void> {
    for (const { pair, ending } of this.visits) {
      const { kind } = await this.#client.insist(() => refresh(this.#client, pair));
      if (kind !== (ending === 'none' ? 'done' : 'refused')) {
        this.#client.violation(`after ${ending}, the refresh was ${kind}`);
      }
      if (ending !== 'none') this.#client.world.tally.count('ended sessions tried again at the end');
      if (ending !== 'revocation') continue;
      for (const url of this.#client.world.cluster.urls) await this.#isOut(pair, url);
    }
  }

  async #isOut({ authToken }: Pair, url: string): Promise<void> {
    const asked = await this.#client.insist(() => this.#client.graph('{__typename}', {}, { authToken, url }));
    if (asked.kind === 'done') this.#client.violation(`${url} takes the auth token of a revoked session`);
  }

  async #visit(): Promise<void> {
    const { random, world } = this.#client;
    const pair = await logIn(this.#client, this.#credentials);
    const { authToken } = pair;
    const verified = await this.#client.insist(() => this.#client.post('/login/verify', { authToken }));
    if (verified.kind === 'refused') this.#client.violation(`a new auth token is not good: ${verified.says}`);
    const leftOpen = this.visits.filter(({ ending }) => ending === 'none').length;
    const ending = random.pick(leftOpen < mostLeftOpen ? endings : endings.slice(0, -1));
    await this.#end(pair, ending);
    this.visits.push({ pair, ending });
    if (ending === 'none') return;
    world.tally.count('sessions ended');
    const outcome = await refresh(this.#client, pair);
    if (outcome.kind === 'done') this.#client.violation(`a refresh succeeds after ${ending}`);
  }

  async #end(pair: Pair, ending: Ending): Promise<void> {
    const { authToken, refreshToken } = pair;
    if (ending === 'logout by auth token') {
      await this.#client.insistOn(() => this.#client.post('/logout', {}, { authToken }));
    } else if (ending === 'logout by refresh token') {
      await this.#insistOnce(() => this.#client.post('/logout', { refreshToken }));
    } else if (ending === 'revocation') {
      const { viewer } = await this.#client.ask<{ viewer: { session: { id: string } } }>(
        '{viewer{session{id}}}',
        {},
        authToken,
      );
      const input = { id: viewer.session.id };
      const query = mutation('revokeSession', 'revokedSessionId');
      await this.#insistOnce(() => this.#client.graph(query, { input }, { authToken }));
    }
  }

  /** Of what can be done once: if the answer was lost, the next one may be a refusal. */
  async #insistOnce(attempt: () => Promise<Outcome<unknown>>): Promise<void> {
    let wasUnknown = false;
    const outcome = await this.#client.insist(async () => {
      const each = await attempt();
      wasUnknown ||= each.kind === 'unknown';
      return each;
    });
    if (outcome.kind === 'refused' && !wasUnknown) {
      this.#client.violation(`the end of a session was refused: ${outcome.code} ${outcome.says}`);
    }
  }
}
