/**
 * Sends a million hostile requests to a server in its own process: `npm run lab -- fuzz-million --seed N
 * --requests N`. Prints the outcomes and the memory use of the server. Fails if a fault occurred.
 */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../../bench/child.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { HostileConnections } from './hostile-connection.ts';
import type { HostileRequest, Materials } from './hostile-request.ts';
import { hostileRequests } from './hostile-requests.ts';
import { checkResponses } from './check-responses.ts';
import type { Condition, TargetInput } from './serve-target.ts';
import { OutcomeCounts } from './outcome-counts.ts';
import { Target } from './target.ts';

const concurrency = 64;
/** The number of requests between two checks of the server. The requests after a check use new tokens. */
const requestsPerCheck = 5_000;
/**
 * The memory baseline is measured after this share of the requests, but not before `minBefore` requests, because
 * caches fill and code is compiled first. Shorter runs do not measure memory.
 */
const baselineShare = 0.05;
const minBefore = 30_000;
const maxGrowth = 0.2;

const values = parseScriptOptions(
  'npm run lab -- fuzz-million [--seed 1] [--requests 1000000]\n\nSends damaged requests of every kind to one server. It must not respond with 5xx, crash, or use more and more memory.',
  ['seed', 'requests'],
);
const seed = Number(values.seed ?? 1);
const total = Number(values.requests ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'espalier-million-'));
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort(new Error('Interrupted.')));

const child = new Child({
  file: new URL('serve-target.ts', import.meta.url).href,
  execArgv: ['--expose-gc'],
  signal: interrupted.signal,
});
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await child.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<boolean> {
  const warden = { username: 'warden', password: `correct horse ${randomUUID()}` };
  const url = await child.call<string>('start', { folder, warden } satisfies TargetInput);
  const target = new Target(url, warden);
  const connections = new HostileConnections(url);
  const requests = hostileRequests(seed);
  const counts = new OutcomeCounts(total);
  const before = Math.max(total * baselineShare, minBefore);
  const baselineAt = Math.ceil(before / requestsPerCheck) * requestsPerCheck;
  let baseline: Condition | undefined;
  for (let sent = 0; sent < total; sent += requestsPerCheck) {
    interrupted.signal.throwIfAborted();
    const materials = await target.prepareMaterials();
    await sendMany(requests, Math.min(requestsPerCheck, total - sent), { connections, materials, counts });
    await target.checkAllWorks();
    if (sent + requestsPerCheck === baselineAt) baseline = await readCondition(connections);
    counts.progress();
  }
  await target.checkTree();
  const end = await readCondition(connections);
  return report(counts, baseline ?? end, end);
}

/** Closes our connections first, because the memory that they use is not a leak. */
async function readCondition(connections: HostileConnections): Promise<Condition> {
  connections.close();
  return child.call<Condition>('condition');
}

async function sendMany(
  requests: Generator<HostileRequest, never>,
  count: number,
  {
    connections,
    materials,
    counts,
  }: { connections: HostileConnections; materials: Materials; counts: OutcomeCounts },
): Promise<void> {
  let left = count;
  const sendSome = async () => {
    while (left-- > 0 && !interrupted.signal.aborted) {
      const request = requests.next().value;
      try {
        const responses = await connections.send(request, materials);
        counts.count(request, responses);
        checkResponses(responses, materials);
      } catch (error) {
        counts.countFault(request, error as Error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendSome));
}

/** Returns whether no fault occurred. */
function report(counts: OutcomeCounts, baseline: Condition, end: Condition): boolean {
  const growth = end.heapBytes / baseline.heapBytes - 1;
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  console.log(`seed ${seed}: ${counts.summary}`);
  console.log(counts.table);
  console.log(`responses of 500 and above: ${counts.serverErrors}`);
  console.log(`other faults found in responses: ${counts.faults.length - counts.serverErrors}`);
  // All requests went to this one process. It still responds, so it never crashed.
  console.log(`the server never crashed; unhandled errors: ${end.unhandled}; all errors: ${end.faultCount}`);
  console.log(
    `heap after collection: ${megabytes(baseline.heapBytes)} at first, ${megabytes(end.heapBytes)} at the end (${(growth * 100).toFixed(1)}%); resident ${megabytes(baseline.residentBytes)}, ${megabytes(end.residentBytes)}`,
  );
  for (const fault of [...counts.faults.slice(0, 10), ...end.faults]) console.log(fault);
  return counts.faults.length + end.unhandled + end.faultCount === 0 && growth <= maxGrowth;
}
