/**
 * Mirrors of users and API keys over real sockets that lose their connections at random, while several writers
 * change the tree and its rights.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds } from '../../support/databases.ts';
import { selectLength } from '../../support/run-length.ts';
import { TreeTestbed } from '../../tree/tree-testbed.ts';
import { Mirror, watchChanges, type Change } from './mirror.ts';
import { SocketClient } from '../socket-client.ts';

const rounds = selectLength({ short: 2, long: 5 });
const writers = 4;
const writesPerRound = 20;
const timeoutMs = 20_000;

/** Follows the changes until it is stopped. After a lost connection, it reconnects with its last cursor. */
class SocketMirror {
  readonly name: string;
  readonly received: Change[] = [];
  readonly #mirror: Mirror;
  readonly #connect: () => Promise<SocketClient>;
  #client: SocketClient | undefined;
  #isStopped = false;
  #loop: Promise<void> = Promise.resolve();

  static async start(tree: TreeTestbed, options: MirrorOptions): Promise<SocketMirror> {
    const mirror = new SocketMirror(tree, options);
    await mirror.#mirror.read();
    mirror.#loop = mirror.#run();
    return mirror;
  }

  private constructor(tree: TreeTestbed, { name, authToken, under }: MirrorOptions) {
    this.name = `${name}, ${under ? `under ${under}` : 'of the whole tree'}`;
    this.#mirror = new Mirror((query, variables) => tree.query(query, variables, authToken), under);
    this.#connect = () => SocketClient.connect(tree.server.url, authToken);
  }

  get resyncs(): number {
    return this.#mirror.resyncs;
  }

  disconnect(): void {
    this.#client?.socket.terminate();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.disconnect();
    await this.#loop;
  }

  /** Waits until the mirror equals a fresh read. */
  async waitUntilEqual(): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let differences = await this.#mirror.differences(); differences.length > 0;) {
      assert.ok(performance.now() < deadline, `${this.name}: ${differences.join('\n')}`);
      differences = await this.#mirror.differences();
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const client = await this.#connect();
      this.#client = client;
      // The test may have stopped the mirror while it connected.
      if (this.#isStopped) client.socket.terminate();
      await this.#follow(client);
    }
  }

  /** After a reconnect, the server sends all changes again that the mirror had not applied. */
  async #follow({ socket }: SocketClient): Promise<void> {
    const { under, cursor: after } = this.#mirror;
    const closed = once(socket, 'close');
    let lastApply = Promise.resolve();
    socket.on('message', (data: Buffer) => {
      lastApply = lastApply.then(() => (socket.readyState === socket.OPEN ? this.#apply(data) : undefined));
    });
    if (socket.readyState === socket.OPEN) {
      const payload = { query: watchChanges, variables: { under, after } };
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
      await closed;
    }
    await lastApply;
  }

  async #apply(data: Buffer): Promise<void> {
    const { type, payload } = JSON.parse(data.toString()) as {
      type: string;
      payload: { data: { folderChanges: Change } };
    };
    assert.equal(type, 'next', `${this.name}: ${data.toString()}`);
    this.received.push(payload.data.folderChanges);
    await this.#mirror.apply(payload.data.folderChanges);
  }
}

interface MirrorOptions {
  readonly name: string;
  readonly authToken: string;
  readonly under?: string;
}

const choices = fc.record({
  kind: fc.constantFrom(
    'create',
    'update',
    'move',
    'move',
    'delete',
    'restore',
    'grant',
    'revoke',
    'join',
    'leave',
    'disconnect',
  ),
  one: fc.nat(9_999),
  two: fc.nat(9_999),
});

