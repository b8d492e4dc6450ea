/**
 * Runs a client on a bad network. The auth tokens of the server expire after two seconds. Every call must succeed, each change
 * must be applied once, and the watched tree must match the server at the end.
 */

import { isDeepStrictEqual } from 'node:util';
import { createClient, type Client, type FolderDetails, type WatchedTree } from '@espalier/client';
import type { DatabaseKind } from '../../support/databases.ts';
import { administrator, NodeProcess } from '../../many-nodes/node-process.ts';
import { Random } from '../../many-nodes/chaos/random.ts';
import { Tally } from '../../many-nodes/chaos/tally.ts';
import { BadNetwork } from './bad-network.ts';

export interface RunOptions {
  readonly kind: DatabaseKind;
  readonly operations: number;
  readonly seed: number;
  /** The percentage of requests with a fault. */
  readonly percent: number;
  /** How many times the server is restarted. */
  readonly restarts?: number;
  readonly onProgress?: (text: string) => void;
}

/** The expected state of a folder. */
interface ExpectedFolder {
  readonly id: string;
  name: string;
  title: string;
  parentId: string;
}

const concurrency = 8;
const callsPerSocketClose = 60;
const settings = {
  AUTH_TOKEN_SECONDS: '2',
  REFRESH_RETRY_SECONDS: '30',
  LOG_LEVEL: 'warn',
  STOP_SECONDS: '1',
};

export async function runOnBadNetwork(options: RunOptions): Promise<Tally> {
  const random = new Random(options.seed);
  const tally = new Tally(options.onProgress);
  const database = await options.kind.createForServer();
  let node = await NodeProcess.start({ databaseUrl: database.url, settings });
  const network = await BadNetwork.open(node.url, { random: random.fork(), tally, percent: options.percent });
  const client = createClient({ url: network.url, timeoutSeconds: 2, retrySeconds: 120 });
  const restart = async () => {
    tally.count('server restarted');
    await node.stop();
    node = await NodeProcess.start({ databaseUrl: database.url, settings });
    network.target = node.url;
  };
  try {
    client.onSession(({ type }) => tally.count(`session: ${type}`));
    await client.login(administrator);
    const writer = new Writer(client, await client.folders.root(), random.fork(), tally);
    const watched = await client.watch();
    await writer.run(options, { closeSockets: () => network.closeSockets(), restart });
    network.isCalm = true;
    await compare(client, watched, writer, tally);
    watched.close();
    await client.logout();
  } finally {
    client.close();
    network.close();
    await node.stop();
    await database.remove();
  }
  return tally;
}

class Writer {
  readonly folders = new Map<string, ExpectedFolder>();
  readonly #client: Client;
  readonly #root: FolderDetails;
  readonly #random: Random;
  readonly #tally: Tally;
  /** The ids of folders that a running call uses. Other calls do not use these folders. */
  readonly #busy = new Set<string>();
  #createdCount = 0;
  /** Two concurrent moves could create a cycle, and the server would refuse one. */
  #isMoving = false;

  constructor(client: Client, root: FolderDetails, random: Random, tally: Tally) {
    this.#client = client;
    this.#root = root;
    this.#random = random;
    this.#tally = tally;
  }

