/** A client of a stopping node continues at another node. It misses no change and receives none twice. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient, type CloseEvent, type Frame } from '../live/socket-client.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface ReceivedChange {
  readonly kind: string;
  readonly folder: { readonly name: string } | null;
}

const changesSubscription = `subscription($after: String, $under: ID){folderChanges(after: $after, under: $under){kind folder{name}}}`;

function namesIn(frames: readonly Frame[], id: string): string[] {
  return frames
    .filter((frame) => frame.id === id && frame.type === 'next')
    .map(({ payload }) => (payload as { data: { folderChanges: ReceivedChange } }).data.folderChanges)
    .map(({ kind, folder }) => (kind === 'CREATE' ? folder!.name : kind));
}

function cursorOf({ code, reason }: CloseEvent): string {
  assert.equal(code, 1001);
  assert.match(reason, /^Going away; cursor=\S+$/);
  return reason.split('cursor=')[1]!;
}

for (const kind of databaseKinds) {
  describe(`a client of a stopping node on ${kind.name}`, () => {
    let database: TestDatabase;
    /** This node keeps running and changes the tree continuously. */
    let writer: TreeTestbed;
    let count = 0;
    /** Nodes that are still running. After a failed test, a node that is not stopped would block the other tests. */
    const runningNodes = new Set<Testbed>();
    let endWriting: () => Promise<unknown> = () => Promise.resolve();
    before(async () => {
      database = await kind.createForServer();
      writer = await TreeTestbed.start(kind, { database });
    });
    afterEach(async () => {
      await endWriting();
      await Promise.all([...runningNodes].map(stop));
    });
    after(async () => {
      await writer.stop();
      await database.remove();
    });

    async function startNode(): Promise<Testbed> {
      const node = await Testbed.start(kind, { database, clock: writer.server.clock });
      runningNodes.add(node);
      return node;
    }
    function stop(node: Testbed): Promise<void> {
      runningNodes.delete(node);
      return node.stop();
    }
    const connect = (node: Testbed) => SocketClient.connect(node.url, writer.authToken);

    /** Creates folders until the returned function is called. That function returns the names of the folders. */
    function write(parentId?: string): () => Promise<string[]> {
      const createdNames: string[] = [];
      let isOver = false;
      const writes = (async () => {
        while (!isOver) {
          createdNames.push(`folder ${++count}`);
          await writer.create(createdNames.at(-1)!, parentId);
        }
      })();
      const end = async () => {
        isOver = true;
        await writes;
        return createdNames;
      };
      endWriting = end;
      return end;
    }

    /** Reads frames until the change of this folder arrives. */
    async function readFramesUntil(client: SocketClient, id: string, last: string): Promise<Frame[]> {
      const frames: Frame[] = [];
      while (!namesIn(frames, id).includes(last)) frames.push(await client.next());
      return frames;
    }

    test('continues a subscription at another node after the cursor of the close frame', async () => {
      const end = write();
      const receivedNames: string[] = [];
      // The first subscription has no cursor, so it may miss earlier changes. All later changes must arrive.
      let after: string | undefined;
      for (let round = 0; round < 3; round++) {
        const node = await startNode();
        const client = await connect(node);
        client.start('1', changesSubscription, { after });
        const first = await client.next();
        const stopped = stop(node);
        after = cursorOf(await client.closed());
        await stopped;
        receivedNames.push(...namesIn([first, ...client.unread], '1'));
      }
      const createdNames = await end();
      const node = await startNode();
      const client = await connect(node);
      client.start('1', changesSubscription, { after });
      if (receivedNames.at(-1) !== createdNames.at(-1))
        receivedNames.push(...namesIn(await readFramesUntil(client, '1', createdNames.at(-1)!), '1'));
      assert.deepEqual(receivedNames, createdNames.slice(createdNames.indexOf(receivedNames[0]!)));
    });

    test('receives one cursor that is valid for all subscriptions of its socket', async () => {
      const busyId = await writer.create('busy');
      const quietId = await writer.create('quiet');
      const { cursor: after } = await writer.query<{ cursor: string }>('{cursor}');
      const node = await startNode();
      const client = await connect(node);
      const ids = { all: undefined, busy: busyId, quiet: quietId };
      // The subscriptions may start in any order, so all continue from the same cursor.
      for (const [id, under] of Object.entries(ids)) client.start(id, changesSubscription, { after, under });
      const end = write(busyId);
      const frames = [await client.next()];
      const stopped = stop(node);
      const cursor = cursorOf(await client.closed());
      await stopped;
      frames.push(...client.unread);
      const createdNames = await end();
      await writer.create('late', quietId);

      const nextNode = await startNode();
      const nextClient = await connect(nextNode);
      for (const [id, under] of Object.entries(ids))
        nextClient.start(id, changesSubscription, { after: cursor, under });
      const laterFrames: Frame[] = [];
      const isReceived = (id: string, name: string) =>
        namesIn([...frames, ...laterFrames], id).includes(name);
      while (
        !isReceived('all', 'late') ||
        !isReceived('quiet', 'late') ||
        !isReceived('busy', createdNames.at(-1)!)
      ) {
        laterFrames.push(await nextClient.next());
      }
      const namesOf = (id: string) => namesIn([...frames, ...laterFrames], id);
      assert.deepEqual(namesOf('all'), [...createdNames, 'late']);
      assert.deepEqual(namesOf('busy'), createdNames);
      assert.deepEqual(namesOf('quiet'), ['late']);
    });

    test('continues an event stream at another node after the cursor of the last line', async () => {
      const open = (node: Testbed, after?: string) =>
        EventClient.open(
          node.url,
          { query: changesSubscription, variables: { after } },
          { authorization: `Bearer ${writer.authToken}` },
        );
      const nameIn = (event: { data: unknown } | undefined) =>
        (event!.data as { data: { folderChanges: ReceivedChange } }).data.folderChanges.folder!.name;
      const node = await startNode();
      const client = await open(node);
      const end = write();
      const receivedNames = [nameIn(await client.next())];
      const stopped = stop(node);
      receivedNames.push(...(await client.readRest()).map(nameIn));
      await stopped;
      assert.ok(client.cursor);
      const createdNames = await end();
      const nextNode = await startNode();
      const nextClient = await open(nextNode, client.cursor);
      while (receivedNames.at(-1) !== createdNames.at(-1))
        receivedNames.push(nameIn(await nextClient.next()));
      assert.deepEqual(receivedNames, createdNames.slice(createdNames.indexOf(receivedNames[0]!)));
      nextClient.disconnect();
    });

    test('receives the current cursor for a subscription without events', async () => {
      const quietId = await writer.create('still');
      const changesQuery = `query($after: String){changes(after: $after){items{folder{name}}}}`;
      const countAfter = async (cursor: string) =>
        (await writer.query<{ changes: { items: unknown[] } }>(changesQuery, { after: cursor })).changes.items
          .length;
      /** Returns how many of three irrelevant changes a client would read again after the last cursor. */
      const countRepeated = async () => {
        const node = await startNode();
        const client = await connect(node);
        const { cursor } = await writer.query<{ cursor: string }>('{cursor}');
        client.start('1', changesSubscription, { under: quietId, after: cursor });
        await writer.create(`elsewhere ${++count}`);
        await writer.create(`elsewhere ${++count}`);
        await new TreeTestbed(node, writer.authToken).create(`elsewhere ${++count}`);
        assert.equal(await countAfter(cursor), 3);
        const stopped = stop(node);
        const lastCursor = cursorOf(await client.closed());
        await stopped;
        assert.deepEqual(client.unread, []);
        return countAfter(lastCursor);
      };
      // A stopping node does not wait until it has processed all changes, so this may take several attempts.
      await eventually(async () => (await countRepeated()) === 0, 'the node has processed all three changes');
    });
  });
}
