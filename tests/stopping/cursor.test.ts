/** Whoever follows the changes of a node that stops goes on elsewhere: nothing is missed, and nothing comes twice. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, type TestDatabase } from '../databases.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient, type Closed, type Frame } from '../live/socket-client.ts';
import { Testbed } from '../testbed.ts';
import { TreeBed } from '../tree/tree-bed.ts';

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

function cursorOf({ code, reason }: Closed): string {
  assert.equal(code, 1001);
  assert.match(reason, /^Going away; cursor=\S+$/);
  return reason.split('cursor=')[1]!;
}

for (const kind of databaseKinds) {
  describe(`going on elsewhere on ${kind.name}`, () => {
    let database: TestDatabase;
    /** It stays, and changes the tree all the time. */
    let writer: TreeBed;
    let count = 0;
    before(async () => {
      database = await kind.createForServer();
      writer = await TreeBed.start(kind, { database });
    });
    after(async () => {
      await writer.stop();
      await database.remove();
    });

    const startNode = () => Testbed.start(kind, { database, clock: writer.bed.clock });
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
      return async () => {
        isOver = true;
        await writing;
        return made;
      };
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
        const stopped = node.stop();
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
      await node.stop();
    });

    test('the cursor is right for all subscriptions of the socket, also for one that was told nothing', async () => {
      const busy = await writer.create('busy');
      const quiet = await writer.create('quiet');
      const node = await startNode();
      const client = await connect(node);
      const ids = { all: undefined, busy, quiet };
      for (const [id, under] of Object.entries(ids)) client.start(id, follow, { under });
      client.send({ type: 'ping' });
      assert.equal((await client.next()).type, 'pong');
      const end = write(busy);
      const frames = [await client.next()];
      const stopped = node.stop();
      const cursor = cursorOf(await client.closed());
      await stopped;
      frames.push(...client.unread);
      const made = await end();
      const late = await writer.create('late', quiet);

      const next = await startNode();
      const again = await connect(next);
      for (const [id, under] of Object.entries(ids)) again.start(id, follow, { after: cursor, under });
      const rest: Frame[] = [];
      const isTold = (id: string, name: string) => namesIn([...frames, ...rest], id).includes(name);
      while (!isTold('all', 'late') || !isTold('quiet', 'late') || !isTold('busy', made.at(-1)!)) {
        rest.push(await again.next());
      }
      const told = (id: string) => namesIn([...frames, ...rest], id);
      const begun = made.slice(made.indexOf(told('all')[0]!));
      assert.deepEqual(told('all'), [...begun, 'late']);
      assert.deepEqual(told('busy'), begun.slice(begun.indexOf(told('busy')[0]!)));
      assert.deepEqual(told('quiet'), ['late']);
      assert.ok(late);
      await next.stop();
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
      const stopped = node.stop();
      told.push(...(await client.rest()).map(nameIn));
      await stopped;
      assert.ok(client.cursor);
      const made = await end();
      const next = await startNode();
      const again = await open(next, client.cursor);
      while (told.at(-1) !== made.at(-1)) told.push(nameIn(await again.next()));
      assert.deepEqual(told, made.slice(made.indexOf(told[0]!)));
      again.leave();
      await next.stop();
    });

    test('who has heard nothing for long goes on from where the journal is, and not from where it began', async () => {
      const quiet = await writer.create('still');
      const node = await startNode();
      const client = await connect(node);
      client.start('1', follow, { under: quiet });
      client.send({ type: 'ping' });
      assert.equal((await client.next()).type, 'pong');
      await writer.create('elsewhere 1');
      await writer.create('elsewhere 2');
      const { cursor } = await writer.ask<{ cursor: string }>('{cursor}');
      await new TreeBed(node, writer.authToken).create('elsewhere 3');
      const stopped = node.stop();
      const told = cursorOf(await client.closed());
      await stopped;
      const changes = `query($after: String){changes(after: $after){items{folder{name}}}}`;
      const after = async (place: string) =>
        (await writer.ask<{ changes: { items: unknown[] } }>(changes, { after: place })).changes.items.length;
      assert.equal(await after(cursor), 1);
      assert.ok((await after(told)) <= 1);
    });
  });
}
