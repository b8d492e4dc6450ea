/** A client that loses its connection repeatedly resumes from its last cursor and misses nothing. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds } from '../support/databases.ts';
import { changeKindByEntry } from './change-kinds.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { selectLength } from '../support/run-length.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { SocketClient } from './socket-client.ts';

interface Change {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

interface Entry {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

const reconnects = selectLength({ short: 25, long: 100 });
const writers = 4;
const pageSize = 200;
const followChanges = 'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}';

for (const kind of databaseKinds) {
  describe(`the folderChanges subscription with reconnects on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    test(`delivers each change once and in order to a client that loses ${reconnects} connections`, async () => {
      const { cursor: start } = await tree.query<{ cursor: string }>('{cursor}');
      const controller = new AbortController();
      const writing = Array.from({ length: writers }, (_, number) => write(tree, number, controller.signal));
      // The number of changes to read before each disconnect. Zero disconnects before the first change.
      const counts = fc.sample(fc.nat(9), { seed: 7, numRuns: reconnects });
      const received: Change[] = [];
      for (const count of counts)
        received.push(...(await followUntilDisconnect(tree, received.at(-1)?.cursor ?? start, count)));
      controller.abort();
      await Promise.all(writing);
      const entries = await readFolderEntries(tree, start);
      received.push(...(await followTo(tree, received.at(-1)?.cursor ?? start, entries.at(-1)!.cursor)));

      assert.ok(entries.length > reconnects, `there were only ${entries.length} changes`);
      assert.deepEqual(
        received,
        entries.map(({ kind: name, cursor, folderId }) => ({
          kind: changeKindByEntry[name as keyof typeof changeKindByEntry],
          cursor,
          folderId,
        })),
      );
    });
  });
}

/** Returns the changes read before the disconnect. After a reconnect, the server sends the later ones again. */
async function followUntilDisconnect(tree: TreeTestbed, cursor: string, count: number): Promise<Change[]> {
  const client = await SocketClient.connect(tree.server.url, tree.authToken);
  client.start('1', followChanges, { after: cursor });
  const received: Change[] = [];
  while (received.length < count) received.push(readChange(await client.next()));
  client.socket.terminate();
  await client.closed();
  return received;
}

async function followTo(tree: TreeTestbed, cursor: string, last: string): Promise<Change[]> {
  if (cursor === last) return [];
  const client = await SocketClient.connect(tree.server.url, tree.authToken);
  client.start('1', followChanges, { after: cursor });
  const received: Change[] = [];
  while (received.at(-1)?.cursor !== last) received.push(readChange(await client.next()));
  await client.close();
  return received;
}

function readChange({ type, payload }: { type: string; payload?: unknown }): Change {
  assert.equal(type, 'next', JSON.stringify(payload));
  const { data, errors } = payload as { data: { folderChanges: Change }; errors?: unknown };
  assert.equal(errors, undefined);
  return data.folderChanges;
}

/**
 * Makes changes of all kinds in rounds. Each round sends several changes concurrently and waits for all of
 * them.
 */
async function write(tree: TreeTestbed, number: number, signal: AbortSignal): Promise<void> {
  const top = await tree.create(`writer ${number}`);
  for (let round = 0; !signal.aborted; round++) {
    const [one, two] = await tree.createChain([`one ${round}`, `two ${round}`], top);
    await Promise.all([
      run(tree, 'updateFolder', { id: one, title: `round ${round}` }),
      run(tree, 'importFolders', { parentId: two, list: [{ path: 'a/b' }] }),
      run(tree, 'moveFolder', { id: two, parentId: top }),
      run(tree, 'createFolder', { parentId: one, name: 'three' }),
    ]);
    await run(tree, 'deleteFolder', { id: one, recursive: true });
    if (round % 3 === 0) await run(tree, 'restoreFolder', { id: one });
    await run(tree, 'deleteFolder', { id: two, recursive: true });
  }
}

async function run(tree: TreeTestbed, name: string, input: Variables): Promise<void> {
  await tree.mutate(name, input);
}

/** Returns the folder entries of the journal since a cursor, oldest first. */
async function readFolderEntries(tree: TreeTestbed, start: string): Promise<Entry[]> {
  const query = `query($after: String, $kinds: [JournalKind!]){journal(first: ${pageSize}, after: $after, filter: {kinds: $kinds}){
    items{kind cursor folderId} pageInfo{hasNextPage endCursor}}}`;
  const found: Entry[] = [];
  for (let after: string | undefined; ;) {
    const { journal } = await tree.query<{
      journal: { items: Entry[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
    }>(query, { after, kinds: Object.keys(changeKindByEntry) });
    found.push(...journal.items);
    if (!journal.pageInfo.hasNextPage) break;
    after = journal.pageInfo.endCursor;
  }
  // If no entry matches, the start cursor belongs to another kind of entry, and all entries found are later.
  const before = found.findIndex(({ cursor }) => cursor === start);
  return found.slice(0, before < 0 ? undefined : before).reverse();
}
