/**
 * Fills a new installation over HTTP with every kind of data, and records the responses of its server. A later version
 * must return the same. Imports only the public entry point, so that it can fill earlier versions.
 */

import assert from 'node:assert/strict';
import { pino } from 'pino';
import { readSettings, startServer } from 'espalier';

export interface TokenPair {
  readonly authToken: string;
  readonly refreshToken: string;
}

/** The expected contents of a fixture. Fixtures store it as JSON, so its keys never change. */
export interface Facts {
  /** The time at which the server was stopped. */
  readonly madeAt: number;
  readonly people: Readonly<Record<'admin' | 'reader' | 'disabled', Credentials>>;
  /** Token pairs of the administrator: valid, exchanged for the valid one, and logged out. */
  readonly pairs: Readonly<Record<'current' | 'spent' | 'ended', TokenPair>>;
  readonly asked: readonly {
    readonly as: 'admin' | 'reader';
    readonly query: string;
    readonly data: unknown;
  }[];
  /** The number of the last entry of the journal. */
  readonly journalNumber: number;
  /** A mutation with an idempotency key, and its response. Older fixtures have none. */
  readonly keyedMutation?: KeyedMutation;
  /** An API key of the administrator, with which a folder was created. Older fixtures have none. */
  readonly apiKey?: string;
}

