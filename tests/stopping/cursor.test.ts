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

const follow = `subscription($after: String, $under: ID){folderChanges(after: $after, under: $under){kind folder{name}}}`;

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
    const running = new Set<Testbed>();
    let endWriting: () => Promise<unknown> = () => Promise.resolve();
    before(async () => {
      database = await kind.createForServer();
      writer = await TreeTestbed.start(kind, { database });
    });
    afterEach(async () => {
      await endWriting();
      await Promise.all([...running].map(stop));
    });
    after(async () => {
      await writer.stop();
      await database.remove();
    });

    async function startNode(): Promise<Testbed> {
      const node = await Testbed.start(kind, { database, clock: writer.server.clock });
      running.add(node);
      return node;
    }
    function stop(node: Testbed): Promise<void> {
      running.delete(node);
      return node.stop();
    }
    const connect = (node: Testbed) => SocketClient.connect(node.url, writer.authToken);

    /** Creates folders until the returned function is called. That function returns the names of the folders. */
    function write(parentId?: string): () => Promise<string[]> {
      const made: string[] = [];
      let isOver = false;
      const writing = (async () => {
        while (!isOver) {
          made.push(`folder ${++count}`);
          await writer.create(made.at(-1)!, parentId);
        }
      })();
      const end = async () => {
        isOver = true;
        await writing;
        return made;
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
      const received: string[] = [];
      // The first subscription has no cursor, so it may miss earlier changes. All later changes must arrive.
      let after: string | undefined;
      for (let round = 0; round < 3; round++) {
        const node = await startNode();
        const client = await connect(node);
        client.start('1', follow, { after });
        const first = await client.next();
        const stopped = stop(node);
        after = cursorOf(await client.closed());
        await stopped;
        received.push(...namesIn([first, ...client.unread], '1'));
      }
      const made = await end();
      const node = await startNode();
      const client = await connect(node);
      client.start('1', follow, { after });
      if (received.at(-1) !== made.at(-1))
        received.push(...namesIn(await readFramesUntil(client, '1', made.at(-1)!), '1'));
      assert.deepEqual(received, made.slice(made.indexOf(received[0]!)));
    });

    test('receives one cursor that is valid for all subscriptions of its socket', async () => {
      const busy = await writer.create('busy');
      const quiet = await writer.create('quiet');
      const { cursor: after } = await writer.query<{ cursor: string }>('{cursor}');
      const node = await startNode();
      const client = await connect(node);
      const ids = { all: undefined, busy, quiet };
      // The subscriptions may start in any order, so all continue from the same cursor.
      for (const [id, under] of Object.entries(ids)) client.start(id, follow, { after, under });
      const end = write(busy);
      const frames = [await client.next()];
      const stopped = stop(node);
      const cursor = cursorOf(await client.closed());
      await stopped;
      frames.push(...client.unread);
      const made = await end();
      await writer.create('late', quiet);

      const next = await startNode();
      const again = await connect(next);
      for (const [id, under] of Object.entries(ids)) again.start(id, follow, { after: cursor, under });
      const rest: Frame[] = [];
      const isReceived = (id: string, name: string) => namesIn([...frames, ...rest], id).includes(name);
      while (
        !isReceived('all', 'late') ||
        !isReceived('quiet', 'late') ||
        !isReceived('busy', made.at(-1)!)
      ) {
        rest.push(await again.next());
      }
      const namesOf = (id: string) => namesIn([...frames, ...rest], id);
      assert.deepEqual(namesOf('all'), [...made, 'late']);
      assert.deepEqual(namesOf('busy'), made);
      assert.deepEqual(namesOf('quiet'), ['late']);
    });

    test('continues an event stream at another node after the cursor of the last line', async () => {
      const open = (node: Testbed, after?: string) =>
        EventClient.open(
          node.url,
          { query: follow, variables: { after } },
          { authorization: `Bearer ${writer.authToken}` },
        );
      const nameIn = (event: { data: unknown } | undefined) =>
        (event!.data as { data: { folderChanges: ReceivedChange } }).data.folderChanges.folder!.name;
      const node = await startNode();
      const client = await open(node);
      const end = write();
      const received = [nameIn(await client.next())];
      const stopped = stop(node);
      received.push(...(await client.readRest()).map(nameIn));
      await stopped;
      assert.ok(client.cursor);
      const made = await end();
      const next = await startNode();
      const again = await open(next, client.cursor);
      while (received.at(-1) !== made.at(-1)) received.push(nameIn(await again.next()));
      assert.deepEqual(received, made.slice(made.indexOf(received[0]!)));
      again.disconnect();
    });

    test('receives the current cursor for a subscription without events', async () => {
      const quiet = await writer.create('still');
      const changes = `query($after: String){changes(after: $after){items{folder{name}}}}`;
      const countAfter = async (cursor: string) =>
        (await writer.query<{ changes: { items: unknown[] } }>(changes, { after: cursor })).changes.items
          .length;
      /** Returns how many of three irrelevant changes a client would read again after the last cursor. */
      const countRepeated = async () => {
        const node = await startNode();
        const client = await connect(node);
        const { cursor } = await writer.query<{ cursor: string }>('{cursor}');
        client.start('1', follow, { under: quiet, after: cursor });
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