for (const kind of databaseKinds) {
  describe(`mirrors over sockets on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let mirrors: SocketMirror[];
    let folderIds: string[];
    let userIds: string[];
    let groupId: string;
    const trash: string[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind);
      for (const top of ['a', 'b', 'c']) await tree.import([`${top}/x/1`, `${top}/x/2`, `${top}/y/1/deep`]);
      await readFolderIds();
      const { group } = await tree.mutate<{ group: { id: string } }>(
        'createGroup',
        { name: 'group' },
        'group{id}',
      );
      groupId = group.id;
      await tree.mutate('grantAccess', { folderId: await tree.idOf('/b/y'), groupId, level: 'READ' });
      const people = [
        await tree.person({ [await rootId()]: 'READ', [await tree.idOf('/a/x')]: 'NONE' }),
        await tree.person({ [await tree.idOf('/c/y/1')]: 'WRITE' }),
        await tree.person({}),
      ];
      userIds = people.map(({ id }) => id);
      await tree.mutate('addToGroup', { groupId, userIds: userIds.slice(1) });
      const starting = [
        { name: 'administrator', authToken: tree.authToken },
        { name: 'administrator', authToken: tree.authToken, under: await tree.idOf('/a') },
        ...people.map(({ username: name, authToken }) => ({ name, authToken })),
        { name: 'reader', authToken: people[0]!.authToken, under: await tree.idOf('/b') },
        { name: 'deep', authToken: people[1]!.authToken, under: await tree.idOf('/c') },
        { name: 'key of the administrator', authToken: await createKey(tree.authToken, '/c') },
        { name: 'key of a person', authToken: await createKey(people[0]!.authToken, '/b/y') },
      ].map((options) => SocketMirror.start(tree, options));
      mirrors = await Promise.all(starting);
    });
    after(async () => {
      await Promise.all(mirrors.map((mirror) => mirror.stop()));
      await tree.stop();
    });

    /** Creates an API key for one folder. */
    const createKey = async (authToken: string, path: string) => {
      const input = { name: 'mirror', level: 'MANAGE', folderId: await tree.idOf(path) };
      const { key } = await tree.mutate<{ key: string }>('createApiKey', input, 'key', authToken);
      return key;
    };
    const rootId = async () => (await tree.query<{ folder: { id: string } }>('{folder{id}}')).folder.id;
    const readFolderIds = async () => {
      const query = '{folder{descendants{items{id}}}}';
      const { folder } = await tree.query<{ folder: { descendants: { items: { id: string }[] } } }>(query);
      folderIds = folder.descendants.items.map(({ id }) => id);
    };
    const pick = <T>(all: readonly T[], index: number) => all[index % all.length]!;
    const newName = (one: number, two: number) => `n${one} ${two}`;

    /** Concurrent writers may conflict, so refusals are accepted. */
    const change = async ({ kind: name, one, two }: { kind: string; one: number; two: number }) => {
      const id = pick(folderIds, one);
      const grant = { folderId: id, userId: pick(userIds, two) };
      const membership = { groupId, userIds: [pick(userIds, two)] };
      if (name === 'create') await tree.outcome('createFolder', { parentId: id, name: newName(one, two) });
      if (name === 'update') await tree.outcome('updateFolder', { id, name: newName(one, two) });
      if (name === 'move') await tree.outcome('moveFolder', { id, parentId: pick(folderIds, two) });
      if (name === 'grant')
        await tree.outcome('grantAccess', { ...grant, level: pick(['READ', 'NONE', 'WRITE'], one) });
      if (name === 'revoke') await tree.outcome('revokeAccess', grant);
      if (name === 'join') await tree.outcome('addToGroup', membership);
      if (name === 'leave') await tree.outcome('removeFromGroup', membership);
      if (name === 'restore' && trash.length > 0) await tree.outcome('restoreFolder', { id: trash.pop() });
      if (name === 'delete' && one % 2 === 0) {
        trash.push(id);
        await tree.outcome('deleteFolder', { id, recursive: true });
      }
      // Disconnects only mirrors of the whole tree, because the server may refuse to reconnect the others.
      if (name === 'disconnect')
        pick([mirrors[0]!, ...mirrors.slice(2, 5), ...mirrors.slice(7)], one).disconnect();
    };

    test('equal a fresh read whenever the writers pause', async () => {
      const remaining = fc.sample(choices, { seed: 11, numRuns: rounds * writers * writesPerRound });
      while (remaining.length > 0) {
        const write = async () => {
          for (const each of remaining.splice(0, writesPerRound)) await change(each);
        };
        await Promise.all(Array.from({ length: writers }, write));
        await Promise.all(mirrors.map((mirror) => mirror.waitUntilEqual()));
        await readFolderIds();
      }
      const [administrator] = mirrors as [SocketMirror];
      assert.equal(administrator.resyncs, 0);
      const cursors = administrator.received.map(({ cursor }) => cursor);
      assert.equal(new Set(cursors).size, cursors.length, 'a change was sent twice');
    });
  });
}
