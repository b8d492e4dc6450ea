/**
 * Measures the CPU time of nodes and PostgreSQL for each kind of request, changes per second with one and two nodes,
 * database connections, and disk space. The tables of docs/operators/sizing.md have the same rows in the same order.
 */

import { existsSync } from 'node:fs';
import { Child } from '../../bench/child.ts';
import type { DeliverInput, OpenInput } from '../../bench/sockets.ts';
import { changesSubscription } from '../../client/src/tree/follow-changes.ts';
import type { Measure, Study, StudyOptions } from '../overload/study.ts';
import { SizingInstallation } from './sizing-installation.ts';
import type { FolderIds, SizingClient } from './sizing-client.ts';

const folders = 100_000;
/** Each client sends its next request as soon as it receives the response to the last one. */
const clientCount = 16;
const socketCount = 500;
/** The number of rounds before the measured ones. In them, V8 compiles the code and caches fill. */
const warmUpRounds = 3;

/** For each kind of request: the number of requests in a round, and the function that sends one. */
const kinds = {
  query: { requests: 320, request: (client: SizingClient) => client.listSubfolders() },
  change: { requests: 160, request: (client: SizingClient) => client.createFolder() },
  login: { requests: 16, request: (client: SizingClient) => client.logIn() },
  refresh: { requests: 160, request: (client: SizingClient) => client.refresh() },
};
type Kind = keyof typeof kinds;

interface Run {
  /** The CPU time of all nodes for one request. */
  readonly nodesMicroseconds: number;
  /** The CPU time of PostgreSQL for one request. */
  readonly databaseMicroseconds: number;
  readonly requestsPerSecond: number;
  /** The connections of each node at the end of the run. */
  readonly connections: number;
}

export const sizing: Study = {
  name: 'sizing',
  about: 'CPU, connections and disk of nodes and PostgreSQL: the tables of docs/operators/sizing.md',
  async run(options) {
    if (!existsSync('/proc/self/schedstat')) {
      options.note('skipped: sizing needs Linux, because it reads the CPU time of processes from /proc');
      return [];
    }
    const installation = await SizingInstallation.start(options.signal);
    const sockets = new Child({ file: 'sockets.ts', signal: options.signal });
    try {
      return await new SizingBench(installation, sockets, options).run();
    } finally {
      await sockets.stop();
      await installation.remove();
    }
  },
};

class SizingBench {
  readonly #installation: SizingInstallation;
  readonly #sockets: Child;
  readonly #options: StudyOptions;

  constructor(installation: SizingInstallation, sockets: Child, options: StudyOptions) {
    this.#installation = installation;
    this.#sockets = sockets;
    this.#options = options;
  }

  async run(): Promise<Measure[]> {
    const topFolderId = await this.#installation.createTree(folders);
    const { folder: folderBytes } = await this.#installation.readBytesOnDisk();
    const { clients, folderIds } = await this.#installation.createClients(clientCount, topFolderId);
    try {
      const oneNode = await this.#runRounds(clients, Object.keys(kinds) as Kind[]);
      const delivery = await this.#measureDelivery(clients, folderIds);
      await this.#installation.addNode();
      const urls = this.#installation.nodeUrls;
      await Promise.all(clients.map((client, index) => client.connect(urls[index % urls.length]!)));
      const twoNodes = (await this.#runRounds(clients, ['change'])).change;
      const { journalEntry } = await this.#installation.readBytesOnDisk();
      return [
        ...cpuMeasures('a query of one folder with 50 subfolders', oneNode.query),
        ...cpuMeasures('a change, with one node', oneNode.change),
        ...cpuMeasures('a change, with two nodes', twoNodes),
        ...cpuMeasures('a login', oneNode.login),
        ...cpuMeasures('a refresh', oneNode.refresh),
        ...cpuMeasures('a change sent to one socket', delivery),
        measure(
          'changes a second, with one node',
          '',
          oneNode.change,
          ({ requestsPerSecond }) => requestsPerSecond,
        ),
        measure(
          'changes a second, with two nodes',
          '',
          twoNodes,
          ({ requestsPerSecond }) => requestsPerSecond,
        ),
        measure(
          'connections of one node, after a round',
          '',
          oneNode.refresh,
          ({ connections }) => connections,
        ),
        { name: 'disk for a folder, with its indexes', unit: 'bytes', values: [folderBytes] },
        { name: 'disk for a journal entry, with its indexes', unit: 'bytes', values: [journalEntry] },
      ];
    } finally {
      for (const client of clients) client.close();
    }
  }

  /** Alternates the kinds, so that other load on the machine affects all kinds equally. */
  async #runRounds<Name extends Kind>(
    clients: readonly SizingClient[],
    names: readonly Name[],
  ): Promise<Record<Name, Run[]>> {
    const runs = Object.fromEntries(names.map((name) => [name, [] as Run[]])) as Record<Name, Run[]>;
    for (let round = -warmUpRounds; round < this.#options.rounds; round++) {
      for (const name of names) {
        const run = await this.#load(clients, name);
        if (round >= 0) runs[name].push(run);
      }
    }
    return runs;
  }

