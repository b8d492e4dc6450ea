/** A server and its model, with an administrator, three users and two groups. */

import { Agent, request } from 'node:http';
import { isDeepStrictEqual, inspect } from 'node:util';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { ModelRefusalError } from './model-input.ts';
import { TreeModel, type ModelUser } from './tree-model.ts';

type Variables = Readonly<Record<string, unknown>>;

export interface Body {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { message: string; extensions: { code: string; version?: number } }[];
}

/** The response of the server differs from the model. */
export class DisagreementError extends Error {}

const secondsPerDay = 86_400;
const trashDays = 30;

export class World {
  readonly model: TreeModel;
  /** The API keys that are viewers. */
  readonly keys: ModelUser[] = [];
  readonly #people: PeopleTestbed;
  readonly #keyTexts = new Map<string, string>();
  readonly #tokens: Map<string, LoginResponse>;
  readonly #agent = new Agent({ keepAlive: true });
  #requests = 0;

  static async start(kind: DatabaseKind): Promise<World> {
    const people = await PeopleTestbed.start(kind, {
      settings: {
        AUTH_TOKEN_SECONDS: String(secondsPerDay),
        REFRESH_TOKEN_SECONDS: String(3650 * secondsPerDay),
        TRASH_DAYS: String(trashDays),
      },
    });
    const created = [await people.createUser(), await people.createUser(), await people.createUser()];
    const groupIds = [await people.createGroup('first'), await people.createGroup('second')];
    const administrator = await people.server.logIn();
    const { folder, viewer } = await people.query<{
      folder: { id: string; name: string; createdAt: string };
      viewer: { user: { id: string; username: string } };
    }>('{folder{id name createdAt} viewer{user{id username}}}');
    const tokens = new Map([[viewer.user.id, administrator]]);
    for (const person of created) tokens.set(person.id, await people.logIn(person));
    const model = new TreeModel({
      root: { ...folder, createdAt: Date.parse(folder.createdAt) },
      users: [
        { ...viewer.user, isAdministrator: true },
        ...created.map(({ id, username }) => ({ id, username, isAdministrator: false })),
      ],
      groups: groupIds.map((id) => ({ id, memberIds: new Set<string>() })),
      trashDays,
      now: people.server.clock.now(),
    });
    return new World(people, tokens, model);
  }

  private constructor(people: PeopleTestbed, tokens: Map<string, LoginResponse>, model: TreeModel) {
    this.#people = people;
    this.#tokens = tokens;
    this.model = model;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Everyone who reads the tree: the users, and the API keys. */
  get viewers(): readonly ModelUser[] {
    return [...this.model.users, ...this.keys];
  }

  get administrator(): ModelUser {
    return this.model.users[0]!;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#people.stop();
  }

  /** Advances the clock of server and model, and refreshes auth tokens that expire. */
  async wait(seconds: number): Promise<void> {
    const { server } = this.#people;
    server.clock.advanceSeconds(seconds);
    this.model.now = server.clock.now();
    for (const [userId, tokens] of this.#tokens) {
      const { exp } = JSON.parse(Buffer.from(tokens.authToken.split('.')[1]!, 'base64url').toString()) as {
        exp: number;
      };
      if (this.model.now < (exp - 1) * 1000) continue;
      this.#tokens.set(userId, (await server.refresh(tokens)).json<LoginResponse>());
    }
  }

  async purge(): Promise<void> {
    await this.#people.server.purge();
  }

  /** Adds a key, or replaces the one in this slot. */
  setKey(slot: number, key: ModelUser, text: string): void {
    this.keys[Math.min(slot, this.keys.length)] = key;
    this.#keyTexts.set(key.key!.id, text);
  }

  async execute(actor: ModelUser, query: string, variables: Variables = {}): Promise<Body> {
    this.#requests++;
    const authToken = actor.key ? this.#keyTexts.get(actor.key.id)! : this.#tokens.get(actor.id)!.authToken;
    const body = await post(
      this.#agent,
      this.#people.server.url,
      authToken,
      JSON.stringify({ query, variables }),
    );
    return JSON.parse(body) as Body;
  }

  /**
   * Sends the query to the server and compares the data or the refusal with the model. If `field` is set,
   * compares only this field of the data.
   */
  async compare<Answer>(
    actor: ModelUser,
    { query, field, variables = {} }: { query: string; field?: string; variables?: Variables },
    expect: (actual: Answer | undefined) => unknown,
  ): Promise<void> {
    const body = await this.execute(actor, query, variables);
    const actual = toOutcome(body, field);
    const expected = toPlain(attempt(() => expect(actual.refused ? undefined : (actual.response as Answer))));
    if (isDeepStrictEqual(actual, expected)) return;
    disagree(`${actor.username}: ${query} ${JSON.stringify(variables)}`, actual, expected);
  }

  async mutate<Payload>(
    actor: ModelUser,
    name: string,
    input: Variables,
    selection: string,
    expect: (payload: Payload | undefined) => unknown,
  ): Promise<void> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation($input: ${type}!){${name}(input: $input){${selection}}}`;
    return this.compare<Payload>(actor, { query, field: name, variables: { input } }, expect);
  }
}

export function disagree(where: string, actual: unknown, expected: unknown): never {
  const format = (value: unknown) => inspect(value, { depth: 4, maxArrayLength: 100, breakLength: 150 });
  const difference = firstDifference(actual, expected);
  throw new DisagreementError(
    `${where}\nat ${difference.path.join('.') || 'the top'}` +
      `\nthe server: ${format(difference.actual)}\nthe model:  ${format(difference.expected)}`,
  );
}

/** Returns the innermost path that contains all differences. */
function firstDifference(
  actual: unknown,
  expected: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; actual: unknown; expected: unknown } {
  if (isRecord(actual) && isRecord(expected)) {
    const keys = [...new Set([...Object.keys(actual), ...Object.keys(expected)])];
    const different = keys.filter((key) => !isDeepStrictEqual(actual[key], expected[key]));
    const [key] = different;
    if (key !== undefined && different.length === 1) {
      return firstDifference(actual[key], expected[key], [...path, key]);
    }
  }
  return { path, actual, expected };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

type Outcome = { readonly response: unknown; readonly refused?: undefined } | { readonly refused: object };

function toOutcome({ data, errors }: Body, field: string | undefined): Outcome {
  if (!errors) return { response: field === undefined ? data : data?.[field] };
  const { code, version } = errors[0]!.extensions;
  return { refused: { code, ...(version !== undefined && { version }) } };
}

function attempt(work: () => unknown): Outcome {
  try {
    return { response: work() };
  } catch (error) {
    if (!(error instanceof ModelRefusalError)) throw error;
    return { refused: { code: error.code, version: error.version } };
  }
}

/** Removes undefined values, as JSON does. */
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function post(agent: Agent, url: string, authToken: string, body: string): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${authToken}`,
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/graphql`, { agent, method: 'POST', headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => void parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts).toString()));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
