/**
 * Mutations of one user do not delay those of another user. The responses of many mutations hold a bounded number of
 * snapshots.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AccessCache } from '../../server/src/access/access-cache.ts';
import { whenDone } from '../../server/src/concurrency/promise-or-value.ts';
import type { Database, Snapshot } from '../../server/src/database/database.ts';
import { createGraph, type GraphOptions } from '../../server/src/graph/graph.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { MirrorTestbed, createViewer } from '../live/mirror/mirror-testbed.ts';

const refusedChanges = 300;
const children = 2_500;
const concurrentChanges = 8;
/** The permits of one user for long reads, plus the snapshot of a short response. */
const maxSnapshots = 3;

for (const kind of databaseKinds) {
  describe(`mutations of one user on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let adminId: string;
    let readerId: string;
    let rootId: string;

    before(async () => {
      testbed = await MirrorTestbed.start(kind);
      adminId = await testbed.administratorId();
      const input = { username: 'reader', password: 'walnut cabin 1' };
      readerId = (await run<{ user: { id: string } }>('createUser', input, 'user{id}')).user.id;
      rootId = (await testbed.run<{ folder: { id: string } }>(adminId, '{folder{id}}')).data!.folder.id;
      await run('grantAccess', { folderId: rootId, userId: readerId, level: 'READ' });
    });
    after(() => testbed.stop());

    async function run<Payload>(name: string, input: object, selection = '__typename'): Promise<Payload> {
      const response = await testbed.run<Record<string, Payload>>(adminId, mutation(name, selection), {
        input,
      });
      assert.equal(response.errors, undefined, JSON.stringify(response.errors));
      return response.data![name]!;
    }

    test('run before most of the mutations that another user sent earlier', async () => {
      await testbed.awaitFeed();
      const gate = Promise.withResolvers<void>();
      let startedCount = 0;
      let refusedCount = 0;
      let refusedBefore: number | undefined;
      const services = testbed.changeServices(({ database, ...rest }) => {
        const accessCache = new AccessCache(database);
        accessCache.accessOf = (userId) =>
          whenDone(rest.accessCache.accessOf(userId), (latest) => {
            startedCount++;
            return latest;
          });
        const change: typeof database.change = async (work, options) => {
          await gate.promise;
          return database.change(work, options);
        };
        return { ...rest, accessCache, database: { ...database, change } };
      });
      // Refused mutations have no journal entry.
      services.feed.onEntry(() => void (refusedBefore ??= refusedCount));
      const graph = createGraph(services);
      const send = async (userId: string, name: string, input: object) => {
        const request = { query: mutation(name, '__typename'), variables: { input } };
        return (await graph.run(request, createViewer(userId))).text;
      };
      const earlierResponses = Array.from({ length: refusedChanges }, async () => {
        assert.match(await send(readerId, 'updateFolder', { id: rootId, title: 'mine' }), /FORBIDDEN/);
        refusedCount++;
      });
      const waitUntilStarted = async (count: number) => {
        do await new Promise(setImmediate);
        while (startedCount < count);
      };
      await waitUntilStarted(refusedChanges);
      const laterResponse = send(adminId, 'createFolder', { name: 'Not delayed' });
      await waitUntilStarted(refusedChanges + 1);
      gate.resolve();
      assert.doesNotMatch(await laterResponse, /errors/);
      assert.ok(refusedBefore! < refusedChanges / 2, `${refusedBefore} changes of the other user came first`);
      await Promise.all(earlierResponses);
    });

    test('keep few snapshots open for their responses', async () => {
      const { folder } = await run<{ folder: { id: string } }>(
        'createFolder',
        { name: 'Wide' },
        'folder{id}',
      );
      const tree = Array.from({ length: children }, (_, number) => ({ name: `Child ${number}` }));
      await run('importFolders', { parentId: folder.id, tree });
      const counter = new SnapshotCounter();
      const graph = createGraph(testbed.changeServices((services) => counter.wrap(services)));
      const query = mutation('updateFolder', 'folder{folders{items{name}}}');
      const all = Array.from({ length: concurrentChanges }, async (_, number) => {
        const request = { query, variables: { input: { id: folder.id, title: `Title ${number}` } } };
        const { text } = await graph.run(request, createViewer(adminId));
        assert.ok(text.includes('Child 2499'), text.slice(0, 200));
      });
      await Promise.all(all);
      assert.equal(counter.open, 0);
      assert.ok(counter.max <= maxSnapshots, `${counter.max} snapshots were open together`);
    });
  });
}

/** Counts the snapshots that have read something and have not ended. */
class SnapshotCounter {
  open = 0;
  max = 0;

  wrap(services: GraphOptions): GraphOptions {
    const { database } = services;
    const countReads: Database = {
      ...database,
      openSnapshot: () => this.#countReads(database.openSnapshot()),
      snapshot: (work) => database.snapshot((snapshot) => work(this.#countReads(snapshot))),
    };
    return { ...services, database: countReads };
  }

  #countReads(snapshot: Snapshot): Snapshot {
    let isOpen = false;
    const read = () => {
      if (!isOpen) this.max = Math.max(this.max, ++this.open);
      isOpen = true;
    };
    return {
      ...snapshot,
      all: (...args) => {
        read();
        return snapshot.all(...args);
      },
      get: (...args) => {
        read();
        return snapshot.get(...args);
      },
      end: () => {
        if (isOpen) this.open--;
        isOpen = false;
        snapshot.end();
      },
    };
  }
}
