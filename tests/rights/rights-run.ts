/**
 * One run: administrators change grants, groups and folders. Users and API keys read, change and subscribe on every
 * node, and one user fills its queue of long reads. All responses are then compared with the model.
 */

import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { mutation } from '../support/graph-testbed.ts';
import {
  levelNames,
  MANAGE,
  READ,
  TreeModel,
  WRITE,
  type Level,
  type ModelUser,
} from '../model/tree-model.ts';
import { Actor } from './actor.ts';
import {
  administratorChanges,
  changeMembership,
  create,
  folderChanges,
  grantTo,
  recordMemberships,
  type Changer,
} from './changes.ts';
import { History, readNumber } from './history.ts';
import { longReads, reads, type Reader } from './reads.ts';
import { findSeen, expectWithDescendants, descendantsSelection } from './expected-views.ts';

export interface Topology {
  readonly nodes: number;
  readonly workers: number;
}

export interface RunOptions extends Topology {
  readonly kind: DatabaseKind;
  readonly seed: number;
  /** The number of requests and changes of all actors together. */
  readonly steps: number;
  readonly isOver?: () => boolean;
}

export interface RunResult {
  readonly steps: number;
  readonly changes: number;
  readonly observations: number;
  readonly events: number;
  /** Undefined if the server and the model agree. */
  readonly difference: string | undefined;
}

const userCount = 4;
const groupName = 'group';
const minFolders = 15;
const maxFolders = 40;
/** The API keys of a run: the index of their user, and whether they are confined to a folder of this user. */
const keys: readonly { readonly owner: number; readonly level: Level; readonly isConfined: boolean }[] = [
  { owner: 0, level: MANAGE, isConfined: true },
  { owner: 1, level: READ, isConfined: false },
  { owner: 2, level: WRITE, isConfined: true },
];
/** More than the server runs at a time for one user. */
const concurrentLongReads = 4;

export async function runRights(options: RunOptions): Promise<RunResult> {
  const database = await options.kind.createForServer();
  const nodes: NodeProcess[] = [];
  try {
    for (let at = 0; at < options.nodes; at++) {
      const settings = { WORKERS: String(options.workers), AUTH_TOKEN_SECONDS: '3600' };
      nodes.push(await NodeProcess.start({ databaseUrl: database.url, settings }));
    }
    const run = new RightsRun(
      options,
      nodes.map(({ url }) => url),
    );
    return await run.run();
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.remove();
  }
}

class RightsRun {
  readonly #options: RunOptions;
  readonly #urls: readonly string[];
  readonly #random: () => number;
  readonly #history = new History();
  readonly #actors: Actor[] = [];
  readonly #sockets: SocketClient[] = [];
  readonly #folderIds: string[] = [];
  readonly #deletedIds: string[] = [];
  #steps = 0;
  #events = 0;
  #texts = 0;
  #isEnding = false;
  #users: ModelUser[] = [];
  readonly #keys: ModelUser[] = [];
  #groupId = '';

  constructor(options: RunOptions, urls: readonly string[]) {
    this.#options = options;
    this.#urls = urls;
    this.#random = createRandom(options.seed);
  }

  async run(): Promise<RunResult> {
    const tokens = new Map<string, string>();
    tokens.set('admin', await this.#logIn(administrator));
    const admin = this.#connect(tokens.get('admin')!, 0);
    const model = await this.#createModel(admin, tokens);
    const start = await admin.head();
    const watching: Promise<void>[] = [];
    for (const user of this.#users.slice(1)) {
      watching.push(...this.#urls.map((url) => this.#watch(user, url, tokens)));
    }
    const stopWatching = async () => {
      this.#isEnding = true;
      for (const socket of this.#sockets) await socket.close();
      await Promise.all(watching);
    };
    try {
      await this.#prepare(this.#changer(admin, this.#users[0]!));
      await this.#createKeys(tokens);
      watching.push(...this.#keys.map((key) => this.#watch(key, this.#urls.at(-1)!, tokens)));
      await Promise.all(this.#loops(tokens).map((loop) => this.#repeat(loop)));
    } finally {
      await stopWatching();
    }
    await recordMemberships(this.#changer(admin, this.#users[0]!));
    for (const actor of this.#actors) actor.close();
    return {
      ...this.#history.size,
      steps: this.#steps,
      events: this.#events,
      difference: this.#history.findDifference(model, start),
    };
  }

  /** Per node: one administrator, and one reader and one writer for each user and key. Also the long reads of one user. */
  #loops(tokens: ReadonlyMap<string, string>): (() => Promise<void>)[] {
    const [admin, filler, ...others] = this.#users;
    const adminLoops = this.#urls.map((_, node) => {
      const changer = this.#changer(this.#connect(tokens.get('admin')!, node), admin!);
      return () => this.#changeAsAdministrator(changer);
    });
    const fillerLoops = Array.from({ length: concurrentLongReads }, (_, at) => {
      const reader = this.#reader(
        this.#connect(tokens.get(filler!.username)!, at % this.#urls.length),
        filler!,
      );
      return () => this.#pick(longReads)(reader);
    });
    const userLoops = [filler!, ...others, ...this.#keys].flatMap((user) =>
      this.#urls.flatMap((_, node) => {
        const token = tokens.get(user.username)!;
        const reader = this.#reader(this.#connect(token, node), user);
        const changer = this.#changer(this.#connect(token, node), user);
        return [() => this.#pick(reads)(reader), () => this.#pick(folderChanges)(changer)];
      }),
    );
    return [...adminLoops, ...fillerLoops, ...userLoops];
  }

  async #repeat(step: () => Promise<void>): Promise<void> {
    while (this.#steps < this.#options.steps && !this.#options.isOver?.()) {
      this.#steps++;
      await step();
    }
  }

  /** Without these changes, almost every request of a short run would be refused. */
  async #prepare(changer: Changer): Promise<void> {
    while (this.#folderIds.length < minFolders) await create(changer);
    for (const [at, { id: userId }] of this.#users.slice(1).entries()) {
      for (const folderId of this.#folderIds.slice(at + 1, at + 3)) {
        await grantTo(changer, { userId, folderId, level: 2 });
      }
    }
  }

  /** A confined key has a folder on which its user has a grant. */
  async #createKeys(tokens: Map<string, string>): Promise<void> {
    for (const { owner, level, isConfined } of keys) {
      const user = this.#users[owner]!;
      const folderId = isConfined ? this.#folderIds[owner + 1]! : null;
      const input = { name: 'viewer', level: levelNames[level], folderId };
      const actor = this.#connect(tokens.get(user.username)!, 0);
      const data = await actor.query<{ createApiKey: { key: string; apiKey: { id: string } } }>(
        mutation('createApiKey', 'key apiKey{id}'),
        { input },
      );
      const { key, apiKey } = data!.createApiKey;
      const username = `${input.level} key of ${user.username}`;
      const limits = { id: apiKey.id, level, folderId, hasAdministrator: user.isAdministrator };
      this.#keys.push({ id: user.id, username, isAdministrator: false, key: limits });
      tokens.set(username, key);
    }
  }