  async #load(clients: readonly SizingClient[], name: Kind): Promise<Run> {
    const { requests, request } = kinds[name];
    let left = requests;
    const sendRequests = async (client: SizingClient) => {
      while (left-- > 0) {
        this.#options.signal.throwIfAborted();
        await request(client);
      }
    };
    const start = performance.now();
    const cpu = await this.#measureCpu(requests, () => Promise.all(clients.map(sendRequests)));
    const requestsPerSecond = (requests * 1000) / (performance.now() - start);
    const connections = (await this.#installation.countConnections()) / this.#installation.nodeUrls.length;
    return { ...cpu, requestsPerSecond, connections };
  }

  /** Measures the CPU time of a change that all sockets receive, divided by the number of sockets. */
  async #measureDelivery(clients: readonly SizingClient[], { changedId }: FolderIds) {
    const url = this.#installation.nodeUrls[0]!;
    const after = await clients[0]!.readCursor();
    const subscribers = Array.from({ length: socketCount }, (_, index) => ({
      authToken: clients[index % clients.length]!.authToken,
      variables: { after },
    }));
    const openInput: OpenInput = { url, document: changesSubscription, subscribers };
    await this.#sockets.call('open', openInput);
    const cpuUses = [];
    for (let round = -warmUpRounds; round < this.#options.rounds; round++) {
      const { authToken } = clients[0]!;
      const input: DeliverInput = { url, authToken, parentId: changedId, names: [`for all, ${round}`] };
      const cpu = await this.#measureCpu(socketCount, () => this.#sockets.call('deliver', input));
      await this.#sockets.call('check', 1);
      if (round >= 0) cpuUses.push(cpu);
    }
    await this.#sockets.call('close');
    return cpuUses;
  }

  async #measureCpu(times: number, work: () => Promise<unknown>) {
    const before = this.#installation.readCpuUse();
    await work();
    const after = this.#installation.readCpuUse();
    return {
      nodesMicroseconds: (after.nodesMicroseconds - before.nodesMicroseconds) / times,
      databaseMicroseconds: (after.databaseMicroseconds - before.databaseMicroseconds) / times,
    };
  }
}

function cpuMeasures(
  name: string,
  runs: readonly Pick<Run, 'nodesMicroseconds' | 'databaseMicroseconds'>[],
): Measure[] {
  return [
    measure(`${name}: nodes`, 'µs', runs, ({ nodesMicroseconds }) => nodesMicroseconds),
    measure(`${name}: database`, 'µs', runs, ({ databaseMicroseconds }) => databaseMicroseconds),
  ];
}

function measure<Each>(
  name: string,
  unit: string,
  runs: readonly Each[],
  valueOf: (run: Each) => number,
): Measure {
  return { name, unit, values: runs.map(valueOf) };
}
