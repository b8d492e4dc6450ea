/**
 * Runs as a child process: sends requests and tells how long each took. One of them makes the storm, another asks
 * meanwhile: what is answered to the one must not keep the other from looking at its watch.
 */

import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../support/api-client.ts';
import { serveParent } from '../../bench/parent.ts';

export interface JoinInput {
  readonly url: string;
  readonly people: readonly Credentials[];
}

/** One of each kind after the other, until it is told to stop. */
export interface AskInput {
  readonly kinds: readonly ProbeKind[];
}

export type ProbeKind = 'graph' | 'login' | 'refresh' | 'verify';

/** How long each answer took, and how many had which status. */
export interface Asked {
  readonly times: Readonly<Record<ProbeKind, readonly number[]>>;
  readonly statuses: Readonly<Record<string, number>>;
}

export interface BurstInput {
  /** One after the other, by turns, each sent by the next person. */
  readonly queries: readonly string[];
  /** Of logins, if there are no queries. */
  readonly count: number;
}

export interface Burst {
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers with 200 that were refused all the same. */
  readonly errors: readonly string[];
  readonly lastMs: number;
}

interface Person extends Credentials {
  pair: LoginResponse;
}

const everyMs = 5;
const agent = new Agent({ keepAlive: true });
let url = '';
let people: Person[] = [];
let isAsking = false;
let asking: Promise<Asked> | undefined;

serveParent(
  {
    async join(input: JoinInput): Promise<void> {
      url = input.url;
      people = [];
      for (const person of input.people) {
        const pair = JSON.parse((await post('/login', person)).text) as LoginResponse;
        people.push({ ...person, pair });
      }
    },

    begin({ kinds }: AskInput): void {
      isAsking = true;
      asking = askOn(kinds);
    },

    end(): Promise<Asked> {
      isAsking = false;
      return asking!;
    },

    async burst({ queries, count }: BurstInput): Promise<Burst> {
      const start = performance.now();
      const statuses: Record<string, number> = {};
      const errors: string[] = [];
      let lastMs = 0;
      const one = async (place: number) => {
        const { pair, ...credentials } = people[place % people.length]!;
        const query = queries[place % queries.length];
        const { status, text } = query
          ? await post('/graphql', { query }, pair.authToken)
          : await post('/login', credentials);
        lastMs = performance.now() - start;
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 200 && query && text.startsWith('{"errors"')) errors.push(text.slice(0, 300));
      };
      await Promise.all(Array.from({ length: count }, (_, place) => one(place)));
      return { statuses, errors, lastMs };
    },
  },
  () => undefined,
);

/** Each kind has a loop of its own, and a little rest: what is slow must not hide what is fast. */
async function askOn(kinds: readonly ProbeKind[]): Promise<Asked> {
  const times: Record<ProbeKind, number[]> = { graph: [], login: [], refresh: [], verify: [] };
  const statuses: Record<string, number> = {};
  const loop = async (kind: ProbeKind, person: Person) => {
    do {
      const start = performance.now();
      const status = await probe(kind, person);
      times[kind].push(performance.now() - start);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(everyMs);
    } while (isAsking);
  };
  await Promise.all(kinds.map((kind, place) => loop(kind, people[place % people.length]!)));
  return { times, statuses };
}

async function probe(kind: ProbeKind, person: Person): Promise<number> {
  const { pair, username, password } = person;
  switch (kind) {
    case 'graph':
      return (await post('/graphql', { query: '{folder{name}}' }, pair.authToken)).status;
    case 'login':
      return (await post('/login', { username, password })).status;
    case 'verify':
      return (await post('/login/verify', { authToken: pair.authToken })).status;
    case 'refresh': {
      const { refreshToken } = pair;
      const { status, text } = await post('/login/refresh', { refreshToken }, pair.authToken);
      if (status === 200) person.pair = JSON.parse(text) as LoginResponse;
      return status;
    }
  }
}

/** Not by `fetch`, which gives up after five minutes: a storm may last longer where others work too. */
async function post(
  path: string,
  body: unknown,
  authToken?: string,
): Promise<{ status: number; text: string }> {
  const sending = request(url + path, {
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json',
      ...(authToken && { authorization: `Bearer ${authToken}` }),
    },
  });
  sending.end(JSON.stringify(body));
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const chunks = (await response.toArray()) as Buffer[];
  return { status: response.statusCode!, text: Buffer.concat(chunks).toString() };
}
