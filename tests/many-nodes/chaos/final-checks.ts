/** The checks at the end of a run: all acknowledged changes must be present, and no other changes. */

import { mutation, type Variables } from '../../support/graph-testbed.ts';
import { changeKindByEntry } from '../../live/change-kinds.ts';
import { sql } from '../../../server/src/database/statement.ts';
import { sha256 } from '../../../server/src/database/encryption.ts';
import type { ChaosWorld } from './clients/chaos-client.ts';
import type { Attempt, FolderWriter } from './clients/folder-writer.ts';
import type { Follower } from './clients/follower.ts';
import type { Entry } from './journal-replay.ts';
import type { Population } from './clients/population.ts';
import { checkStoredState, readJournal } from './stored-state.ts';

/** Concurrent requests of each kind: more than the database connections of a node. */
const concurrency = 20;

export async function checkAll(world: ChaosWorld, population: Population): Promise<void> {
  const { cluster, tally } = world;
  const { writers, accessManager, userManager, refreshers, visitors, followers } = population;
  for (const url of cluster.urls) {
    for (const writer of writers) await writer.check(url);
    await accessManager.check(url);
  }
  await checkCapacity(world, population);
  for (const refresher of refreshers) await refresher.check();
  for (const visitor of visitors) await visitor.check();
  await userManager.check();
  await checkSpentTokens(world, population);
  const entries = await readJournal(cluster);
  tally.count('entries of the journal at the end', entries.length);
  await checkStoredState(cluster, entries, tally);
  for (const writer of writers) compareAttempts(world, writer, entries);
  compareSharedChanges(world, population, entries);
  await Promise.all(
    followers.map((follower) => compareReceivedChanges(world, population, follower, entries)),
  );
  const unexpectedLines = cluster.findUnexpectedLogLines();
  if (unexpectedLines.length > 0) {
    tally.reportViolation(
      `the nodes logged ${unexpectedLines.length} unexpected lines: ${unexpectedLines.slice(0, 5).join('\n')}`,
    );
  }
}

/**
 * Checks that no database connection leaked: each node must still handle as many concurrent requests as at
 * its start.
 */
async function checkCapacity({ cluster }: ChaosWorld, { admin, adminToken }: Population): Promise<void> {
  const { folder } = await admin.query<{ folder: { id: string } }>('{folder{id}}', {}, adminToken);
  for (const url of cluster.urls) {
    const send = (query: string, variables: Variables = {}) =>
      admin.graph(query, variables, { authToken: adminToken, url });
    const write = mutation('updateFolder', 'cursor');
    const outcomes = await Promise.all(
      Array.from({ length: concurrency }, (_, index) => [
        send('{folder{name folders{totalCount items{name}}}}'),
        send('{exportFolders{path}}'),
        send(write, { input: { id: folder.id, title: `${url} ${index}` } }),
      ]).flat(),
    );
    const failure = outcomes.find(({ kind }) => kind !== 'done');
    if (failure)
      admin.reportViolation(
        `${url} cannot handle ${outcomes.length} concurrent requests: ${JSON.stringify(failure)}`,
      );
  }
}

/** Checks that the database contains every acknowledged refresh. */
async function checkSpentTokens({ cluster, tally }: ChaosWorld, { refreshers }: Population): Promise<void> {
  const rows = await cluster.rows(
    sql<object, { digest: Uint8Array }>`select digest from spent_refresh_tokens`,
  );
  const digests = new Set(rows.map(({ digest }) => Buffer.from(digest).toString('hex')));
  const spentTokens = refreshers.flatMap((refresher) => refresher.spentTokens);
  const missingTokens = spentTokens.filter(
    ({ refreshToken }) => !digests.has(sha256(refreshToken).toString('hex')),
  );
  if (missingTokens.length > 0)
    tally.reportViolation(`${missingTokens.length} acknowledged refreshes are not stored`);
}

