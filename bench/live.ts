/**
 * Thousands of people watch the tree, each over a socket; one folder is made, and every one of them is told once. What
 * does an idle socket take, how long does the last one wait, and what does it cost? Fails if anybody is told nothing, or
 * twice.
 */

import { Child } from './child.ts';
import type { OpenInput, Round, RoundInput, Tally } from './crowd.ts';
import type { Measure, Scenario, ScenarioOptions } from './scenario.ts';
import { ServerProcess } from './server-process.ts';
import { settle, type Inhabitant } from './settlement.ts';

/** For the database, the listener and what else a process has open. */
const otherFiles = 100;
const mostWarmUpSockets = 200;

export const live: Scenario = {
  name: 'live',
  async run(options) {
    const { signal } = options;
    const sockets = withinFileLimit(options);
    const server = await ServerProcess.start(signal);
    const crowd = new Child({ file: 'crowd.ts', signal });
    try {
      return await new LiveBench(server, crowd).run({ ...options, sockets });
    } finally {
      await crowd.stop();
      await server.stop();
    }
  },
};

interface ToldRound extends Round {
  readonly cpuMicroseconds: number;
  readonly longestPauseMs: number;
}

class LiveBench {
  readonly #server: ServerProcess;
  readonly #crowd: Child;
  #folders = 0;

  constructor(server: ServerProcess, crowd: Child) {
    this.#server = server;
    this.#crowd = crowd;
  }

  async run({ sockets, people, rounds }: ScenarioOptions): Promise<Measure[]> {
    const { folderId, inhabitants, changeAccess } = await settle(this.#server, people);
    // Once with fewer, so that what is loaded and compiled with the first socket is not charged to the others.
    await this.#open(inhabitants, Math.min(sockets, mostWarmUpSockets));
    await this.#round(folderId);
    await this.#crowd.ask('close');

    const before = await this.#server.memory();
    const opening = await this.#spent(() => this.#open(inhabitants, sockets));
    await this.#round(folderId);
    const after = await this.#server.memory();

    const told: ToldRound[] = [];
    const toldWithAccess: ToldRound[] = [];
    for (let done = 0; done < rounds; done++) {
      told.push(await this.#round(folderId));
      toldWithAccess.push(await this.#round(folderId, changeAccess));
    }
    const perSocket = (bytes: number) => [bytes / sockets / 1024];
    const each = (choose: (round: ToldRound) => number) => told.map(choose);
    const perChange = ({ cpuMicroseconds }: ToldRound) => cpuMicroseconds / sockets;
    return [
      { name: 'sockets, one subscription each', unit: '', values: [sockets] },
      { name: 'resident memory before', unit: 'MiB', values: [before.residentBytes / 2 ** 20] },
      { name: 'resident memory after', unit: 'MiB', values: [after.residentBytes / 2 ** 20] },
      {
        name: 'resident memory per idle socket',
        unit: 'KiB',
        values: perSocket(after.residentBytes - before.residentBytes),
      },
      {
        name: 'JavaScript heap per idle socket',
        unit: 'KiB',
        values: perSocket(after.heapBytes - before.heapBytes),
      },
      {
        name: 'CPU per socket that opens',
        unit: 'µs',
        values: [opening.cpuMicroseconds / sockets],
      },
      { name: 'change sent to first receiver', unit: 'ms', values: each(({ firstMs }) => firstMs) },
      { name: 'change sent to last receiver', unit: 'ms', values: each(({ lastMs }) => lastMs) },
      { name: 'change sent to its own answer', unit: 'ms', values: each(({ answeredMs }) => answeredMs) },
      { name: 'longest pause of the server', unit: 'ms', values: each((round) => round.longestPauseMs) },
      { name: 'CPU per delivered change', unit: 'µs', values: told.map(perChange) },
      {
        name: "the same, with a change of somebody's access",
        unit: 'µs',
        values: toldWithAccess.map(perChange),
      },
    ];
  }

  /** Everybody has about as many sockets as everybody else; every other one watches only the folder. */
  async #open(inhabitants: readonly Inhabitant[], sockets: number): Promise<void> {
    const { cursor } = await this.#server.ask<{ cursor: string }>('{cursor}');
    const members = Array.from({ length: sockets }, (_, place) => {
      const { authToken, folderId } = inhabitants[place % inhabitants.length]!;
      const isSecond = Math.floor(place / inhabitants.length) % 2 === 1;
      return { authToken, under: isSecond ? folderId : null };
    });
    await this.#crowd.ask('open', { url: this.#server.url, members, after: cursor } satisfies OpenInput);
  }

  /** Everybody hears of one new folder; of what is done before it, nobody sees anything. */
  async #round(parentId: string, before?: () => Promise<void>): Promise<ToldRound> {
    const { url, authToken } = this.#server;
    const input: RoundInput = { url, authToken, parentId, name: `folder ${++this.#folders}` };
    const spent = await this.#spent(async () => {
      await before?.();
      return this.#crowd.ask<Round>('round', input);
    });
    const tally = await this.#crowd.ask<Tally>('tally');
    const { none, more, strays, closed } = tally;
    if (none + more + strays + closed > 0) {
      throw new Error(`Not everybody was told of ${input.name} once: ${JSON.stringify(tally)}.`);
    }
    return { ...spent.result, ...spent };
  }

  async #spent<Result>(work: () => Promise<Result>) {
    const { cpuMicroseconds: before } = await this.#server.usage();
    const result = await work();
    const { cpuMicroseconds, longestPauseMs } = await this.#server.usage();
    return { result, cpuMicroseconds: cpuMicroseconds - before, longestPauseMs };
  }
}

/** Server and clients are two processes, each with one open file for a socket. */
function withinFileLimit({ sockets, note }: ScenarioOptions): number {
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits: { open_files: { soft: number | 'unlimited' } };
  };
  const { soft } = userLimits.open_files;
  const most = soft === 'unlimited' ? Infinity : soft - otherFiles;
  if (sockets > most)
    note(`only ${most} sockets instead of ${sockets}: a process may open ${soft} files here`);
  return Math.min(sockets, most);
}
