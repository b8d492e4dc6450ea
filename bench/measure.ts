/**
 * Measures the CPU time per request in rounds that alternate between the subjects, so that other work on the machine
 * affects all.
 */

import type { BaselineInput } from './baseline.ts';
import { Child } from './child.ts';
import type { Load, LoadResult } from './load.ts';
import { readFamilyCpuMicroseconds, loadCore, pinToCore, serverCore } from './processes.ts';
import { recordResponse, type BenchRequest, type RecordedResponse } from './request.ts';
import type { Bench, Series } from './scenario.ts';
import type { Site } from './site.ts';

/** Something that handles requests: the server of a site, or the baseline. */
export interface Subject {
  readonly label: string;
  /** Sends at least the given number of requests and waits for all responses. `done` is the exact number, if it is higher. */
  run(requests: number): Promise<LoadResult & { readonly done?: number }>;
  /** Fails if the last run had an unexpected result. The CPU time of this check is not measured. */
  check?(done: number): Promise<unknown>;
  /** Returns the CPU time since the start of the processes. */
  cpuMicroseconds(): number;
}

export interface Rounds {
  readonly label: string;
  /** CPU time per request, one value for each round. */
  readonly cpuMicroseconds: number[];
  readonly perSecond: number[];
}

/** CPU time of a round. The baseline has shorter rounds, because its CPU time varies less. */
const roundMicroseconds = 700_000;
const baselineMicroseconds = 350_000;
/** V8 optimizes the server's code for several seconds, and the short code of the baseline much sooner. */
const warmUpRounds = 6;
const warmUpStart = 50;
const minRequests = 5;
export const connections = 10;

interface WarmUp {
  readonly subject: Subject;
  readonly microseconds: number;
}

/** Measures the subjects in alternating rounds. The last subject must be the baseline. */
export async function measureInTurn(subjects: readonly Subject[], bench: Bench): Promise<Rounds[]> {
  const counts: number[] = [];
  for (const [index, subject] of subjects.entries()) {
    const isBaseline = index === subjects.length - 1;
    const microseconds = isBaseline ? baselineMicroseconds : roundMicroseconds;
    counts.push(await warmUp({ subject, microseconds }, bench));
  }
  const rounds = subjects.map(({ label }): Rounds => ({ label, cpuMicroseconds: [], perSecond: [] }));
  for (let round = 0; round < bench.rounds; round++) {
    const order = [...subjects.entries()];
    for (const [index, subject] of round % 2 === 0 ? order : order.toReversed()) {
      const { cpuMicroseconds, elapsedMs, done } = await runOnce(subject, counts[index]!, bench);
      rounds[index]!.cpuMicroseconds.push(cpuMicroseconds / done);
      rounds[index]!.perSecond.push((done / elapsedMs) * 1000);
    }
  }
  return rounds;
}

/** Sends requests until V8 has compiled the code. Returns the number of requests for a round. */
async function warmUp({ subject, microseconds }: WarmUp, bench: Bench): Promise<number> {
  const requestsInRound = (perRequest: number) =>
    Math.min(Math.max(minRequests, Math.floor(microseconds / perRequest)), bench.maxRequests);
  let requests = Math.min(warmUpStart, bench.maxRequests);
  for (let usedMicroseconds = 0; ;) {
    const { cpuMicroseconds, done } = await runOnce(subject, requests, bench);
    usedMicroseconds += cpuMicroseconds;
    const roundRequests = requestsInRound(cpuMicroseconds / done);
    if (usedMicroseconds > warmUpRounds * microseconds || requests >= bench.maxRequests) return roundRequests;
    requests = Math.min(roundRequests, requests * 8);
  }
}

async function runOnce(subject: Subject, requests: number, { signal }: Bench) {
  signal.throwIfAborted();
  const before = subject.cpuMicroseconds();
  const { elapsedMs, done = requests } = await subject.run(requests);
  const cpuMicroseconds = subject.cpuMicroseconds() - before;
  await subject.check?.(done);
  return { cpuMicroseconds, elapsedMs, done };
}

/** CPU time per request of each subject and of the baseline, for a result. */
export async function measureCpu(subjects: readonly Subject[], baseline: Subject, bench: Bench) {
  const rounds = await measureInTurn([...subjects, baseline], bench);
  const series = rounds.map(({ label, cpuMicroseconds }): Series => ({ label, values: cpuMicroseconds }));
  return { series: series.slice(0, -1), baseline: series.at(-1)! };
}

export interface SentRequest {
  readonly request: BenchRequest;
  readonly response: RecordedResponse;
}

/** Sends a request once and checks that it succeeds. */
export async function tryRequest(site: Site, request: BenchRequest): Promise<SentRequest> {
  const response = await recordResponse(site.url, request);
  if (response.status >= 300 || response.body.includes('"errors":')) {
    throw new Error(`${request.path} returned ${response.status} ${response.body.slice(0, 500)}`);
  }
  return { request, response };
}

type Variation = Pick<Load, 'isNumbered' | 'tokens'> & {
  readonly connections?: number;
  readonly slackBytes?: number;
};

/** Creates a subject that sends the recorded request. Without a variation, each response must equal the recorded one. */
export function createSiteSubject(
  label: string,
  site: Site,
  { request, response: { status, bytes, body } }: SentRequest,
  { load }: Bench,
  variation?: Variation,
): Subject {
  const { slackBytes = 0, ...loadOptions } = variation ?? {};
  const expected = variation ? { status, bytes, slackBytes } : { status, bytes, body };
  return {
    label,
    run: (requests) =>
      load.call('send', { url: site.url, request, requests, connections, expected, ...loadOptions }),
    cpuMicroseconds: () => site.cpuMicroseconds(),
  };
}

/** Starts a minimal `node:http` server that returns the recorded response. It replaces the previous baseline. */
export async function startBaselineSubject(
  { request, response }: SentRequest,
  { load, baseline }: Bench,
  passwordCheck?: BaselineInput['passwordCheck'],
): Promise<Subject> {
  const url = await baseline.call<string>('serve', { response, passwordCheck } satisfies BaselineInput);
  const { status, bytes, body } = response;
  const expected = { status, bytes, body };
  return {
    label: 'baseline',
    run: (requests) => load.call('send', { url, request, requests, connections, expected } satisfies Load),
    cpuMicroseconds: () => readFamilyCpuMicroseconds(baseline.pid),
  };
}

export function startLoad(signal: AbortSignal): Child {
  return startPinned('load.ts', loadCore, signal);
}

export function startBaseline(signal: AbortSignal): Child {
  return startPinned('baseline.ts', serverCore, signal);
}

function startPinned(file: string, core: number, signal: AbortSignal): Child {
  const child = new Child({ file, signal });
  pinToCore(child.pid, core);
  return child;
}
