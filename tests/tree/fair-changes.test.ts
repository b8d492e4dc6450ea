/** Changes of one user do not keep those of another waiting, and their answers hold a bounded number of snapshots. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { whenDone, type Database, type Snapshot } from '../../server/src/database/database.ts';
import { createGraph, type GraphOptions } from '../../server/src/graph/graph.ts';
import { databaseKinds } from '../databases.ts';
import { mutation } from '../graph-bed.ts';
import { MirrorBed, viewerOf } from '../live/mirror-bed.ts';

const refusedChanges = 300;
const children = 2_500;
const concurrentChanges = 8;
/** The permits of one user for long reads, and the snapshot of an answer that does not take long. */
const maxSnapshots = 3;

for (const kind of databaseKinds) {
  describe(`fair changes on ${kind.name}`, () => {
    let bed: MirrorBed;
    let adminId: string;
    let readerId: string;
    let rootId: string;

    before(async () => {
      bed = await MirrorBed.start(kind);
      adminId = await bed.administratorId();
      const input = { username: 'reader', password: 'walnut cabin 1' };
      readerId = (await run<{ user: { id: string } }>('createUser', input, 'user{id}')).user.id;
      rootId = (await bed.run<{ folder: { id: string } }>(adminId, '{folder{id}}')).data!.folder.id;
      await run('grantAccess', { folderId: rootId, userId: readerId, level: 'READ' });
    });
    after(() => bed.stop());

    async function run<Payload>(name: string, input: object, selection = '__typename'): Promise<Payload> {
      const answer = await bed.run<Record<string, Payload>>(adminId, mutation(name, selection), { input });
      assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
      return answer.data![name]!;
    }

    test('makes a change of one user before most of those that another user sent earlier', async () => {
      await bed.place();
      const gate = Promise.withResolvers<void>();
      let begun = 0;
      let refused = 0;
      let refusedBefore: number | undefined;
      const services = bed.servicesWith(({ accessBook, database, ...rest }) => ({
        ...rest,
        accessBook: {
          ...accessBook,
          accessOf: (userId) =>
            whenDone(accessBook.accessOf(userId), (latest) => {
              begun++;
              return latest;
            }),
        },
        database: {
          ...database,
          change: async (work, options) => {
            await gate.promise;
            return database.change(work, options);
          },
        },
      }));
      // Refused changes have no entry in the journal.
      services.feed.onEntry(() => void (refusedBefore ??= refused));
      const graph = createGraph(services);
      const send = async (userId: string, name: string, input: object) => {
        const request = { query: mutation(name, '__typename'), variables: { input } };
        return (await graph.run(request, viewerOf(userId))).text;
      };
      const earlier = Array.from({ length: refusedChanges }, async () => {
        assert.match(await send(readerId, 'updateFolder', { id: rootId, title: 'mine' }), /FORBIDDEN/);
        refused++;
      });
      const untilBegun = async (count: number) => {
        do await new Promise(setImmediate);
        while (begun < count);
      };
      await untilBegun(refusedChanges);
      const later = send(adminId, 'createFolder', { name: 'Not kept waiting' });
      await untilBegun(refusedChanges + 1);
      gate.resolve();
      assert.doesNotMatch(await later, /errors/);
      assert.ok(refusedBefore! < refusedChanges / 2, `${refusedBefore} changes of the other user came first`);
      await Promise.all(earlier);
    });

    test('holds few snapshots for the answers of many changes of one user', async () => {
      const { folder } = await run<{ folder: { id: string } }>(
        'createFolder',
        { name: 'Wide' },
        'folder{id}',
      );
      const tree = Array.from({ length: children }, (_, number) => ({ name: `Child ${number}` }));
      await run('importFolders', { parentId: folder.id, tree });
      const counter = new SnapshotCounter();
      const graph = createGraph(bed.servicesWith((services) => counter.into(services)));
      const query = mutation('updateFolder', 'folder{folders{items{name}}}');
      const all = Array.from({ length: concurrentChanges }, async (_, number) => {
        const request = { query, variables: { input: { id: folder.id, title: `Title ${number}` } } };
        const { text } = await graph.run(request, viewerOf(adminId));
        assert.ok(text.includes('Child 2499'), text.slice(0, 200));
      });
      await Promise.all(all);
      assert.equal(counter.open, 0);
      assert.ok(counter.most <= maxSnapshots, `${counter.most} snapshots at once`);
    });
  });
}

/** Counts the snapshots that have read something and not ended. */
class SnapshotCounter {
  open = 0;
  most = 0;

  into(services: GraphOptions): GraphOptions {
    const { database } = services;
    const counted: Database = {
      ...database,
      openSnapshot: () => this.#counted(database.openSnapshot()),
      snapshot: (work) => database.snapshot((snapshot) => work(this.#counted(snapshot))),
    };
    return { ...services, database: counted };
  }

  #counted(snapshot: Snapshot): Snapshot {
    let isOpen = false;
    const read = () => {
      if (!isOpen) this.most = Math.max(this.most, ++this.open);
      isOpen = true;
    };
    return {
      ...snapshot,
      all: (...given) => {
        read();
        return snapshot.all(...given);
      },
      get: (...given) => {
        read();
        return snapshot.get(...given);
      },
      end: () => {
        if (isOpen) this.open--;
        isOpen = false;
        snapshot.end();
      },
    };
  }
}
