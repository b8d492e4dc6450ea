/** Probes the health of nodes. */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from './exchange.ts';
import type { Tally } from './tally.ts';

const readyTimeoutMs = 15_000;
const probeIntervalMs = 100;
const responseTimeoutMs = 10_000;

export interface ProbeResult {
  /** 0 without a response. */
  readonly status: number;
  readonly retryAfter: string | undefined;
}

export async function probe(url: string, path: '/livez' | '/readyz'): Promise<ProbeResult> {
  const answer = await exchange(new Agent(), { method: 'GET', url: url + path }, responseTimeoutMs);
  if (typeof answer === 'string') return { status: 0, retryAfter: undefined };
  return { status: answer.status, retryAfter: answer.headers['retry-after'] };
}

/** Waits until all nodes are ready. Returns whether they are. */
export async function waitUntilReady(urls: readonly string[], tally: Tally): Promise<boolean> {
  const began = performance.now();
  const areReady = await Promise.all(
    urls.map(async (url) => {
      while ((await probe(url, '/readyz')).status !== 200) {
        if (performance.now() - began > readyTimeoutMs) {
          tally.reportViolation(`${url} is not ready after ${readyTimeoutMs} ms`);
          return false;
        }
        await sleep(probeIntervalMs);
      }
      tally.time('getting ready again', performance.now() - began);
      return true;
    }),
  );
  return areReady.every(Boolean);
}
