/** Whoever follows the changes of a node that stops goes on elsewhere: nothing is missed, and nothing comes twice. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient, type CloseEvent, type Frame } from '../live/socket-client.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface Told {
  readonly kind: string;
  readonly folder: { readonly name: string } | null;
}

const follow = `subscription($after: String, $under: ID){folderChanges(after: $after, under: $under){kind folder{name}}}`;

function namesIn(frames: readonly Frame[], id: string): string[] {
  return frames
    .filter((frame) => frame.id === id && frame.type === 'next')
    .map(({ payload }) => (payload as { data: { folderChanges: Told } }).data.folderChanges)
    .map(({ kind, folder }) => (kind === 'CREATE' ? folder!.name : kind));
}

function cursorOf({ code, reason }: CloseEvent): string {
  assert.equal(code, 1001);
  assert.match(reason, /^Going away; cursor=\S+$/);
  return reason.split('cursor=')[1]!;
}

for (const kind of databaseKinds) {
  describe(`going on elsewhere on ${kind.name}`, () => {
    let database: TestDatabase;
    /** It stays, and changes the tree all the time. */
    let writer: TreeTestbed;
    let count = 0;
    /** Also of a test that fails: what it leaves behind would hold all the others. */
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
      const node = await Testbed.start(kind, { database, clock: writer.testbed.clock });
      running.add(node);
      return node;
    }
    function stop(node: Testbed): Promise<void> {
      running.delete(node);
      return node.stop();
    }
    const connect = (node: Testbed) => SocketClient.connect(node.url, writer.authToken);

    /** Answers with the names that were made, when it is told to end. */
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

    /** Follows until it has been told of a folder. */
    async function framesUntil(client: SocketClient, id: string, last: string): Promise<Frame[]> {
      const frames: Frame[] = [];
      while (!namesIn(frames, id).includes(last)) frames.push(await client.next());
      return frames;
    }

    test('a subscription goes on after the cursor of the close, amid changes, three times', async () => {
      const end = write();
      const told: string[] = [];
      // The first begins after what was made before it came; all the others must be told of.
      let after: string | undefined;
      for (let round = 0; round < 3; round++) {
        const node = await startNode();
        const client = await connect(node);
        client.start('1', follow, { after });
        const first = await client.next();
        const stopped = stop(node);
        after = cursorOf(await client.closed());
        await stopped;
        told.push(...namesIn([first, ...client.unread], '1'));
      }
      const made = await end();
      const node = await startNode();
      const client = await connect(node);
      client.start('1', follow, { after });
      if (told.at(-1) !== made.at(-1))
        told.push(...namesIn(await framesUntil(client, '1', made.at(-1)!), '1'));
      assert.deepEqual(told, made.slice(made.indexOf(told[0]!)));
    });

    test('the cursor is right for all subscriptions of the socket, also for one that was told nothing', async () => {
      const busy = await writer.create('busy');
      const quiet = await writer.create('quiet');
      const { cursor: after } = await writer.query<{ cursor: string }>('{cursor}');
      const node = await startNode();
      const client = await connect(node);
      const ids = { all: undefined, busy, quiet };
      // After a cursor: which of them begins first is as it comes.
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
      const isTold = (id: string, name: string) => namesIn([...frames, ...rest], id).includes(name);
      while (!isTold('all', 'late') || !isTold('quiet', 'late') || !isTold('busy', made.at(-1)!)) {
        rest.push(await again.next());
      }
      const told = (id: string) => namesIn([...frames, ...rest], id);
      assert.deepEqual(told('all'), [...made, 'late']);
      assert.deepEqual(told('busy'), made);
      assert.deepEqual(told('quiet'), ['late']);
    });

    test('an event stream goes on after the cursor of its last line', async () => {
      const open = (node: Testbed, after?: string) =>
        EventClient.open(
          node.url,
          { query: follow, variables: { after } },
          { authorization: `Bearer ${writer.authToken}` },
        );
      const nameIn = (event: { data: unknown } | undefined) =>
        (event!.data as { data: { folderChanges: Told } }).data.folderChanges.folder!.name;
      const node = await startNode();
      const client = await open(node);
      const end = write();
      const told = [nameIn(await client.next())];
      const stopped = stop(node);
      told.push(...(await client.readRest()).map(nameIn));
      await stopped;
      assert.ok(client.cursor);
      const made = await end();
      const next = await startNode();
      const again = await open(next, client.cursor);
      while (told.at(-1) !== made.at(-1)) told.push(nameIn(await again.next()));
      assert.deepEqual(told, made.slice(made.indexOf(told[0]!)));
      again.disconnect();
    });

    test('who has heard nothing for long goes on from where the journal is, and not from where it began', async () => {
      const quiet = await writer.create('still');
      const changes = `query($after: String){changes(after: $after){items{folder{name}}}}`;
      const after = async (place: string) =>
        (await writer.query<{ changes: { items: unknown[] } }>(changes, { after: place })).changes.items
          .length;
      /** How much of three changes comes again, though it is not to be told. */
      const comesAgain = async () => {
        const node = await startNode();
        const client = await connect(node);
        const { cursor } = await writer.query<{ cursor: string }>('{cursor}');
        client.start('1', follow, { under: quiet, after: cursor });
        await writer.create(`elsewhere ${++count}`);
        await writer.create(`elsewhere ${++count}`);
        await new TreeTestbed(node, writer.authToken).create(`elsewhere ${++count}`);
        assert.equal(await after(cursor), 3);
        const stopped = stop(node);
        const told = cursorOf(await client.closed());
        await stopped;
        assert.deepEqual(client.unread, []);
        return after(told);
      };
      // A node that stops does not wait until it has looked through them all, and needs not be that quick.
      await eventually(async () => (await comesAgain()) === 0, 'all three were looked through');
    });
  });
}
