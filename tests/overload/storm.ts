/**
 * Two storms: 200 users log in at the same time, and 100 of the most expensive queries arrive at the same
 * time. Measures how long other users wait, compared with the idle server in the same run. Fails if a request
 * outside a storm is refused.
 */

import { Child } from '../../bench/child.ts';
import type { Measure, Study, StudyOptions } from './study.ts';
import { ServerProcess } from '../measured-server/server-process.ts';
import type { ProbeResults, ProbeInput, Burst, BurstInput, JoinInput, ProbeKind } from './storm-client.ts';
import { createStormTree, stormQueries } from './storm-queries.ts';

const concurrentLogins = 200;
const concurrentQueries = 100;
const stormUserCount = 10;
const idleMs = 3_000;
/** A round takes one or two minutes, because the server produces a hundred of the largest responses. */
const maxRounds = 3;
const probes: readonly ProbeKind[] = ['graph', 'login', 'refresh', 'verify'];

export const storm: Study = {
  name: 'storm',
  about: 'how long other users wait during 200 logins or 100 expensive queries',
  async run(options) {
    const { signal } = options;
    const server = await ServerProcess.start(signal);
    const crowd = new Child({ file: '../tests/overload/storm-client.ts', signal });
    const visitor = new Child({ file: '../tests/overload/storm-client.ts', signal });
    try {
      return await new StormBench(server, crowd, visitor, options).run();
    } finally {
      await crowd.stop();
      await visitor.stop();
      await server.stop();
    }
  },
};

interface Phase extends ProbeResults {
  readonly burst: Burst | undefined;
  readonly longestPauseMs: number;
}

class StormBench {
  readonly #server: ServerProcess;
  readonly #crowd: Child;
  readonly #visitor: Child;
  readonly #options: StudyOptions;

  constructor(server: ServerProcess, crowd: Child, visitor: Child, options: StudyOptions) {
    this.#server = server;
    this.#crowd = crowd;
    this.#visitor = visitor;
    this.#options = options;
  }

  async run(): Promise<Measure[]> {
    const query = <Data>(query: string, variables?: Record<string, unknown>) =>
      this.#server.query<Data>(query, variables);
    await createStormTree(query);
    await this.#createUsers(this.#crowd, 'stormy', stormUserCount);
    await this.#createUsers(this.#visitor, 'visitor', probes.length);
    const singleMeasures = await this.#measureEachAlone();

    const queries = Object.values(stormQueries);
    const phases = {
      idle: [] as Phase[],
      logins: [] as Phase[],
      queries: [] as Phase[],
    };
    for (let round = 0; round < Math.min(this.#options.rounds, maxRounds); round++) {
      this.#options.note(`round ${round + 1} begins`);
      phases.idle.push(await this.#phase(probes));
      // Other logins would wait in the same queue, so they are not measured here.
      const otherProbes = probes.filter((kind) => kind !== 'login');
      phases.logins.push(await this.#phase(otherProbes, { queries: [], count: concurrentLogins }));
      phases.queries.push(await this.#phase(probes, { queries, count: concurrentQueries }));
    }
    return [
      ...singleMeasures,
      ...timesOf('when idle', phases.idle, probes),
      ...timesOf(`while ${concurrentLogins} logins queue`, phases.logins, ['graph', 'refresh', 'verify']),
      ...burstOf(`${concurrentLogins} logins`, phases.logins),
      ...timesOf(`while ${concurrentQueries} expensive queries run`, phases.queries, probes),
      ...burstOf(`${concurrentQueries} expensive queries`, phases.queries),
    ];
  }

  async #createUsers(client: Child, name: string, count: number): Promise<void> {
    const people = Array.from({ length: count }, (_, number) => ({
      username: `${name} ${number}`,
      password: `walnut cabin ${number}`,
    }));
    const query = 'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}';
    // Administrators see everything, so their responses are the most expensive.
    for (const person of people)
      await this.#server.query(query, { input: { ...person, isAdministrator: true } });
    await client.call('join', { url: this.#server.url, people } satisfies JoinInput);
  }

  /** Measures how long each expensive query blocks the server on its second run. */
  async #measureEachAlone(): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (const [name, query] of Object.entries(stormQueries)) {
      const singleQuery: BurstInput = { queries: [query], count: 1 };
      await this.#crowd.call<Burst>('burst', singleQuery);
      const { burst, longestPauseMs } = await this.#phase([], singleQuery);
      measures.push({ name: `${name}: answered alone`, unit: 'ms', values: [burst!.lastMs] });
      this.#options.note(`${name}: ${burst!.lastMs.toFixed(0)} ms, pause ${longestPauseMs.toFixed(0)} ms`);
      measures.push({ name: `${name}: longest pause`, unit: 'ms', values: [longestPauseMs] });
    }
    return measures;
  }

  async #phase(kinds: readonly ProbeKind[], input?: BurstInput): Promise<Phase> {
    await this.#server.usage();
    await this.#visitor.call('begin', { kinds } satisfies ProbeInput);
    const burst = input
      ? await this.#crowd.call<Burst>('burst', input)
      : await new Promise<undefined>((resolve) => setTimeout(resolve, idleMs, undefined));
    const results = await this.#visitor.call<ProbeResults>('end');
    const { longestPauseMs } = await this.#server.usage();
    const otherStatuses = Object.keys(results.statuses).filter((status) => !['200', '204'].includes(status));
    if (otherStatuses.length > 0)
      throw new Error(`Not every request outside the storm succeeded: ${JSON.stringify(results.statuses)}.`);
    if (burst?.errors[0]) throw new Error(`An expensive query was refused: ${burst.errors[0]}`);
    const p95 = kinds.map((kind) => `${kind} ${percentile(results.times[kind], 95).toFixed(0)} ms`);
    if (p95.length > 0)
      this.#options.note(
        `p95 ${p95.join(', ')}; ${input ? `${input.count} sent, ${burst!.lastMs.toFixed(0)} ms` : 'idle'}`,
      );
    return { ...results, burst, longestPauseMs };
  }
}

function timesOf(when: string, phases: readonly Phase[], kinds: readonly ProbeKind[]): Measure[] {
  const measures = kinds.flatMap((kind) =>
    [50, 95].map((percent) => ({
      name: `${kind} ${when}, p${percent}`,
      unit: 'ms',
      values: phases.map(({ times }) => percentile(times[kind], percent)),
    })),
  );
  const pauses = phases.map(({ longestPauseMs }) => longestPauseMs);
  return [...measures, { name: `longest pause of the server ${when}`, unit: 'ms', values: pauses }];
}

function burstOf(what: string, phases: readonly Phase[]): Measure[] {
  const count = (isCounted: (status: string) => boolean) =>
    phases.map(({ burst }) =>
      Object.entries(burst!.statuses)
        .filter(([status]) => isCounted(status))
        .reduce((sum, [, number]) => sum + number, 0),
    );
  return [
    { name: `${what}: answered with 200`, unit: '', values: count((status) => status === '200') },
    { name: `${what}: rejected with 503`, unit: '', values: count((status) => status === '503') },
    {
      name: `${what}: other responses`,
      unit: '',
      values: count((status) => status !== '200' && status !== '503'),
    },
    {
      name: `${what}: time to the last response`,
      unit: 'ms',
      values: phases.map(({ burst }) => burst!.lastMs),
    },
  ];
}

export function percentile(values: readonly number[], percent: number): number {
  const sortedValues = values.toSorted((one, other) => one - other);
  return sortedValues[Math.ceil((percent / 100) * sortedValues.length) - 1]!;
}
