/** Logs in, verifies the token, and ends the session in different ways, repeatedly. */

import type { Credentials } from '../../../support/api-client.ts';
import { mutation } from '../../../support/graph-testbed.ts';
import type { ChaosClient, Outcome } from './chaos-client.ts';
import { logIn, refresh, type Tokens } from './refresher.ts';

type Ending = 'logout by auth token' | 'logout by refresh token' | 'revocation' | 'none';

export interface Visit {
  readonly tokens: Tokens;
  readonly ending: Ending;
}

const endings: readonly Ending[] = ['logout by auth token', 'logout by refresh token', 'revocation', 'none'];
const maxOpenSessions = 10;
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

  /** Checks at every node that ended sessions stay ended and open sessions can refresh. */
  async check(): Promise<void> {
    for (const { tokens, ending } of this.visits) {
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, tokens));
      if (kind !== (ending === 'none' ? 'done' : 'refused')) {
        this.#client.reportViolation(`after ${ending}, the refresh was ${kind}`);
      }
      if (ending !== 'none') this.#client.world.tally.count('ended sessions tried again at the end');
      if (ending !== 'revocation') continue;
      for (const url of this.#client.world.cluster.urls) await this.#assertRevoked(tokens, url);
    }
  }

  async #assertRevoked({ authToken }: Tokens, url: string): Promise<void> {
    const outcome = await this.#client.retryUntilKnown(() =>
      this.#client.graph('{__typename}', {}, { authToken, url }),
    );
    if (outcome.kind === 'done')
      this.#client.reportViolation(`${url} accepts the auth token of a revoked session`);
  }

  async #visit(): Promise<void> {
    const { random, world } = this.#client;
    const tokens = await logIn(this.#client, this.#credentials);
    const { authToken } = tokens;
    const verification = await this.#client.retryUntilKnown(() =>
      this.#client.post('/login/verify', { authToken }),
    );
    if (verification.kind === 'refused')
      this.#client.reportViolation(`a new auth token was refused: ${verification.message}`);
    const openCount = this.visits.filter(({ ending }) => ending === 'none').length;
    const ending = random.pick(openCount < maxOpenSessions ? endings : endings.slice(0, -1));
    await this.#end(tokens, ending);
    this.visits.push({ tokens, ending });
    if (ending === 'none') return;
    world.tally.count('sessions ended');
    const outcome = await refresh(this.#client, tokens);
    if (outcome.kind === 'done') this.#client.reportViolation(`a refresh succeeded after ${ending}`);
  }

  async #end(tokens: Tokens, ending: Ending): Promise<void> {
    const { authToken, refreshToken } = tokens;
    if (ending === 'logout by auth token') {
      await this.#client.retryUntilDone(() => this.#client.post('/logout', {}, { authToken }));
    } else if (ending === 'logout by refresh token') {
      await this.#retrySingleUse(() => this.#client.post('/logout', { refreshToken }));
    } else if (ending === 'revocation') {
      const { viewer } = await this.#client.query<{ viewer: { session: { id: string } } }>(
        '{viewer{session{id}}}',
        {},
        authToken,
      );
      const input = { id: viewer.session.id };
      const query = mutation('revokeSession', 'revokedSessionId');
      await this.#retrySingleUse(() => this.#client.graph(query, { input }, { authToken }));
    }
  }

  /**
   * Retries a request that can succeed only once. If a response was lost, the server may refuse the retry.
   */
  async #retrySingleUse(attempt: () => Promise<Outcome<unknown>>): Promise<void> {
    let wasUnknown = false;
    const outcome = await this.#client.retryUntilKnown(async () => {
      const result = await attempt();
      wasUnknown ||= result.kind === 'unknown';
      return result;
    });
    if (outcome.kind === 'refused' && !wasUnknown) {
      this.#client.reportViolation(`the end of a session was refused: ${outcome.code} ${outcome.message}`);
    }
  }
}
