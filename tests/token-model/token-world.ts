/** Two nodes on one database with one clock, and the model. Each response is compared with the model. */

import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from '../support/databases.ts';
import { mutation, type GraphBody } from '../support/graph-testbed.ts';
import { Testbed, TestClock, type TestResponse } from '../support/testbed.ts';
import {
  TokenModel,
  type AuthToken,
  type Expected,
  type ModelSettings,
  type ModelUser,
  type Tokens,
} from './token-model.ts';

/** The server and the model differ. */
export class DisagreementError extends Error {}

const usernames = ['anna', 'ben', 'Čeněk'];
const json = { 'content-type': 'application/json' };
/** Far longer than the documented second, so that a busy test machine does not cause a failure. */
const maxWaitMs = 20_000;
const minSecretLength = 8;

export class TokenWorld {
  readonly model: TokenModel;
  readonly clock: TestClock;
  readonly database: TestDatabase;
  readonly nodes: Testbed[] = [];
  requests = 0;
  readonly #kind: DatabaseKind;
  readonly #settings: Record<string, string>;
  #administratorTokens: LoginResponse | undefined;
  #passwords = 0;

  static async start(kind: DatabaseKind, settings: ModelSettings): Promise<TokenWorld> {
    const world = new TokenWorld(kind, await kind.createForServer(), settings);
    try {
      for (const index of [0, 1]) await world.startNode(index);
      for (const username of usernames) await world.createUser(world.nodes[0]!, username);
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  private constructor(kind: DatabaseKind, database: TestDatabase, settings: ModelSettings) {
    this.#kind = kind;
    this.database = database;
    this.clock = new TestClock();
    this.model = new TokenModel(this.clock, settings);
    // Another test covers the login throttle.
    this.#settings = { LOGIN_THROTTLE: 'off', REFRESH_RETRY_SECONDS: String(settings.retrySeconds) };
  }

  async startNode(index: number): Promise<void> {
    const { database, clock } = this;
    this.nodes[index] = await Testbed.start(this.#kind, { database, clock, settings: this.#settings });
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop();
    await this.database.remove();
  }

  newPassword(): string {
    return `walnut cabin ${++this.#passwords}`;
  }

  async createUser(node: Testbed, username: string): Promise<void> {
    const password = this.newPassword();
    const { data } = await this.asAdministrator<{ createUser: { user: { id: string } } }>(
      node,
      mutation('createUser', 'user{id}'),
      { input: { username, password } },
    );
    const { id } = data!.createUser.user;
    this.model.users.push({ id, username, password, isDisabled: false, isDeleted: false });
  }

  /** Sends strings and bytes unchanged, and other bodies as JSON. */
  async post(
    node: Testbed,
    path: string,
    body: unknown,
    authorization?: string,
    headers: Record<string, string> = json,
  ): Promise<TestResponse> {
    this.requests++;
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const allHeaders = authorization === undefined ? headers : { ...headers, authorization };
    return node.postRaw(path, bytes, allHeaders);
  }

  /** Uses separate tokens, which no random operation selects. */
  async asAdministrator<Data>(
    node: Testbed,
    query: string,
    variables: Record<string, unknown>,
  ): Promise<GraphBody<Data>> {
    const refreshed = this.#administratorTokens && (await node.refresh(this.#administratorTokens));
    const tokens = refreshed?.status === 200 ? refreshed.json<LoginResponse>() : await node.logIn();
    this.#administratorTokens = tokens;
    return (await node.query(query, tokens.authToken, variables)).json<GraphBody<Data>>();
  }

  /** Returns the tokens of the response, if any. `secrets` were sent and must not be in the response. */
  compare(response: TestResponse, expected: Expected, secrets: readonly string[] = []): Tokens | undefined {
    const actual = {
      status: response.status,
      tokenExpired: response.headers.get('token-expired'),
      challenge: readChallenge(response.headers.get('www-authenticate')),
    };
    const expectedResponse = {
      status: expected.status,
      tokenExpired: expected.isExpired ? 'true' : null,
      challenge: expected.challenge ?? null,
    };
    this.assertSame('the response', actual, expectedResponse);
    if (expected.tokens) return this.#compareTokens(response, expected);
    for (const secret of secrets) {
      if (secret.length >= minSecretLength && response.text.includes(secret)) {
        throw new DisagreementError(`The response repeats a secret of the request: ${response.text}`);
      }
    }
    return undefined;
  }

  assertSame(what: string, seen: unknown, wanted: unknown): void {
    const [one, other] = [JSON.stringify(seen), JSON.stringify(wanted)];
    if (one !== other) throw new DisagreementError(`${what} is ${one}; the model says ${other}.`);
  }

  /**
   * A node immediately rejects expired tokens and the tokens of sessions that it has ended. Other nodes follow
   * soon, so this waits for them. `here` is the node that handled the operation, or undefined if both did.
   */
  async awaitRevocations(validBefore: readonly AuthToken[], here: Testbed | undefined): Promise<void> {
    const invalidatedTokens = validBefore.filter((token) => !this.model.isValid(token));
    for (const node of this.nodes) {
      for (const token of invalidatedTokens) {
        const isImmediate = node === here || this.model.now >= token.expiresAt;
        const start = performance.now();
        while ((await this.post(node, '/login/verify', { authToken: token.text })).status !== 400) {
          if (isImmediate) throw new DisagreementError('The server accepts an invalid token.');
          if (performance.now() - start > maxWaitMs) {
            throw new DisagreementError('Another node still accepts a token of an ended session.');
          }
        }
      }
    }
  }

  /** Returns all tokens that a verification accepts. */
  validAuthTokens(): AuthToken[] {
    const all = this.model.sessions.flatMap(({ authTokens }) => authTokens);
    return all.filter((token) => this.model.isValid(token));
  }

  /** Records the session of a login. */
  startSession(user: ModelUser, tokens: Tokens): void {
    const { sid, sub } = readClaims(tokens.authToken);
    this.assertSame('the subject of the token', sub, user.id);
    this.model.start(user, sid, tokens);
  }

  #compareTokens(response: TestResponse, { tokens, expiresIn }: Expected): Tokens {
    const { authToken, refreshToken, ...rest } = response.json<LoginResponse>();
    this.assertSame('the rest of the response', rest, { expires_in: expiresIn });
    if (typeof tokens === 'object') {
      this.assertSame('the repeated tokens', { authToken, refreshToken }, tokens);
      return tokens;
    }
    const isReused = this.model.sessions.some(
      ({ authTokens, refreshTokens }) =>
        authTokens.some(({ text }) => text === authToken) ||
        refreshTokens.some(({ text }) => text === refreshToken),
    );
    const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(refreshToken);
    this.assertSame('the new tokens', { isReused, isUuid }, { isReused: false, isUuid: true });
    return { authToken, refreshToken };
  }
}

function readChallenge(header: string | null): string | null {
  if (header === null) return null;
  if (header === 'Bearer realm="espalier"') return 'plain';
  return /^Bearer realm="espalier", error="(\w+)", error_description="[^"]+"$/.exec(header)?.[1] ?? header;
}

function readClaims(authToken: string): { sid: string; sub: string } {
  return JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as {
    sid: string;
    sub: string;
  };
}
