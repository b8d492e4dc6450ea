/**
 * A million hostile requests to a server in a process of its own: `npm run fuzz:million -- --seed N --requests N`. Tells
 * how they were answered, and what it did to the server's memory; fails if anything happened that must not.
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
import { judge } from './judge.ts';
import type { Condition, TargetInput } from './serve-target.ts';
import { Tally } from './tally.ts';
import { Target } from './target.ts';

const atATime = 64;
/** Between two looks at whether all works; also when the attackers get fresh tokens. */
const betweenChecks = 5_000;
/** Of all, but not before caches are full and what is used is compiled: shorter runs say nothing about memory. */
const baselineShare = 0.05;
const fewestBefore = 30_000;
const mostGrowth = 0.2;

const values = parseScriptOptions(
  'npm run fuzz:million -- [--seed 1] [--requests 1000000]\n\nDamaged requests of every kind to one server: no 5xx, no crash, no growth of memory.',
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
  const tally = new Tally(total);
  const before = Math.max(total * baselineShare, fewestBefore);
  const baselineAt = Math.ceil(before / betweenChecks) * betweenChecks;
  let baseline: Condition | undefined;
  for (let sent = 0; sent < total; sent += betweenChecks) {
    interrupted.signal.throwIfAborted();
    const materials = await target.materials();
    await sendMany(requests, Math.min(betweenChecks, total - sent), { connections, materials, tally });
    await target.checkAllWorks();
    if (sent + betweenChecks === baselineAt) baseline = await conditionOf(connections);
    tally.progress();
  }
  await target.checkTree();
  const end = await conditionOf(connections);
  return report(tally, baseline ?? end, end);
}

/** Without connections of ours: they are in use, and not what has grown. */
async function conditionOf(connections: HostileConnections): Promise<Condition> {
  connections.close();
  return child.call<Condition>('condition');
}

async function sendMany(
  requests: Generator<HostileRequest, never>,
  count: number,
  { connections, materials, tally }: { connections: HostileConnections; materials: Materials; tally: Tally },
): Promise<void> {
  let left = count;
  const sendSome = async () => {
    while (left-- > 0 && !interrupted.signal.aborted) {
      const request = requests.next().value;
      try {
        const answers = await connections.send(request, materials);
        tally.count(request, answers);
        judge(answers, materials);
      } catch (error) {
        tally.countFault(request, error as Error);
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, sendSome));
}

/** Answers whether all went well. */
function report(tally: Tally, baseline: Condition, end: Condition): boolean {
  const growth = end.heapBytes / baseline.heapBytes - 1;
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  console.log(`seed ${seed}: ${tally.summary}`);
  console.log(tally.table);
  console.log(`answers of 500 and above: ${tally.serverErrors}`);
  console.log(`other faults found in answers: ${tally.faults.length - tally.serverErrors}`);
  // A process that had crashed would not have been there to be asked: there is one for all requests, and no other.
  console.log(`one process all along; unhandled: ${end.unhandled}; errors logged: ${end.faultCount}`);
  console.log(
    `heap after collection: ${megabytes(baseline.heapBytes)} at first, ${megabytes(end.heapBytes)} at the end (${(growth * 100).toFixed(1)}%); resident ${megabytes(baseline.residentBytes)}, ${megabytes(end.residentBytes)}`,
  );
  for (const fault of [...tally.faults.slice(0, 10), ...end.faults]) console.log(fault);
  return tally.faults.length + end.unhandled + end.faultCount === 0 && growth <= mostGrowth;
}
