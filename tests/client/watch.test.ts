/** Watched trees on a real server: several users change folders and access, while the test terminates sockets. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { WebSocket as Socket } from 'ws';
import {
  createClient,
  memoryStorage,
  type Client,
  type Folder,
  type FolderDetails,
  type WatchedTree,
} from '@espalier/client';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { createChanger, randomChanges, type People } from './random-changes.ts';

const rounds = 2;
const writers = 4;
const writesPerRound = 20;
const timeoutMs = 60_000;

interface Watcher {
  readonly name: string;
  readonly client: Client;
  /** Terminates the connection of this watcher, like a failing network. */
  readonly disconnect: () => void;
  readonly watched: WatchedTree;
  /** The error that ended the updates. */
  failure?: unknown;
  readonly under: string | undefined;
}

function withoutPosition(folder: Folder): Folder {
  const { path, depth, ...rest } = folder as FolderDetails;
  void [path, depth];
  return rest;
}

function connect(url: string, authToken: string) {
  let last: Socket | undefined;
  const track = (socket: Socket) => void (last = socket);
  class TrackedSocket extends Socket {
    constructor(address: string, protocol: string) {
      super(address, protocol);
      track(this);
    }
  }
  const storage = memoryStorage();
  void storage.write({ authToken, refreshToken: '', expiresAt: Infinity, lifetimeSeconds: 600 });
  const webSocket = TrackedSocket as unknown as typeof WebSocket;
  return { client: createClient({ url, storage, webSocket }), disconnect: () => last?.terminate() };
}

for (const kind of databaseKinds) {
  describe(`watched trees on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let people: People;
    const watchers: Watcher[] = [];

    const watch = async (name: string, authToken: string, path?: string) => {
      const { client, disconnect } = connect(tree.server.url, authToken);
      const under = path === undefined ? undefined : await tree.idOf(path);
      const watched = await client.watch({ under, pageSize: 4 });
      const watcher: Watcher = { name, client, disconnect, under, watched };
      watched.closed.catch((error: unknown) => (watcher.failure = error));
      watchers.push(watcher);
    };

    before(async () => {
      tree = await TreeTestbed.start(kind);
      for (const top of ['a', 'b', 'c']) await tree.import([`${top}/x/1`, `${top}/x/2`, `${top}/y/1/deep`]);
      const { group } = await tree.mutate<{ group: { id: string } }>(
        'createGroup',
        { name: 'g' },
        'group{id}',
      );
      await tree.mutate('grantAccess', {
        folderId: await tree.idOf('/b/y'),
        groupId: group.id,
        level: 'READ',
      });
      const reader = await tree.person({ [await tree.idOf('/')]: 'READ', [await tree.idOf('/a/x')]: 'NONE' });
      const deep = await tree.person({ [await tree.idOf('/c/y/1')]: 'WRITE' });
      people = { userIds: [reader.id, deep.id], groupId: group.id };
      await tree.mutate('addToGroup', { groupId: group.id, userIds: people.userIds });
      await watch('administrator', tree.authToken);
      await watch('administrator', tree.authToken, '/a');
      await watch('reader', reader.authToken);
      await watch('reader', reader.authToken, '/b');
      await watch('deep', deep.authToken);
    });
    after(async () => {
      for (const { watched, client } of watchers) {
        watched.close();
        client.close();
      }
      await tree.stop();
    });

    const readFresh = async ({ client: { folders }, under }: Watcher): Promise<unknown[]> => {
      const top = under === undefined ? await folders.root() : await folders.byId(under);
      if (!top) return [];
      const all = [withoutPosition(top)];
      for await (const folder of folders.descendants(top.id)) all.push(withoutPosition(folder));
      return all;
    };
    const listWatched = ({ watched }: Watcher): unknown[] => {
      const all: unknown[] = [];
      const walk = (id: string) => {
        all.push(watched.get(id));
        for (const child of watched.children(id)) walk(child.id);
      };
      if (watched.root) walk(watched.root.id);
      assert.equal(all.length, watched.size);
      return all;
    };
    /** Waits until the watched tree equals a fresh read, including the order. */
    const waitUntilEqual = async (watcher: Watcher) => {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const expected = await readFresh(watcher);
        assert.ifError(watcher.failure);
        if (isDeepStrictEqual(listWatched(watcher), expected)) return;
        if (performance.now() > deadline) assert.deepEqual(listWatched(watcher), expected, watcher.name);
      }
    };

    test('equal a fresh read, including the order, after the last change', async () => {
      const changer = createChanger(tree, people);
      const changes = fc.sample(randomChanges, { seed: 5, numRuns: rounds * writers * writesPerRound });
      while (changes.length > 0) {
        await changer.refresh();
        const write = async () => {
          for (const each of changes.splice(0, writesPerRound)) {
            if (each.kind === 'disconnect') watchers[each.one % watchers.length]!.disconnect();
            else await changer.change(each);
          }
        };
        await Promise.all(Array.from({ length: writers }, write));
        await Promise.all(watchers.map(waitUntilEqual));
      }
    });
  });
}