  /** Keeps the tree small, so that operations interact. */
  #changeAsAdministrator(changer: Changer): Promise<void> {
    const size = this.#folderIds.length;
    if (this.#random() < 0.1) return changeMembership(changer);
    const fitting = administratorChanges.filter(
      ({ name }) => !(name === 'create' && size > maxFolders) && !(name === 'remove' && size < minFolders),
    );
    return this.#pick(fitting)(changer);
  }

  async #watch(user: ModelUser, url: string, tokens: ReadonlyMap<string, string>): Promise<void> {
    const token = tokens.get(user.username)!;
    const actor = this.#connect(token, this.#urls.indexOf(url));
    const socket = await SocketClient.connect(url, token);
    this.#sockets.push(socket);
    socket.start('changes', `subscription{folderChanges{cursor folder{${descendantsSelection}}}}`);
    for (;;) {
      const frame = await socket.next().catch((error: unknown) => {
        if (this.#isEnding) return undefined;
        throw error;
      });
      if (!frame || this.#isEnding) return;
      if (frame.type !== 'next') throw new Error(JSON.stringify(frame));
      const { folderChanges: event } = frame.payload!['data'] as {
        folderChanges: { cursor: string; folder: { id: string } | null };
      };
      this.#events++;
      const { folder } = event;
      if (!folder) continue;
      this.#history.observe({
        low: readNumber(event.cursor),
        high: await actor.head(),
        title: `an event for ${user.username}`,
        actual: folder,
        expected: (model) => {
          const found = findSeen(model, user, folder.id);
          return found ? [expectWithDescendants(model, user, found)] : [];
        },
      });
    }
  }

  async #createModel(admin: Actor, tokens: Map<string, string>): Promise<TreeModel> {
    const change = async <Payload>(name: string, input: object, selection: string) =>
      (await admin.query<Record<string, Payload>>(mutation(name, selection), { input }))![name]!;
    const viewer = await admin.query<{
      viewer: { user: { id: string } };
      folder: { id: string; name: string };
    }>('{viewer{user{id}} folder{id name}}');
    const { folder: root } = viewer!;
    this.#users = [{ id: viewer!.viewer.user.id, username: 'admin', isAdministrator: true }];
    for (let at = 1; at <= userCount; at++) {
      const credentials = { username: `user${at}`, password: `${administrator.password} ${at}` };
      const { user } = await change<{ user: { id: string } }>('createUser', credentials, 'user{id}');
      this.#users.push({ id: user.id, username: credentials.username, isAdministrator: false });
      tokens.set(credentials.username, await this.#logIn(credentials));
    }
    const { group } = await change<{ group: { id: string } }>(
      'createGroup',
      { name: groupName },
      'group{id}',
    );
    this.#groupId = group.id;
    this.#folderIds.push(root.id);
    return new TreeModel({
      root: { ...root, createdAt: 0 },
      users: this.#users,
      groups: [{ id: group.id, memberIds: new Set() }],
      trashDays: 30,
      now: 1,
    });
  }

  #reader(actor: Actor, user: ModelUser): Reader {
    return {
      actor,
      user,
      history: this.#history,
      anyId: () => this.#pick(this.#folderIds),
      anyText: () => this.#anyText(),
    };
  }

  #changer(actor: Actor, user: ModelUser): Changer {
    return {
      actor,
      user,
      history: this.#history,
      groupId: this.#groupId,
      random: this.#random,
      anyId: () => this.#pick(this.#folderIds),
      anyDeletedId: () => this.#pick(this.#deletedIds),
      anyUser: () => this.#pick(this.#users.slice(1)),
      newText: () => `text ${++this.#texts}`,
      onCreated: (id) => this.#folderIds.push(id),
      onDeleted: (id) => {
        this.#folderIds.splice(this.#folderIds.indexOf(id), 1);
        this.#deletedIds.push(id);
      },
    };
  }

  /** Returns a part of a name or of a title. */
  #anyText(): string {
    return `text ${Math.floor(this.#random() * 10)}`;
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }

  #connect(authToken: string, node: number): Actor {
    const actor = new Actor(this.#urls[node]!, authToken);
    this.#actors.push(actor);
    return actor;
  }

  async #logIn(credentials: object): Promise<string> {
    const response = await fetch(`${this.#urls[0]!}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    });
    return ((await response.json()) as LoginResponse).authToken;
  }
}

/** The Mulberry32 generator. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
