/**
 * Runs as a child process: sends requests and measures each. One process creates the storm and another one measures, so
 * that handling the responses of the storm does not distort the measurement.
 */

import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../support/api-client.ts';
import { serveParent } from '../../bench/child-handlers.ts';

export interface JoinInput {
  readonly url: string;
  readonly people: readonly Credentials[];
}

/** Sends requests of each kind one after the other until `end`. */
export interface ProbeInput {
  readonly kinds: readonly ProbeKind[];
}

export type ProbeKind = 'graph' | 'login' | 'refresh' | 'verify';

/** The duration of each response and the number of responses by status. */
export interface ProbeResults {
  readonly times: Readonly<Record<ProbeKind, readonly number[]>>;
  readonly statuses: Readonly<Record<string, number>>;
}

export interface BurstInput {
  /** The queries to send in turn. The next user sends each one. */
  readonly queries: readonly string[];
  /** The number of logins if there are no queries. */
  readonly count: number;
}

export interface Burst {
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses with status 200 that contain errors. */
  readonly errors: readonly string[];
  readonly lastMs: number;
}

interface Person extends Credentials {
  tokens: LoginResponse;
}

const pauseMs = 5;
const agent = new Agent({ keepAlive: true });
let url = '';
let people: Person[] = [];
let isProbing = false;
let probing: Promise<ProbeResults> | undefined;

serveParent(
  {
    async join(input: JoinInput): Promise<void> {
      url = input.url;
      people = [];
      for (const person of input.people) {
        const tokens = JSON.parse((await post('/login', person)).text) as LoginResponse;
        people.push({ ...person, tokens });
      }
    },

    begin({ kinds }: ProbeInput): void {
      isProbing = true;
      probing = probeRepeatedly(kinds);
    },

    end(): Promise<ProbeResults> {
      isProbing = false;
      return probing!;
    },

    async burst({ queries, count }: BurstInput): Promise<Burst> {
      const start = performance.now();
      const statuses: Record<string, number> = {};
      const errors: string[] = [];
      let lastMs = 0;
      const sendOne = async (index: number) => {
        const { tokens, ...credentials } = people[index % people.length]!;
        const query = queries[index % queries.length];
        const { status, text } = query
          ? await post('/graphql', { query }, tokens.authToken)
          : await post('/login', credentials);
        lastMs = performance.now() - start;
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 200 && query && text.startsWith('{"errors"')) errors.push(text.slice(0, 300));
      };
      await Promise.all(Array.from({ length: count }, (_, index) => sendOne(index)));
      return { statuses, errors, lastMs };
    },
  },
  () => undefined,
);

/** Each kind has its own loop with a short pause, so that slow requests do not hide fast ones. */
async function probeRepeatedly(kinds: readonly ProbeKind[]): Promise<ProbeResults> {
  const times: Record<ProbeKind, number[]> = { graph: [], login: [], refresh: [], verify: [] };
  const statuses: Record<string, number> = {};
  const loop = async (kind: ProbeKind, person: Person) => {
    do {
      const start = performance.now();
      const status = await probe(kind, person);
      times[kind].push(performance.now() - start);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(pauseMs);
    } while (isProbing);
  };
  await Promise.all(kinds.map((kind, index) => loop(kind, people[index % people.length]!)));
  return { times, statuses };
}

async function probe(kind: ProbeKind, person: Person): Promise<number> {
  const { tokens, username, password } = person;
  switch (kind) {
    case 'graph':
      return (await post('/graphql', { query: '{folder{name}}' }, tokens.authToken)).status;
    case 'login':
      return (await post('/login', { username, password })).status;
    case 'verify':
      return (await post('/login/verify', { authToken: tokens.authToken })).status;
    case 'refresh': {
      const { refreshToken } = tokens;
      const { status, text } = await post('/login/refresh', { refreshToken }, tokens.authToken);
      if (status === 200) person.tokens = JSON.parse(text) as LoginResponse;
      return status;
    }
  }
}

/** Does not use `fetch`, which times out after five minutes. A storm may last longer on a busy machine. */
async function post(
  path: string,
  body: unknown,
  authToken?: string,
): Promise<{ status: number; text: string }> {
  const clientRequest = request(url + path, {
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json',
      ...(authToken && { authorization: `Bearer ${authToken}` }),
    },
  });
  clientRequest.end(JSON.stringify(body));
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  const chunks = (await response.toArray()) as Buffer[];
  return { status: response.statusCode!, text: Buffer.concat(chunks).toString() };
}
