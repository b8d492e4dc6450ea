/** Asks nodes how they are. */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from './exchange.ts';
import type { Tally } from './tally.ts';

const readyWithinMs = 15_000;
const askEveryMs = 100;
const answerWithinMs = 10_000;

export interface Probed {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly retryAfter: string | undefined;
}

export async function probe(url: string, path: '/livez' | '/readyz'): Promise<Probed> {
  const answer = await exchange(new Agent(), { method: 'GET', url: url + path }, answerWithinMs);
  if (typeof answer === 'string') return { status: 0, retryAfter: undefined };
  return { status: answer.status, retryAfter: answer.headers['retry-after'] };
}

/** All of them, by themselves. Answers whether they are. */
export async function untilReady(urls: readonly string[], tally: Tally): Promise<boolean> {
  const began = performance.now();
  const areReady = await Promise.all(
    urls.map(async (url) => {
      while ((await probe(url, '/readyz')).status !== 200) {
        if (performance.now() - began > readyWithinMs) {
          tally.violation(`${url} is not ready after ${readyWithinMs} ms`);
          return false;
        }
        await sleep(askEveryMs);
      }
      tally.time('getting ready again', performance.now() - began);
      return true;
    }),
  );
  return areReady.every(Boolean);
}
