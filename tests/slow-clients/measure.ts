/**
 * `npm run lab -- slow-clients --clients 1000 --rounds 5`: measures how slow clients affect other clients.
 * Rounds without and with slow clients alternate, so that other load affects both. Fails if a request of
 * another client fails. In the end, waits until the server has disconnected every slow client.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readCpuMicroseconds } from '../../bench/processes.ts';
import { sqlite } from '../support/databases.ts';
import { ApiClient } from '../support/api-client.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { SlowCrowd, slowBehaviors } from './slow-crowd.ts';

const values = parseScriptOptions(
  'npm run lab -- slow-clients [--clients 1000] [--rounds 5] [--requests 400] [--every-seconds 3]\n\nMeasures how clients that send one byte every few seconds affect other clients.',
  ['clients', 'rounds', 'requests', 'every-seconds'],
);
const clients = Number(values.clients ?? 1_000);
const rounds = Number(values.rounds ?? 5);
const requests = Number(values.requests ?? 400);
const intervalMs = Number(values['every-seconds'] ?? 3) * 1000;
const concurrency = 4;
const quietMs = 4_000;

const database = await sqlite.create();
const node = await NodeProcess.start({
  databaseUrl: database.url,
  settings: { DEMO: 'true', LOG_LEVEL: 'error' },
});
try {
  const api = new ApiClient(node.url);
  const authToken = await api.logIn(administrator);
  const crowdOptions = { clients, everyMs: intervalMs, behaviors: slowBehaviors(authToken) };
  const timesWithout: number[] = [];
  const timesWith: number[] = [];
  const cpu = { without: 0, withThem: 0 };
  await measureRequests(api, authToken);

  for (let round = 0; round < rounds; round++) {
    timesWithout.push(...(await measureRequests(api, authToken)));
    cpu.without += await measureQuietCpu();
    const crowd = await SlowCrowd.open(node.url, crowdOptions);
    timesWith.push(...(await measureRequests(api, authToken)));
    cpu.withThem += await measureQuietCpu();
    const connectedCount = crowd.openCount;
    crowd.close();
    console.log(
      `round ${round + 1} of ${rounds}: ${connectedCount} of ${clients} slow clients were still connected at its end`,
    );
  }

  const began = performance.now();
  const crowd = await SlowCrowd.open(node.url, crowdOptions);
  const ends = await Promise.all(crowd.ends);
  crowd.close();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const counts = [...new Set(ends)].map((end) => `${ends.filter((each) => each === end).length} × ${end}`);

  console.log(
    `\n${clients} slow clients, a byte every ${intervalMs / 1000} s; ${timesWithout.length} requests without them, ${timesWith.length} with them, ${concurrency} at a time: all succeeded.`,
  );
  console.log(
    `without: p50 ${formatPercentile(timesWithout, 0.5)} ms, p95 ${formatPercentile(timesWithout, 0.95)} ms`,
  );
  console.log(
    `with:    p50 ${formatPercentile(timesWith, 0.5)} ms, p95 ${formatPercentile(timesWith, 0.95)} ms`,
  );
  const share = (ms: number) => `${((100 * ms) / (rounds * quietMs)).toFixed(1)} %`;
  console.log(
    `CPU of the server without other requests: without ${share(cpu.without)} of a core, with ${share(cpu.withThem)}.`,
  );
  console.log(`The server disconnected all slow clients within ${seconds} s: ${counts.join(', ')}.`);
} finally {
  await node.stop();
  await database.remove();
}

/** Returns the duration of each request. A failed request ends the measurement. */
async function measureRequests(api: ApiClient, authToken: string): Promise<number[]> {
  const times: number[] = [];
  const sendRequests = async () => {
    for (let count = 0; count < requests / concurrency; count++) {
      const began = performance.now();
      await api.query('{folder{name folders{edges{node{name}}}}}', {}, authToken);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendRequests));
  return times;
}

/** Returns the CPU milliseconds of the server while only slow clients are connected. */
async function measureQuietCpu(): Promise<number> {
  const before = readCpuMicroseconds(node.pid);
  await sleep(quietMs);
  return (readCpuMicroseconds(node.pid) - before) / 1000;
}

function formatPercentile(times: number[], share: number): string {
  return times.toSorted((a, b) => a - b)[Math.floor(share * times.length)]!.toFixed(2);
}