  async run(
    { operations, restarts = 0, onProgress }: RunOptions,
    faults: { closeSockets(): void; restart(): Promise<void> },
  ): Promise<void> {
    let started = 0;
    const callsPerRestart = Math.ceil(operations / (restarts + 1));
    let restarting: Promise<void> = Promise.resolve();
    const work = async () => {
      while (started < operations) {
        started++;
        if (started % callsPerSocketClose === 0) faults.closeSockets();
        if (started % callsPerRestart === 0 && started < operations)
          restarting = restarting.then(() => faults.restart());
        if (started % 500 === 0)
          onProgress?.(`${started} of ${operations} calls, ${this.folders.size} folders`);
        await this.#runOperation();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    await restarting;
  }

  async #runOperation(): Promise<void> {
    const [name, run] = this.#random.pick([
      ['create', () => this.#create()],
      ['create', () => this.#create()],
      ['update', () => this.#update()],
      ['move', () => this.#move()],
      ['delete', () => this.#delete()],
      ['read', () => this.#read()],
      ['read', () => this.#read()],
      ['list', () => this.#list()],
      ['verify', () => this.#verify()],
    ] as const);
    try {
      await run();
      this.#tally.count(`calls: ${name}`);
    } catch (error) {
      this.#tally.reportViolation(`${name} failed: ${describe(error)}`);
    }
  }

  async #create(): Promise<void> {
    const parentId = this.#random.chance(0.3) ? this.#root.id : (this.#pickIdle()?.id ?? this.#root.id);
    const name = `Folder ${++this.#createdCount}`;
    await this.#whileBusy([parentId], async () => {
      const { id, title } = await this.#client.folders.create({ name, parentId });
      this.folders.set(id, { id, name, title, parentId });
    });
  }

  async #update(): Promise<void> {
    const folder = this.#pickIdle();
    if (!folder) return;
    const title = `Title ${this.#random.below(1_000_000)}`;
    await this.#whileBusy([folder.id], async () => {
      const updated = await this.#client.folders.update(folder.id, { title });
      if (updated.title !== title)
        this.#tally.reportViolation(`an update returned the title ${updated.title}`);
      folder.title = title;
    });
  }

  async #move(): Promise<void> {
    const folder = this.#pickIdle();
    const target = this.#pickIdle();
    if (!folder || !target || this.#isMoving || this.#isInside(target.id, folder.id)) return;
    this.#isMoving = true;
    await this.#whileBusy([folder.id, target.id], async () => {
      await this.#client.folders.move(folder.id, target.id);
      folder.parentId = target.id;
    }).finally(() => (this.#isMoving = false));
  }

  /** Deletes only folders without children. */
  async #delete(): Promise<void> {
    const parents = new Set([...this.folders.values()].map(({ parentId }) => parentId));
    const folder = this.#pickIdle(({ id }) => !parents.has(id));
    if (!folder) return;
    await this.#whileBusy([folder.id], async () => {
      const count = await this.#client.folders.delete(folder.id);
      if (count !== 1) this.#tally.reportViolation(`the deletion of one folder returned the count ${count}`);
      this.folders.delete(folder.id);
    });
  }

  async #read(): Promise<void> {
    const folder = this.#pickIdle();
    if (!folder) return;
    await this.#whileBusy([folder.id], async () => {
      const found = await this.#client.folders.byId(folder.id);
      if (found?.title !== folder.title || found.parentId !== folder.parentId) {
        this.#tally.reportViolation(`${JSON.stringify(folder)} was read as ${JSON.stringify(found)}`);
      }
    });
  }

  async #list(): Promise<void> {
    const names: string[] = [];
    for await (const { name } of this.#client.folders.children(this.#root.id, { pageSize: 20 }))
      names.push(name);
    if (new Set(names).size !== names.length) this.#tally.reportViolation('a list contains a folder twice');
  }

  async #verify(): Promise<void> {
    if (!(await this.#client.isLoggedIn())) this.#tally.reportViolation('the session was lost');
  }

  /** Returns a folder that no running call uses. */
  #pickIdle(matches: (folder: ExpectedFolder) => boolean = () => true): ExpectedFolder | undefined {
    const idle = [...this.folders.values()].filter((each) => !this.#busy.has(each.id) && matches(each));
    return idle.length > 0 ? this.#random.pick(idle) : undefined;
  }

  async #whileBusy(ids: readonly string[], work: () => Promise<void>): Promise<void> {
    const added = ids.filter((id) => id !== this.#root.id && !this.#busy.has(id));
    for (const id of added) this.#busy.add(id);
    try {
      await work();
    } finally {
      for (const id of added) this.#busy.delete(id);
    }
  }

  #isInside(id: string, ancestor: string): boolean {
    for (let at: string | undefined = id; at !== undefined; at = this.folders.get(at)?.parentId) {
      if (at === ancestor) return true;
    }
    return false;
  }
}

/** Compares the acknowledged folders, the watched tree and the stored folders. */
async function compare(client: Client, watched: WatchedTree, writer: Writer, tally: Tally): Promise<void> {
  const root = await client.folders.root();
  const stored = new Map<string, ExpectedFolder>();
  for await (const { id, name, title, parentId } of client.folders.descendants(root.id)) {
    stored.set(id, { id, name, title, parentId: parentId! });
  }
  const isEqual = (mirror: ReadonlyMap<string, ExpectedFolder>) =>
    isDeepStrictEqual(sortById(mirror), sortById(stored));
  if (!isEqual(writer.folders))
    tally.reportViolation('the acknowledged folders differ from the stored folders');
  tally.count('folders at the end', stored.size);
  await waitUntilEqual(() => isEqual(watchedFolders(watched)), tally);
}

function watchedFolders(watched: WatchedTree): Map<string, ExpectedFolder> {
  const folders = new Map<string, ExpectedFolder>();
  const add = (parentId: string) => {
    for (const { id, name, title } of watched.children(parentId)) {
      folders.set(id, { id, name, title, parentId });
      add(id);
    }
  };
  if (watched.root) add(watched.root.id);
  return folders;
}

const settleTimeoutMs = 60_000;

async function waitUntilEqual(isEqual: () => boolean, tally: Tally): Promise<void> {
  const deadline = performance.now() + settleTimeoutMs;
  while (!isEqual()) {
    if (performance.now() > deadline)
      return tally.reportViolation('the watched tree differs from the server');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function sortById(folders: ReadonlyMap<string, ExpectedFolder>): readonly ExpectedFolder[] {
  return [...folders.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function describe(error: unknown): string {
  const { name, message, code } = error as Error & { code?: string };
  return `${name} ${code ?? ''} ${message}`;
}
