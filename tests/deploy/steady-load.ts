/**
 * Clients that send queries, changes, logins, refreshes and token checks through a proxy, at a steady rate over
 * persistent connections. They retry only after a 503 or a closed connection. Any other failure is a violation.
 */

import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginResponse } from '@espalier/contract';
import { administrator } from '../many-nodes/node-process.ts';
import type { Tally } from '../many-nodes/chaos/tally.ts';

interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

interface RequestInput {
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const responseTimeoutMs = 30_000;
const maxAttempts = 20;
const retryDelayMs = 100;
/** The number of clients of each kind, and the pause of each client after a request. */
const clientCounts = { readers: 3, writers: 3, visitors: 1, refreshers: 2 };
const pauseMs = { readers: 60, writers: 150, visitors: 500, refreshers: 150 };

const create =
  'mutation($under:ID!,$name:String!){createFolder(input:{parentId:$under,name:$name}){folder{name}}}';

export class SteadyLoad {
  /** The names of the folders whose creation the server has acknowledged. */
  readonly createdNames: string[] = [];
  readonly #url: string;
  readonly #parentId: string;
  readonly #tally: Tally;
  readonly #ending = new AbortController();
  readonly #agents: Agent[] = [];
  #work: Promise<unknown> = Promise.resolve();

  /** The load creates folders in the folder with the id `parentId`. */
  constructor(url: string, parentId: string, tally: Tally) {
    this.#url = url;
    this.#parentId = parentId;
    this.#tally = tally;
  }

  begin(): void {
    const work = {
      readers: this.#read.bind(this),
      writers: this.#write.bind(this),
      visitors: this.#visit.bind(this),
      refreshers: this.#refreshRepeatedly.bind(this),
    };
    const workers = Object.entries(clientCounts).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        this.#agents.push(agent);
        const name = `${kind} ${index + 1}`;
        const pause = () => sleep(pauseMs[kind as keyof typeof clientCounts]);
        return work[kind as keyof typeof clientCounts]
          .call(this, agent, name, pause)
          .catch((error: unknown) => this.#tally.reportViolation(`${name}: ${(error as Error).message}`));
      }),
    );
    this.#work = Promise.all(workers);
  }

  /** Ends the load after the running requests. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#work;
    for (const agent of this.#agents) agent.destroy();
  }

  get #isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  async #read(agent: Agent, _name: string, pause: () => Promise<void>): Promise<void> {
    const { authToken } = await this.#logIn(agent);
    while (!this.#isOver) {
      await this.#graph(agent, authToken, 'query', { query: '{folder{name folders(first:20){totalCount}}}' });
      await pause();
    }
  }

  async #write(agent: Agent, worker: string, pause: () => Promise<void>): Promise<void> {
    const { authToken } = await this.#logIn(agent);
    for (let count = 0; !this.#isOver; count++) {
      const name = `${worker}, ${count}`;
      const body = { query: create, variables: { under: this.#parentId, name } };
      await this.#graph(agent, authToken, 'mutation', body, { 'idempotency-key': randomUUID() });
      this.createdNames.push(name);
      await pause();
    }
  }

  async #visit(agent: Agent, _name: string, pause: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await this.#logIn(agent);
      await pause();
    }
  }

  /** Refreshes the tokens of one session continuously. */
  async #refreshRepeatedly(agent: Agent, _name: string, pause: () => Promise<void>): Promise<void> {
    let tokens = await this.#logIn(agent);
    while (!this.#isOver) {
      const { authToken, refreshToken } = tokens;
      const headers = { authorization: `Bearer ${authToken}` };
      const input = { path: '/login/refresh', body: { refreshToken }, headers };
      tokens = JSON.parse(await this.#sendWithRetry(agent, 'refresh', input)) as LoginResponse;
      await this.#sendWithRetry(agent, 'verify', {
        path: '/login/verify',
        body: { authToken: tokens.authToken },
      });
      await pause();
    }
  }

  async #logIn(agent: Agent): Promise<LoginResponse> {
    const text = await this.#sendWithRetry(agent, 'login', { path: '/login', body: administrator });
    return JSON.parse(text) as LoginResponse;
  }

  async #graph(
    agent: Agent,
    authToken: string,
    kind: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const allHeaders = { ...headers, authorization: `Bearer ${authToken}` };
    const text = await this.#sendWithRetry(agent, kind, { path: '/graphql', body, headers: allHeaders });
    if ('errors' in (JSON.parse(text) as object)) throw new Error(`${kind}: ${text}`);
  }

  /** Sends a request again after a 503 or a closed connection, and throws on any other failure. */
  async #sendWithRetry(agent: Agent, kind: string, input: RequestInput): Promise<string> {
    for (let tries = 1; tries <= maxAttempts; tries++) {
      const response = await this.#exchange(agent, input);
      if (response === 'closed') {
        this.#tally.count('tried again: closed connection');
      } else if (response.status === 503) {
        this.#tally.count('tried again: 503');
        await sleep(retryDelayMs);
      } else if (response.status < 300) {
        this.#tally.count(`done: ${kind}`);
        return response.text;
      } else {
        throw new Error(`${kind} received status ${response.status}: ${response.text}`);
      }
    }
    throw new Error(`${kind} was tried ${maxAttempts} times`);
  }

  #exchange(agent: Agent, { path, body, headers }: RequestInput): Promise<HttpResponse | 'closed'> {
    return new Promise((resolve, reject) => {
      const options = {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        timeout: responseTimeoutMs,
      };
      const sending = request(this.#url + path, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => undefined);
        response.on('close', () => {
          const text = Buffer.concat(chunks).toString();
          resolve(response.complete ? { status: response.statusCode!, text } : 'closed');
        });
      });
      sending.on('timeout', () => {
        reject(new Error(`${path} received no response within ${responseTimeoutMs} ms`));
        sending.destroy();
      });
      sending.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve('closed') : reject(error),
      );
      sending.end(JSON.stringify(body));
    });
  }
}
