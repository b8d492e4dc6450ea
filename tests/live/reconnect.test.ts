/** A client that is cut off again and again comes back with its last cursor, and has missed nothing. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds } from '../databases.ts';
import { toldAs } from './told-as.ts';
import type { Variables } from '../graph-bed.ts';
import { lengthOf } from '../run-length.ts';
import { TreeBed } from '../tree/tree-bed.ts';
import { SocketClient } from './socket-client.ts';

interface Told {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

interface Entry {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

const reconnects = lengthOf({ short: 25, long: 100 });
const writers = 4;
const pageSize = 200;
const followChanges = 'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}';

for (const kind of databaseKinds) {
  describe(`reconnecting on ${kind.name}`, () => {
    let tree: TreeBed;

    before(async () => {
      tree = await TreeBed.start(kind);
    });
    after(() => tree.stop());

    test(`whoever is killed ${reconnects} times amid changes is told every entry of the journal once, in order`, async () => {
      const { cursor: start } = await tree.ask<{ cursor: string }>('{cursor}');
      const ended = new AbortController();
      const writing = Array.from({ length: writers }, (_, number) => write(tree, number, ended.signal));
      // How many changes it waits for before the cut; none is a cut before the first, or between any two.
      const patience = fc.sample(fc.nat(9), { seed: 7, numRuns: reconnects });
      const told: Told[] = [];
      for (const most of patience)
        told.push(...(await followUntilCut(tree, told.at(-1)?.cursor ?? start, most)));
      ended.abort();
      await Promise.all(writing);
      const entries = await treeEntries(tree, start);
      told.push(...(await followTo(tree, told.at(-1)?.cursor ?? start, entries.at(-1)!.cursor)));

      assert.ok(entries.length > reconnects, `only ${entries.length} changes`);
      assert.deepEqual(
        told,
        entries.map(({ kind: name, cursor, folderId }) => ({
          kind: toldAs[name as keyof typeof toldAs],
          cursor,
          folderId,
        })),
      );
    });
  });
}

/** Whatever was read off the wire counts: what comes after the last of it will come again. */
async function followUntilCut(tree: TreeBed, cursor: string, most: number): Promise<Told[]> {
  const client = await SocketClient.connect(tree.bed.url, tree.authToken);
  client.start('1', followChanges, { after: cursor });
  const told: Told[] = [];
  while (told.length < most) told.push(toldBy(await client.next()));
  client.socket.terminate();
  await client.closed();
  return told;
}

async function followTo(tree: TreeBed, cursor: string, last: string): Promise<Told[]> {
  if (cursor === last) return [];
  const client = await SocketClient.connect(tree.bed.url, tree.authToken);
  client.start('1', followChanges, { after: cursor });
  const told: Told[] = [];
  while (told.at(-1)?.cursor !== last) told.push(toldBy(await client.next()));
  await client.close();
  return told;
}

function toldBy({ type, payload }: { type: string; payload?: unknown }): Told {
  assert.equal(type, 'next', JSON.stringify(payload));
  const { data, errors } = payload as { data: { folderChanges: Told }; errors?: unknown };
  assert.equal(errors, undefined);
  return data.folderChanges;
}

/** Changes of all kinds, in bursts: several at once, and then a pause until they are done. */
async function write(tree: TreeBed, number: number, signal: AbortSignal): Promise<void> {
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

async function run(tree: TreeBed, name: string, input: Variables): Promise<void> {
  await tree.run(name, input);
}

/** What the journal says of the tree since a place, the earliest first. */
async function treeEntries(tree: TreeBed, start: string): Promise<Entry[]> {
  const query = `query($after: String, $kinds: [JournalKind!]){journal(first: ${pageSize}, after: $after, filter: {kinds: $kinds}){
    items{kind cursor folderId} pageInfo{hasNextPage endCursor}}}`;
  const found: Entry[] = [];
  for (let after: string | undefined; ;) {
    const { journal } = await tree.ask<{
      journal: { items: Entry[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
    }>(query, { after, kinds: Object.keys(toldAs) });
    found.push(...journal.items);
    if (!journal.pageInfo.hasNextPage) break;
    after = journal.pageInfo.endCursor;
  }
  // The tree was imported before, if at all.
  const before = found.findIndex(({ cursor }) => cursor === start);
  return found.slice(0, before < 0 ? undefined : before).reverse();
}
