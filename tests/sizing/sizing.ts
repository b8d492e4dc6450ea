/**
 * Measures nodes and their PostgreSQL: CPU per request of each kind, changes per second with one node and
 * with two, connections, and disk. The tables of docs/operators/sizing.md have the same lines in the same order.
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
/** Rounds before the measured ones, in which V8 compiles the code and caches fill. */
const warmUpRounds = 3;

/** The requests of a round by kind. */
const kinds = {
  query: { requests: 320, request: (client: SizingClient) => client.readShelf() },
  change: { requests: 160, request: (client: SizingClient) => client.change() },
  login: { requests: 16, request: (client: SizingClient) => client.logIn() },
  refresh: { requests: 160, request: (client: SizingClient) => client.refresh() },
};
type Kind = keyof typeof kinds;

interface Run {
  /** Per request. */
  readonly nodesMicroseconds: number;
  readonly databaseMicroseconds: number;
  readonly perSecond: number;
  /** The connections of each node at the end of the run. */
  readonly connections: number;
}

export const sizing: Study = {
  name: 'sizing',
  about: 'CPU, connections and disk of nodes and PostgreSQL: the tables of docs/operators/sizing.md',
  async run(options) {
    if (!existsSync('/proc/self/schedstat')) {
      options.note('skipped: it needs Linux, because it reads the CPU time of processes from /proc');
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
    const estateId = await this.#installation.createTree(folders);
    const { folder: folderBytes } = await this.#installation.bytesOnDisk();
    const { clients, folderIds } = await this.#installation.createClients(clientCount, estateId);
    try {
      const alone = await this.#rounds(clients, Object.keys(kinds) as Kind[]);
      const delivery = await this.#measureDelivery(clients, folderIds);
      await this.#installation.addNode();
      const urls = this.#installation.nodeUrls;
      await Promise.all(clients.map((client, index) => client.connect(urls[index % urls.length]!)));
      const two = (await this.#rounds(clients, ['change'])).change;
      const { journalEntry } = await this.#installation.bytesOnDisk();
      return [
        ...cpu('a query of one folder with 50 subfolders', alone.query),
        ...cpu('a change, with one node', alone.change),
        ...cpu('a change, with two nodes', two),
        ...cpu('a login', alone.login),
        ...cpu('a refresh', alone.refresh),
        ...cpu('a change sent to one socket', delivery),
        measure('changes a second, with one node', '', alone.change, ({ perSecond }) => perSecond),
        measure('changes a second, with two nodes', '', two, ({ perSecond }) => perSecond),
        measure(
          'connections of one node, after a round',
          '',
          alone.refresh,
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
  async #rounds<Name extends Kind>(
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
    const used = await this.#used(requests, () => Promise.all(clients.map(sendRequests)));
    const perSecond = (requests * 1000) / (performance.now() - start);
    const connections = (await this.#installation.connections()) / this.#installation.nodeUrls.length;
    return { ...used, perSecond, connections };
  }

  /** Measures the cost of a change that all sockets receive, divided by the number of sockets. */
  async #measureDelivery(clients: readonly SizingClient[], { deskId }: FolderIds) {
    const url = this.#installation.nodeUrls[0]!;
    const after = await clients[0]!.cursor();
    const subscribers = Array.from({ length: socketCount }, (_, index) => ({
      authToken: clients[index % clients.length]!.authToken,
      variables: { after },
    }));
    const opened: OpenInput = { url, document: changesSubscription, subscribers };
    await this.#sockets.call('open', opened);
    const used = [];
    for (let round = -warmUpRounds; round < this.#options.rounds; round++) {
      const { authToken } = clients[0]!;
      const input: DeliverInput = { url, authToken, parentId: deskId, names: [`for all, ${round}`] };
      const one = await this.#used(socketCount, () => this.#sockets.call('deliver', input));
      await this.#sockets.call('check', 1);
      if (round >= 0) used.push(one);
    }
    await this.#sockets.call('close');
    return used;
  }

  async #used(times: number, work: () => Promise<unknown>) {
    const before = this.#installation.cpuUse();
    await work();
    const after = this.#installation.cpuUse();
    return {
      nodesMicroseconds: (after.nodesMicroseconds - before.nodesMicroseconds) / times,
      databaseMicroseconds: (after.databaseMicroseconds - before.databaseMicroseconds) / times,
    };
  }
}

function cpu(
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
