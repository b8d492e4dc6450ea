/**
 * One user attacks with expensive requests. Measures how long other users wait, compared with the same number of
 * connections that send ordinary queries in the same run. Fails if p95 is more than three times as long, or if a
 * request or login of another user is refused.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { attacks, createAbuseTree } from './abuse-attacks.ts';
import type { AttackCounts, AbuseInput } from './abuse-client.ts';
import { Child } from '../../bench/child.ts';
import type { Measure, Study, StudyOptions } from './study.ts';
import { ServerProcess } from '../measured-server/server-process.ts';
import { percentile } from './storm.ts';
import type { ProbeResults, ProbeInput, JoinInput } from './storm-client.ts';

const maxRatio = 3;
const measuredMs = 5_000;
const changeIntervalMs = 250;
const settleMs = 500;
/** The server has finished the work of an attack when it uses less than this share of one core. */
const idleShare = 0.2;
const maxIdleChecks = 60;

export const abuse: Study = {
  name: 'abuse',
  about: 'how long other users wait while one user attacks',
  async run(options) {
    const sqlite = await runOn('SQLite', options);
    const postgres = await PostgresServer.start();
    try {
      return [...sqlite, ...(await runOn('PostgreSQL', options, { DATABASE_URL: postgres.superuserUrl }))];
    } finally {
      await postgres.stop();
    }
  },
};

async function runOn(
  database: string,
  options: StudyOptions,
  settings: Record<string, string> = {},
): Promise<Measure[]> {
  const { signal } = options;
  const server = await ServerProcess.start(signal, settings);
  const attacker = new Child({ file: '../tests/overload/abuse-client.ts', signal });
  const visitor = new Child({ file: '../tests/overload/storm-client.ts', signal });
  try {
    return await new AbuseBench(database, server, attacker, visitor, options).run();
  } finally {
    await attacker.stop();
    await visitor.stop();
    await server.stop();
  }
}

class AbuseBench {
  readonly #database: string;
  readonly #server: ServerProcess;
  readonly #attacker: Child;
  readonly #visitor: Child;
  readonly #options: StudyOptions;
  #attackerToken = '';

  constructor(
    database: string,
    server: ServerProcess,
    attacker: Child,
    visitor: Child,
    options: StudyOptions,
  ) {
    this.#database = database;
    this.#server = server;
    this.#attacker = attacker;
    this.#visitor = visitor;
    this.#options = options;
  }

  async run(): Promise<Measure[]> {
    await createAbuseTree((query, variables) => this.#server.query(query, variables));
    const [attacker, ...visitors] = await this.#createReaders(['attacker', 'visitor 0', 'visitor 1']);
    this.#attackerToken = await this.#server.logIn(attacker!);
    await this.#visitor.call('join', { url: this.#server.url, people: visitors } satisfies JoinInput);
    const measures: Measure[] = [];
    for (const name of Object.keys(attacks)) {
      const before = await this.#phase(undefined);
      const during = await this.#phase(name);
      const [baseline, underAttack] = [before, during].map(({ times }) => percentile(times.graph, 95));
      const ratio = underAttack! / baseline!;
      this.#options.note(
        `${this.#database}, ${name}: p95 ${baseline!.toFixed(1)} ms, under attack ${underAttack!.toFixed(1)} ms, ratio ${ratio.toFixed(2)}; ` +
          `logins p95 ${percentile(during.times.login, 95).toFixed(0)} ms, all ${during.times.login.length} succeeded; longest pause ${during.longestPauseMs.toFixed(0)} ms; attacker ${JSON.stringify(during.attackCounts)}`,
      );
      const prefix = `${this.#database}, ${name}`;
      measures.push(
        { name: `${prefix}: p95 under ordinary queries`, unit: 'ms', values: [baseline!] },
        { name: `${prefix}: p95 under attack`, unit: 'ms', values: [underAttack!] },
        { name: `${prefix}: ratio`, unit: '', values: [ratio], below: maxRatio },
      );
    }
    return measures;
  }

  async #createReaders(names: readonly string[]) {
    const { folder } = await this.#server.query<{ folder: { id: string } }>('{folder{id}}');
    const people = names.map((username) => ({ username, password: `walnut cabin of ${username}` }));
    const create = 'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}';
    const grant = 'mutation($input: GrantAccessInput!){grantAccess(input: $input){__typename}}';
    for (const person of people) {
      const { createUser } = await this.#server.query<{ createUser: { user: { id: string } } }>(create, {
        input: person,
      });
      await this.#server.query(grant, {
        input: { folderId: folder.id, userId: createUser.user.id, level: 'READ' },
      });
    }
    return people;
  }

  async #waitUntilIdle(): Promise<void> {
    let { cpuMicroseconds: before } = await this.#server.usage();
    for (let times = 0; times < maxIdleChecks; times++) {
      await sleep(settleMs);
      const { cpuMicroseconds } = await this.#server.usage();
      if (cpuMicroseconds - before < idleShare * settleMs * 1_000) return;
      before = cpuMicroseconds;
    }
  }

  async #phase(
    attack: string | undefined,
  ): Promise<ProbeResults & { attackCounts: AttackCounts; longestPauseMs: number }> {
    const input: AbuseInput = { url: this.#server.url, authToken: this.#attackerToken, attack };
    await this.#attacker.call('begin', input);
    await sleep(settleMs);
    await this.#server.usage();
    await this.#visitor.call('begin', { kinds: ['graph', 'login'] } satisfies ProbeInput);
    const endTime = performance.now() + measuredMs;
    let changes = 0;
    while (performance.now() < endTime) {
      await sleep(changeIntervalMs);
      // The attacker's subscriptions cause work only when folders change.
      await this.#server.query('mutation($name: String!){createFolder(input: {name: $name}){__typename}}', {
        name: `${attack} ${performance.now()} ${changes++}`,
      });
    }
    const results = await this.#visitor.call<ProbeResults>('end');
    const { longestPauseMs } = await this.#server.usage();
    const attackCounts = await this.#attacker.call<AttackCounts>('end');
    await this.#waitUntilIdle();
    const otherStatuses = Object.keys(results.statuses).filter((status) => status !== '200');
    if (otherStatuses.length > 0) {
      throw new Error(
        `${attack}: not every request of other users succeeded: ${JSON.stringify(results.statuses)}.`,
      );
    }
    return { ...results, attackCounts, longestPauseMs };
  }
}