/**
 * Checks that the journal contains the changes of a writer in order. Changes with an unknown outcome may be
 * missing.
 */
function compareAttempts({ tally }: ChaosWorld, writer: FolderWriter, entries: readonly Entry[]): void {
  const ownEntries = entries.filter(({ byUserId }) => byUserId === writer.account.userId);
  let index = 0;
  for (const attempt of writer.attempts) {
    if (attempt.isDone === false) continue;
    const entry = ownEntries[index];
    if (entry && matchesAttempt(entry, attempt)) index++;
    else if (attempt.isDone) {
      tally.reportViolation(
        `${writer.name}: ${JSON.stringify(attempt)} is not in the journal; the next entry is ${JSON.stringify(entry)}`,
      );
      return;
    }
  }
  if (index < ownEntries.length) {
    tally.reportViolation(`${writer.name}: unexpected entry ${JSON.stringify(ownEntries[index])}`);
  }
}

function matchesAttempt(entry: Entry, { kind, folderId, expectedAfter, cursor }: Attempt): boolean {
  return (
    entry.kind === kind &&
    (folderId === undefined || entry.folderId === folderId) &&
    (cursor === undefined || entry.cursor === cursor) &&
    Object.entries(expectedAfter).every(([name, value]) => entry.after[name] === value)
  );
}

/** Checks that the journal contains the changes of each shared writer in order. */
function compareSharedChanges(
  { tally }: ChaosWorld,
  { sharedWriters }: Population,
  entries: readonly Entry[],
): void {
  const numberByCursor = new Map(entries.map(({ cursor, number }) => [cursor, number]));
  for (const { cursors } of sharedWriters) {
    const numbers = cursors.map((cursor) => numberByCursor.get(cursor));
    const lostCount = numbers.filter((number) => number === undefined).length;
    if (lostCount > 0)
      tally.reportViolation(`${lostCount} acknowledged changes of shared writers are not in the journal`);
    if (numbers.some((number, index) => index > 0 && number! < numbers[index - 1]!)) {
      tally.reportViolation('changes of a shared writer are not in order');
    }
    tally.count('changes of shared folders acknowledged', cursors.length);
  }
}

async function compareReceivedChanges(
  { tally }: ChaosWorld,
  { startCursor }: Population,
  follower: Follower,
  entries: readonly Entry[],
): Promise<void> {
  const start = entries.findIndex(({ cursor }) => cursor === startCursor) + 1;
  const expected = entries
    .slice(start)
    .filter(
      ({ kind, path }) => kind in changeKindByEntry && (!follower.under || path!.includes(follower.under)),
    )
    .map(({ kind, cursor, folderId }) => ({
      kind: changeKindByEntry[kind as keyof typeof changeKindByEntry],
      cursor,
      folderId,
    }));
  const last = expected.at(-1);
  if (last) await follower.followTo(last.cursor);
  const { receivedChanges: received, name } = follower;
  const wrongIndex = expected.findIndex(({ cursor }, index) => received[index]?.cursor !== cursor);
  if (wrongIndex >= 0 || received.length !== expected.length) {
    const numbers = new Map(entries.map(({ cursor, number }) => [cursor, number]));
    const numbersAround = (list: readonly { cursor: string }[]) =>
      list.slice(Math.max(0, wrongIndex - 2), wrongIndex + 3).map(({ cursor }) => numbers.get(cursor));
    tally.reportViolation(
      `${name} received ${received.length} changes instead of ${expected.length}; at ${wrongIndex}: ${numbersAround(received).join()} instead of ${numbersAround(expected).join()}`,
    );
    return;
  }
  const differentIndex = expected.findIndex(
    ({ kind, folderId }, index) => received[index]!.kind !== kind || received[index]!.folderId !== folderId,
  );
  if (differentIndex >= 0) {
    tally.reportViolation(
      `${name} received ${JSON.stringify(received[differentIndex])}, not ${JSON.stringify(expected[differentIndex])}`,
    );
  }
}
