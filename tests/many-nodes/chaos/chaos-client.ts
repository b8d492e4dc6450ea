/**
 * A client that is used to nodes and databases that come and go: what is not answered, or with 503, is not known, and
 * tried at another node. It judges every answer: 500 is never right, and a 503 says when to come back.
 */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem } from '@espalier/contract';
import type { GraphBody, Variables } from '../../graph-bed.ts';
import type { Cluster } from './cluster.ts';
import { exchange, type Answer } from './exchange.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: string; readonly says: string }
  /** It may have been done or not; unless it is to be looked at first, it may be tried again. */
  | { readonly kind: 'unknown'; readonly says: string; readonly isForRetry: boolean };

export type Unknown = Extract<Outcome<never>, { kind: 'unknown' }>;

export interface Account {
  readonly userId: string;
  readonly authToken: string;
}

export interface ChaosWorld {
  readonly cluster: Cluster;
  readonly tally: Tally;
  /** When which change of a folder was acknowledged, by its number in the journal. */
  readonly doneAt: Map<number, number>;
  /** When the load ends. */
  readonly signal: AbortSignal;
}

const answerWithinMs = 40_000;
const insistForMs = 120_000;
const pauseMs = 60;
const longestBackOffMs = 300;

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

  violation(text: string): void {
    this.world.tally.violation(`${this.name}: ${text}`);
  }

  async pause(mostMs = pauseMs): Promise<void> {
    await sleep(this.random.between(1, mostMs));
  }

  /** Before it is tried again what could not be done. */
  async backOff(): Promise<void> {
    await sleep(this.random.between(50, longestBackOffMs));
  }

  /** To a node, or to any. */
  async post<T>(
    path: string,
    value: unknown,
    { authToken, url }: { authToken?: string; url?: string } = {},
  ): Promise<Outcome<T>> {
    const answer = await this.#send(path, value, authToken, url);
    if (typeof answer === 'string') return { kind: 'unknown', says: answer, isForRetry: false };
    if (answer.status < 300) {
      return { kind: 'done', value: (answer.text === '' ? undefined : JSON.parse(answer.text)) as T };
    }
    const { code, detail } = JSON.parse(answer.text) as Problem;
    return this.#judged(answer, code, detail);
  }

  async graph<Data>(
    query: string,
    variables: Variables,
    { authToken, url }: { authToken: string; url?: string },
  ): Promise<Outcome<Data>> {
    const answer = await this.#send('/graphql', { query, variables }, authToken, url);
    if (typeof answer === 'string') return { kind: 'unknown', says: answer, isForRetry: false };
    const { data, errors } = JSON.parse(answer.text) as GraphBody<Data>;
    if (answer.status === 200 && !errors) return { kind: 'done', value: data! };
    const [error] = errors!;
    return this.#judged(answer, error!.extensions.code, error!.message);
  }

  /** Tries until it is known. */
  async insist<T>(attempt: () => Promise<Outcome<T>>): Promise<Exclude<Outcome<T>, { kind: 'unknown' }>> {
    const began = performance.now();
    for (;;) {
      const outcome = await attempt();
      if (outcome.kind !== 'unknown') return outcome;
      if (performance.now() - began > insistForMs) {
        throw new Error(`${this.name} gave up after ${insistForMs} ms: ${outcome.says}`);
      }
      await this.backOff();
    }
  }

  /** Tries until it is done; a refusal is a violation, and the end of this client. */
  async insistOn<T>(attempt: () => Promise<Outcome<T>>): Promise<T> {
    const outcome = await this.insist(attempt);
    if (outcome.kind === 'done') return outcome.value;
    throw new Error(`${this.name} was refused: ${outcome.code} ${outcome.says}`);
  }

  async ask<Data>(query: string, variables: Variables, authToken: string, url?: string): Promise<Data> {
    return this.insistOn(() => this.graph<Data>(query, variables, { authToken, ...(url && { url }) }));
  }

  async #send(
    path: string,
    value: unknown,
    authToken: string | undefined,
    given: string | undefined,
  ): Promise<Answer | string> {
    const { tally, cluster } = this.world;
    const url = given ?? this.random.pick(cluster.urls);
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
      answerWithinMs,
    );
    const tookMs = performance.now() - began;
    if (typeof answer !== 'string') {
      tally.time(`an answer with ${answer.status}`, tookMs);
      tally.count(`answers with ${answer.status}`);
      return answer;
    }
    tally.count(`requests that were ${answer}`);
    if (answer === 'late') this.violation(`${path} was not answered within ${answerWithinMs} ms`);
    return answer;
  }

  #judged(answer: Answer, code: string, says: string): Outcome<never> {
    const { status, headers, text } = answer;
    const isBug = code === 'INTERNAL' || status === 500;
    if (isBug) this.violation(`${status} ${text}`);
    if (status === 503 && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) {
      this.violation(`503 without Retry-After: ${text}`);
    }
    const isKnown = !isBug && code !== 'UNAVAILABLE' && status < 500;
    if (isKnown) return { kind: 'refused', code, says };
    return { kind: 'unknown', says, isForRetry: status === 503 && !says.includes('Look before') };
  }
}