export interface KeyedMutation {
  readonly key: string;
  readonly query: string;
  readonly data: unknown;
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

const queries = {
  admin: [
    `{folder{id name version createdAt updatedAt folders{totalCount}
      descendants{totalCount edges{depth node{id name path version createdAt updatedAt accessLevel
        access{items{user{username} group{name} level grantedAt}}}}}}}`,
    '{exportFolders{path title icon description properties}}',
    '{trash{items{folderId name title version deletedAt purgedAt formerParent{id}}}}',
    '{search(text: "gr\u00f6\u00dfe"){totalCount items{path}}}',
    '{users{items{id username isAdministrator isDisabled createdAt groups{items{id name}}}}}',
    '{groups{items{id name createdAt members{items{username}}}}}',
    `{journal(first: 1000){totalCount items{number cursor at kind byId byApiKey{id name} folderId path formerPath
      ancestorIds formerAncestorIds userId groupId sessionId before after}}}`,
    `{apiKeys{items{id name start user{username} createdBy{username} level isAdministrator folderId networks state
      createdAt expiresAt}}}`,
    `{signIns(filter: {until: "2026-02-01T12:05:00Z"}){items{id at username user{username} method result sessionId
      address agent}}}`,
  ],
  reader: [
    '{viewer{user{id username}} folder{name descendants{items{path accessLevel}}}}',
    '{changes(first: 1000){items{kind cursor folderId folder{path}}}}',
  ],
} as const;

const people = {
  admin: { username: 'admin', password: 'fixture of the administrator' },
  reader: { username: 'Ærøskøbing \u{1F642}', password: 'fixture of the reader' },
  disabled: { username: 'gone', password: 'fixture of the disabled' },
} as const;

export async function fillInstallation(databaseUrl: string): Promise<Facts> {
  let now = Date.parse('2026-02-01T12:00:00Z');
  const environment = {
    ESPALIER_PORT: '0',
    ESPALIER_DATABASE_URL: databaseUrl,
    ESPALIER_ADMIN_USERNAME: people.admin.username,
    ESPALIER_ADMIN_PASSWORD: people.admin.password,
  };
  const server = await startServer({
    settings: readSettings({ environment }).settings,
    clock: { now: () => now },
    log: pino({ level: 'error' }),
    version: 'fixture',
    isHousekeepingManual: true,
    passwordCost: { memoryCost: 8, timeCost: 1, parallelism: 1 },
  });
  try {
    const client = new Client(server.url);
    const { authToken } = await client.logIn(people.admin);
    await fill(new Graph(client, authToken), () => (now += 61_000));
    const keyedMutation = await runWithKey(new Graph(client, (await client.logIn(people.admin)).authToken));
    const apiKey = await createApiKey(new Graph(client, (await client.logIn(people.admin)).authToken));
    await new Graph(client, apiKey).run('createFolder', { name: 'With an API key' }, '__typename');
    const ended = await client.logIn(people.admin);
    await client.post('/logout', {}, ended.authToken);
    const asked: Facts['asked'][number][] = [];
    let journalNumber = 0;
    for (const as of ['admin', 'reader'] as const) {
      const graph = new Graph(client, (await client.logIn(people[as])).authToken);
      for (const query of queries[as]) {
        const data = await graph.query(query);
        asked.push({ as, query, data });
        journalNumber ||= (data as { journal?: { totalCount: number } }).journal?.totalCount ?? 0;
      }
    }
    const spent = await client.logIn(people.admin);
    const { refreshToken } = spent;
    const current = (await client.post('/login/refresh', { refreshToken }, spent.authToken)) as TokenPair;
    return {
      madeAt: now,
      people,
      pairs: { current, spent, ended },
      asked,
      journalNumber,
      keyedMutation,
      apiKey,
    };
  } finally {
    await server.close();
  }
}

async function runWithKey(graph: Graph): Promise<KeyedMutation> {
  const key = 'fixture-of-a-keyed-mutation';
  const query = 'mutation{createFolder(input: {name: "With a key"}){folder{id name} cursor}}';
  return { key, query, data: await graph.query(query, {}, key) };
}

/** Creates a service account with a limited key, and returns another key of the administrator. */
async function createApiKey(graph: Graph): Promise<string> {
  const userId = await graph.id('createUser', { username: 'robot', kind: 'SERVICE' }, 'user');
  const limits = {
    level: 'READ',
    expiresAt: '2030-01-31T00:00:00Z',
    networks: ['10.0.0.0/8', '2001:db8::/32'],
  };
  await graph.run('createApiKey', { name: 'Größe 9', userId, ...limits }, '__typename');
  const created = await graph.run('createApiKey', { name: 'own', level: 'WRITE' }, 'key');
  return (created as { key: string }).key;
}

/** Advances the clock after each step. */
async function fill(graph: Graph, advanceClock: () => void): Promise<void> {
  const steps: (() => Promise<void>)[] = [];
  const ids: Record<string, string> = {};
  const create = (name: string, parent?: string, more: object = {}) =>
    steps.push(async () => {
      const input = { name, ...(parent && { parentId: ids[parent] }), ...more };
      ids[name] = await graph.id('createFolder', input, 'folder');
    });
  const run = (name: string, input: () => object) =>
    steps.push(async () => void (await graph.run(name, input(), '__typename')));
  const user = (key: 'reader' | 'disabled') =>
    steps.push(async () => void (ids[key] = await graph.id('createUser', people[key], 'user')));

  create('Größe 10', undefined, {
    title: 'e\u0301t\u00e9 𝔊 👩‍👩‍👧',
    icon: '📁',
    description: 'Lines\r\nand\ttabs, "quotes", \\ and \u2028',
    properties: { zero: '\u0000', big: 1e21, nested: [null, true, { '': '' }] },
  });
  create('größe 9', 'Größe 10');
  create("Ro'bert; drop table folders; --", 'größe 9');
  create('日本語', 'Größe 10');
  create('Later');
  create('Last', 'Later');
  create('Gone', 'Later');
  create('with Gone', 'Gone');
  create('Floor 2', 'Last');
  create('Floor 10', 'Last');
  run('importFolders', () => ({
    parentId: ids['Floor 10'],
    list: [{ path: 'Imported/A', title: 'An import' }, { path: 'Imported/B' }],
  }));
  run('updateFolder', () => ({ id: ids['Floor 2'], name: 'Floor 3', title: 'was the second' }));
  run('moveFolder', () => ({ id: ids['Größe 10'], parentId: ids['Last'] }));
  user('reader');
  user('disabled');
  steps.push(
    async () => void (ids['group'] = await graph.id('createGroup', { name: 'Leser*innen' }, 'group')),
  );
  run('addToGroup', () => ({ groupId: ids['group'], userIds: [ids['reader']] }));
  run('grantAccess', () => ({ folderId: ids['Later'], groupId: ids['group'], level: 'READ' }));
  run('grantAccess', () => ({ folderId: ids['größe 9'], userId: ids['reader'], level: 'WRITE' }));
  run('grantAccess', () => ({ folderId: ids['日本語'], userId: ids['reader'], level: 'NONE' }));
  run('updateUser', () => ({ id: ids['disabled'], isDisabled: true }));
  run('deleteFolder', () => ({ id: ids['Gone'], recursive: true }));
  for (const step of steps) {
    await step();
    advanceClock();
    // The auth token expires after ten minutes.
    if (steps.indexOf(step) % 8 === 7) await graph.renew();
  }
}

class Client {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async post(path: string, body: unknown, authToken?: string, idempotencyKey?: string): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(authToken !== undefined && { authorization: `Bearer ${authToken}` }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
    });
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    return text && JSON.parse(text);
  }

  async logIn(credentials: Credentials): Promise<TokenPair> {
    const { authToken, refreshToken } = (await this.post('/login', credentials)) as TokenPair;
    return { authToken, refreshToken };
  }
}

class Graph {
  readonly #client: Client;
  #authToken: string;

  constructor(client: Client, authToken: string) {
    this.#client = client;
    this.#authToken = authToken;
  }

  async renew(): Promise<void> {
    this.#authToken = (await this.#client.logIn(people.admin)).authToken;
  }

  async query(query: string, variables: object = {}, idempotencyKey?: string): Promise<unknown> {
    const body = { query, variables };
    const answer = await this.#client.post('/graphql', body, this.#authToken, idempotencyKey);
    const { data, errors } = answer as { data: unknown; errors?: unknown };
    assert.equal(errors, undefined, `${query}: ${JSON.stringify(errors)}`);
    return data;
  }

  async run(name: string, input: object, selection: string): Promise<unknown> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation($input: ${type}!){${name}(input: $input){${selection}}}`;
    return ((await this.query(query, { input })) as Record<string, unknown>)[name];
  }

  /** Returns the id of the created object. */
  async id(name: string, input: object, field: string): Promise<string> {
    const payload = (await this.run(name, input, `${field}{id}`)) as Record<string, { id: string }>;
    return payload[field]!.id;
  }
}
