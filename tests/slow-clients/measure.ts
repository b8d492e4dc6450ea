/**
 * `npm run measure:slow-clients -- --clients 1000 --rounds 5`: what others notice of slow clients. Rounds without and
 * with them take turns, so that whatever else the machine does is in both. Fails if a request of the others fails, or
 * if a slow client is not cut in the end.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicroseconds } from '../../bench/processes.ts';
import { sqlite } from '../support/databases.ts';
import { ApiClient } from '../support/api-client.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { SlowCrowd, slowManners } from './slow-crowd.ts';

const values = parseScriptOptions(
  'npm run measure:slow-clients -- [--clients 1000] [--rounds 5] [--requests 400] [--every-seconds 3]\n\nWhat others notice of clients that send a byte every few seconds.',
  ['clients', 'rounds', 'requests', 'every-seconds'],
);
const clients = Number(values.clients ?? 1_000);
const rounds = Number(values.rounds ?? 5);
const requests = Number(values.requests ?? 400);
const everyMs = Number(values['every-seconds'] ?? 3) * 1000;
const atOnce = 4;
const quietMs = 4_000;

const database = await sqlite.create();
const node = await NodeProcess.start({
  databaseUrl: database.url,
  settings: { DEMO: 'true', LOG_LEVEL: 'error' },
});
try {
  const api = new ApiClient(node.url);
  const authToken = await api.logIn(administrator);
  const crowdOptions = { clients, everyMs, manners: slowManners(authToken) };
  const without: number[] = [];
  const withThem: number[] = [];
  const cpu = { without: 0, withThem: 0 };
  await serve(api, authToken);

  for (let round = 0; round < rounds; round++) {
    without.push(...(await serve(api, authToken)));
    cpu.without += await quietCpu();
    const crowd = await SlowCrowd.open(node.url, crowdOptions);
    withThem.push(...(await serve(api, authToken)));
    cpu.withThem += await quietCpu();
    const there = crowd.openCount;
    crowd.close();
    console.log(`round ${round + 1} of ${rounds}: ${there} of ${clients} slow clients were there to its end`);
  }

  const began = performance.now();
  const crowd = await SlowCrowd.open(node.url, crowdOptions);
  const ends = await Promise.all(crowd.ends);
  crowd.close();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const counts = [...new Set(ends)].map((end) => `${ends.filter((each) => each === end).length} × ${end}`);

  console.log(
    `\n${clients} slow clients, a byte every ${everyMs / 1000} s; ${without.length} requests without them, ${withThem.length} with them, ${atOnce} at a time: all answered well.`,
  );
  console.log(`without: p50 ${at(without, 0.5)} ms, p95 ${at(without, 0.95)} ms`);
  console.log(`with:    p50 ${at(withThem, 0.5)} ms, p95 ${at(withThem, 0.95)} ms`);
  const share = (ms: number) => `${((100 * ms) / (rounds * quietMs)).toFixed(1)} %`;
  console.log(
    `CPU of the server while nobody else asks: without ${share(cpu.without)} of a core, with ${share(cpu.withThem)}.`,
  );
  console.log(`All were cut after ${seconds} s: ${counts.join(', ')}.`);
} finally {
  await node.stop();
  await database.remove();
}

/** The milliseconds of each; whatever is not answered well ends the measurement. */
async function serve(api: ApiClient, authToken: string): Promise<number[]> {
  const times: number[] = [];
  const one = async () => {
    for (let count = 0; count < requests / atOnce; count++) {
      const began = performance.now();
      await api.query('{folder{name folders{edges{node{name}}}}}', {}, authToken);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return times;
}

/** Milliseconds that the server uses while nobody but slow clients is there. */
async function quietCpu(): Promise<number> {
  const before = cpuMicroseconds(node.pid);
  await sleep(quietMs);
  return (cpuMicroseconds(node.pid) - before) / 1000;
}

function at(times: number[], share: number): string {
  return times.toSorted((a, b) => a - b)[Math.floor(share * times.length)]!.toFixed(2);
}
