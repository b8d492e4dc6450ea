/**
 * A client for nodes and databases that fail and recover. Without a response, or with 503, the outcome of a request is
 * unknown and the client retries at another node.
 * It checks every response: 500 is a violation, and a 503 needs Retry-After.
 */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem } from '@espalier/contract';
import type { GraphBody, Variables } from '../../../support/graph-testbed.ts';
import type { Cluster } from '../cluster.ts';
import { exchange, type HttpResponse } from '../exchange.ts';
import type { Random } from '../random.ts';
import type { Tally } from '../tally.ts';

export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /**
   * The request may or may not have been executed. If `isRetryable` is false, the client must check before it retries.
   */
  | { readonly kind: 'unknown'; readonly message: string; readonly isRetryable: boolean };

export type UnknownOutcome = Extract<Outcome<never>, { kind: 'unknown' }>;

export interface Account {
  readonly userId: string;
  readonly authToken: string;
}

export interface ChaosWorld {
  readonly cluster: Cluster;
  readonly tally: Tally;
  /** When each change of a folder was acknowledged, by journal number. */
  readonly acknowledgedAt: Map<number, number>;
  /** Aborts when the load ends. */
  readonly signal: AbortSignal;
}

const responseTimeoutMs = 40_000;
const retryForMs = 120_000;
const pauseMs = 60;
const maxBackOffMs = 300;

export class ChaosClient {
  readonly name: string;
  readonly random: Random;
  readonly world: ChaosWorld;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(world: ChaosWorld, name: string, random: Random) {
    this.world = world;
    this.name = name;
    this.random = random;
  }

  get isOver(): boolean {
    return this.world.signal.aborted;
  }

  close(): void {
    this.#agent.destroy();
  }

  reportViolation(text: string): void {
    this.world.tally.reportViolation(`${this.name}: ${text}`);
  }

  async pause(maxMs = pauseMs): Promise<void> {
    await sleep(this.random.between(1, maxMs));
  }

  /** Waits before a retry. */
  async backOff(): Promise<void> {
    await sleep(this.random.between(50, maxBackOffMs));
  }

  /** Sends to the node at `url`, by default to a random node. */
  async post<T>(
    path: string,
    value: unknown,
    { authToken, url }: { authToken?: string; url?: string } = {},
  ): Promise<Outcome<T>> {
    const answer = await this.#send(path, value, authToken, url);
    if (typeof answer === 'string') return { kind: 'unknown', message: answer, isRetryable: false };
    if (answer.status < 300) {
      return { kind: 'done', value: (answer.text === '' ? undefined : JSON.parse(answer.text)) as T };
    }
    const { code, detail } = JSON.parse(answer.text) as Problem;
    return this.#classify(answer, code, detail);
  }

  async graph<Data>(
    query: string,
    variables: Variables,
    { authToken, url }: { authToken: string; url?: string },
  ): Promise<Outcome<Data>> {
    const answer = await this.#send('/graphql', { query, variables }, authToken, url);
    if (typeof answer === 'string') return { kind: 'unknown', message: answer, isRetryable: false };
    const { data, errors } = JSON.parse(answer.text) as GraphBody<Data>;
    if (answer.status === 200 && !errors) return { kind: 'done', value: data! };
    const [error] = errors!;
    return this.#classify(answer, error!.extensions.code, error!.message);
  }

  /** Retries until the outcome is known. */
  async retryUntilKnown<T>(
    attempt: () => Promise<Outcome<T>>,
  ): Promise<Exclude<Outcome<T>, { kind: 'unknown' }>> {
    const began = performance.now();
    for (;;) {
      const outcome = await attempt();
      if (outcome.kind !== 'unknown') return outcome;
      if (performance.now() - began > retryForMs) {
        throw new Error(`${this.name} gave up after ${retryForMs} ms: ${outcome.message}`);
      }
      await this.backOff();
    }
  }

  /** Retries until the request succeeds. A refusal throws, which is a violation and ends this client. */
  async retryUntilDone<T>(attempt: () => Promise<Outcome<T>>): Promise<T> {
    const outcome = await this.retryUntilKnown(attempt);
    if (outcome.kind === 'done') return outcome.value;
    throw new Error(`${this.name} was refused: ${outcome.code} ${outcome.message}`);
  }

  async query<Data>(query: string, variables: Variables, authToken: string, url?: string): Promise<Data> {
    return this.retryUntilDone(() => this.graph<Data>(query, variables, { authToken, ...(url && { url }) }));
  }

  async #send(
    path: string,
    value: unknown,
    authToken: string | undefined,
    nodeUrl: string | undefined,
  ): Promise<HttpResponse | string> {
    const { tally, cluster } = this.world;
    const url = nodeUrl ?? this.random.pick(cluster.urls);
    if (url === undefined) return 'There is no node.';
    tally.count('requests');
    const began = performance.now();
    const answer = await exchange(
      this.#agent,
      {
        method: 'POST',
        url: url + path,
        headers: {
          'content-type': 'application/json',
          ...(authToken && { authorization: `Bearer ${authToken}` }),
        },
        body: JSON.stringify(value),
      },
      responseTimeoutMs,
    );
    const tookMs = performance.now() - began;
    if (typeof answer !== 'string') {
      tally.time(`an answer with ${answer.status}`, tookMs);
      tally.count(`answers with ${answer.status}`);
      return answer;
    }
    tally.count(`requests that were ${answer}`);
    if (answer === 'late') this.reportViolation(`${path} was not answered within ${responseTimeoutMs} ms`);
    return answer;
  }

  #classify(answer: HttpResponse, code: string, message: string): Outcome<never> {
    const { status, headers, text } = answer;
    const isBug = code === 'INTERNAL' || status === 500;
    if (isBug) this.reportViolation(`${status} ${text}`);
    if (status === 503 && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) {
      this.reportViolation(`503 without Retry-After: ${text}`);
    }
    const isKnown = !isBug && code !== 'UNAVAILABLE' && status < 500;
    if (isKnown) return { kind: 'refused', code, message };
    return { kind: 'unknown', message, isRetryable: status === 503 && !/(Look|Check) before/.test(message) };
  }
}
