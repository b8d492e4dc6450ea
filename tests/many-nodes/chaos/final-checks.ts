/** When all is quiet again: whether everything that was acknowledged is there, and nothing else. */

import { mutation, type Variables } from '../../graph-bed.ts';
import { toldAs } from '../../live/told-as.ts';
import { sql } from '../../../server/src/database/statement.ts';
import { digestOf } from '../../../server/src/sessions/refresh-token.ts';
import type { ChaosWorld } from './chaos-client.ts';
import type { Attempt, FolderWriter } from './folder-writer.ts';
import type { Follower } from './follower.ts';
import type { Entry } from './journal-replay.ts';
import type { Population } from './population.ts';
import { checkStored, readJournal } from './stored-state.ts';

/** Of each kind; more than a node has connections. */
const atOnce = 20;

export async function checkAll(world: ChaosWorld, population: Population): Promise<void> {
  const { cluster, tally } = world;
  const { writers, steward, registrar, refreshers, visitors, followers } = population;
  for (const url of cluster.urls) {
    for (const writer of writers) await writer.check(url);
    await steward.check(url);
  }
  await checkCapacity(world, population);
  for (const refresher of refreshers) await refresher.check();
  for (const visitor of visitors) await visitor.check();
  await registrar.check();
  await checkSpent(world, population);
  const entries = await readJournal(cluster);
  tally.count('entries of the journal at the end', entries.length);
  await checkStored(cluster, entries, tally);
  for (const writer of writers) compareAttempts(world, writer, entries);
  compareCommons(world, population, entries);
  await Promise.all(followers.map((follower) => compareTold(world, population, follower, entries)));
  const complaints = cluster.complaints();
  if (complaints.length > 0) {
    tally.violation(`the nodes complain, ${complaints.length} times: ${complaints.slice(0, 5).join('\n')}`);
  }
}

/** No connection to the database was mislaid: each node can do as much at once as at its start. */
async function checkCapacity({ cluster }: ChaosWorld, { admin, adminToken }: Population): Promise<void> {
  const { folder } = await admin.ask<{ folder: { id: string } }>('{folder{id}}', {}, adminToken);
  for (const url of cluster.urls) {
    const ask = (query: string, variables: Variables = {}) =>
      admin.graph(query, variables, { authToken: adminToken, url });
    const write = mutation('updateFolder', 'cursor');
    const outcomes = await Promise.all(
      Array.from({ length: atOnce }, (_, place) => [
        ask('{folder{name folders{totalCount items{name}}}}'),
        ask('{exportFolders{path}}'),
        ask(write, { input: { id: folder.id, title: `${url} ${place}` } }),
      ]).flat(),
    );
    const failed = outcomes.find(({ kind }) => kind !== 'done');
    if (failed)
      admin.violation(`${url} cannot do ${outcomes.length} things at once: ${JSON.stringify(failed)}`);
  }
}

/** Every acknowledged refresh is on record. */
async function checkSpent({ cluster, tally }: ChaosWorld, { refreshers }: Population): Promise<void> {
  const rows = await cluster.rows(
    sql<object, { digest: Uint8Array }>`select digest from spent_refresh_tokens`,
  );
  const digests = new Set(rows.map(({ digest }) => Buffer.from(digest).toString('hex')));
  const spent = refreshers.flatMap((refresher) => refresher.spent);
  const missing = spent.filter(
    ({ refreshToken }) => !digests.has(Buffer.from(digestOf(refreshToken)).toString('hex')),
  );
  if (missing.length > 0) tally.violation(`${missing.length} acknowledged refreshes are not stored`);
}

/** The entries of a writer are what it did, in its order; what never turned out may be among them. */
function compareAttempts({ tally }: ChaosWorld, writer: FolderWriter, entries: readonly Entry[]): void {
  const own = entries.filter(({ byUserId }) => byUserId === writer.account.userId);
  let place = 0;
  for (const attempt of writer.attempts) {
    if (attempt.isDone === false) continue;
    const entry = own[place];
    if (entry && isOf(entry, attempt)) place++;
    else if (attempt.isDone) {
      tally.violation(
        `${writer.name}: ${JSON.stringify(attempt)} is not in the journal; there is ${JSON.stringify(entry)}`,
      );
      return;
    }
  }
  if (place < own.length) {
    tally.violation(`${writer.name}: nobody did ${JSON.stringify(own[place])}`);
  }
}

function isOf(entry: Entry, { kind, folderId, became, cursor }: Attempt): boolean {
  return (
    entry.kind === kind &&
    (folderId === undefined || entry.folderId === folderId) &&
    (cursor === undefined || entry.cursor === cursor) &&
    Object.entries(became).every(([name, value]) => entry.after[name] === value)
  );
}

/** What one of them did later is later in the journal. */
function compareCommons({ tally }: ChaosWorld, { commoners }: Population, entries: readonly Entry[]): void {
  const places = new Map(entries.map(({ cursor, number }) => [cursor, number]));
  for (const { cursors } of commoners) {
    const numbers = cursors.map((cursor) => places.get(cursor));
    const lost = numbers.filter((number) => number === undefined).length;
    if (lost > 0) tally.violation(`${lost} acknowledged changes of commoners are not in the journal`);
    if (numbers.some((number, place) => place > 0 && number! < numbers[place - 1]!)) {
      tally.violation('changes of a commoner are not in their order');
    }
    tally.count('changes in common acknowledged', cursors.length);
  }
}

async function compareTold(
  { tally }: ChaosWorld,
  { startCursor }: Population,
  follower: Follower,
  entries: readonly Entry[],
): Promise<void> {
  const start = entries.findIndex(({ cursor }) => cursor === startCursor) + 1;
  const expected = entries
    .slice(start)
    .filter(({ kind, way }) => kind in toldAs && (!follower.under || way!.includes(follower.under)))
    .map(({ kind, cursor, folderId }) => ({
      kind: toldAs[kind as keyof typeof toldAs],
      cursor,
      folderId,
    }));
  const last = expected.at(-1);
  if (last) await follower.followTo(last.cursor);
  const { told, name } = follower;
  const wrong = expected.findIndex(({ cursor }, place) => told[place]?.cursor !== cursor);
  if (wrong >= 0 || told.length !== expected.length) {
    const numbers = new Map(entries.map(({ cursor, number }) => [cursor, number]));
    const around = (list: readonly { cursor: string }[]) =>
      list.slice(Math.max(0, wrong - 2), wrong + 3).map(({ cursor }) => numbers.get(cursor));
    tally.violation(
      `${name} was told ${told.length} changes instead of ${expected.length}; at ${wrong}: ${around(told).join()} instead of ${around(expected).join()}`,
    );
    return;
  }
  const different = expected.findIndex(
    ({ kind, folderId }, place) => told[place]!.kind !== kind || told[place]!.folderId !== folderId,
  );
  if (different >= 0) {
    tally.violation(
      `${name} was told ${JSON.stringify(told[different])}, not ${JSON.stringify(expected[different])}`,
    );
  }
}
