/** Reads the stored state after a run directly from the database and checks its consistency. */

import { sql } from '../../../server/src/database/statement.ts';
import { toJournalCursor } from '../../../server/src/journal/journal-entry.ts';
import type { Cluster } from './cluster.ts';
import { replay, type Entry, type ReplayedFolder } from './journal-replay.ts';
import type { Tally } from './tally.ts';

type EntryRow = Omit<Entry, 'path' | 'after' | 'cursor'> & {
  readonly pathIds: string | null;
  readonly after: string | null;
  readonly nonce: number;
};

interface FolderRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly title: string | null;
  readonly version: number;
  readonly childCount: number;
  readonly height: number;
  readonly because: string | null;
}

/** The part of a cluster that these checks need. */
export type StoredCluster = Pick<Cluster, 'rows' | 'checkDatabase'>;

const levels = ['NONE', 'READ', 'WRITE', 'MANAGE'];

export async function readJournal(cluster: StoredCluster): Promise<Entry[]> {
  const rows = await cluster.rows(sql<object, EntryRow>`
    select number, kind, by_user_id as "byUserId", folder_id as "folderId", user_id as "userId",
      group_id as "groupId", session_id as "sessionId", path_ids as "pathIds", after, nonce
    from journal order by number`);
  return rows.map(({ pathIds, after, nonce, ...row }) => ({
    ...row,
    path: pathIds === null ? null : (JSON.parse(pathIds) as string[]),
    after: JSON.parse(after ?? '{}') as Record<string, unknown>,
    cursor: toJournalCursor({ number: row.number, nonce }),
  }));
}

/** Checks that the journal has no gap and that the stored state matches the journal. */
export async function checkStoredState(
  cluster: StoredCluster,
  entries: readonly Entry[],
  tally: Tally,
): Promise<void> {
  const gap = entries.findIndex(({ number }, index) => number !== index + 1);
  if (gap >= 0)
    tally.reportViolation(`entry ${gap + 1} of the journal has the number ${entries[gap]!.number}`);
  const [counter] = await cluster.rows(sql<object, { number: number }>`select number from journal_counter`);
  if (counter!.number !== entries.length) {
    tally.reportViolation(`the journal counter is ${counter!.number} after ${entries.length} entries`);
  }
  await checkFolders(cluster, entries, tally);
  await checkPeople(cluster, entries, tally);
  await checkSessions(cluster, entries, tally);
  await cluster.checkDatabase();
}

async function checkFolders(cluster: StoredCluster, entries: readonly Entry[], tally: Tally): Promise<void> {
  const rows = await cluster.rows(sql<object, FolderRow>`
    select id, parent_id as "parentId", name, title, version, child_count as "childCount", height,
      detached_because as because from folders`);
  tally.count('folders at the end', rows.length);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const children = Map.groupBy(rows, ({ parentId }) => parentId);
  const heightOf = (id: string): number =>
    Math.max(0, ...(children.get(id) ?? []).map((child) => 1 + heightOf(child.id)));
  const roots = rows.filter(({ parentId, because }) => parentId === null && because === null);
  if (roots.length !== 1) tally.reportViolation(`there are ${roots.length} roots`);
  const topOf = ({ id }: FolderRow): FolderRow | undefined => {
    let folder = byId.get(id);
    for (let steps = 0; folder?.parentId && steps < 300; steps++) folder = byId.get(folder.parentId);
    return folder?.parentId ? undefined : folder;
  };

  const { folders, importedCount } = replay(entries);
  let importedFolders = 0;
  for (const row of rows) {
    const { id, name, parentId, childCount, height } = row;
    const top = topOf(row);
    if (!top) tally.reportViolation(`${name} has no path to the root`);
    // Part of an interrupted import, which was never published.
    if (top?.because === 'import') continue;
    const subfolderCount = children.get(id)?.length ?? 0;
    if (childCount !== subfolderCount)
      tally.reportViolation(`${name} has child_count ${childCount}, but ${subfolderCount} subfolders`);
    if (height < heightOf(id))
      tally.reportViolation(`${name} has height ${height}, but ${heightOf(id)} levels of descendants`);
    if (row === roots[0]) continue;
    const replayedFolder = folders.get(id);
    if (!replayedFolder?.isCreated) importedFolders++;
    const { changes, ...expected }: ReplayedFolder = replayedFolder ?? { changes: 0, isCreated: false };
    const differences = [
      expected.parentId !== undefined && expected.parentId !== parentId && 'parent',
      expected.name !== undefined && expected.name !== name && 'name',
      expected.title !== undefined && expected.title !== row.title && 'title',
      row.version !== changes + 1 && `version ${row.version}, not ${changes + 1}`,
    ].filter(Boolean);
    if (differences.length > 0)
      tally.reportViolation(`${name} differs from the journal: ${differences.join()}`);
  }
  if (importedFolders !== importedCount) {
    tally.reportViolation(
      `${importedFolders} imported folders are stored, but the journal contains ${importedCount}`,
    );
  }
  const missingIds = [...folders.keys()].filter((id) => !byId.has(id));
  if (missingIds.length > 0)
    tally.reportViolation(`${missingIds.length} folders in the journal are missing from the database`);
}

async function checkPeople(cluster: StoredCluster, entries: readonly Entry[], tally: Tally): Promise<void> {
  const { groups, members, grants, users } = replay(entries);
  const rowsByTable = {
    groups: await cluster.rows(
      sql<object, { text: string }>`select id || ' ' || name as text from user_groups`,
    ),
    members: await cluster.rows(
      sql<object, { text: string }>`select group_id || ' ' || user_id as text from group_members`,
    ),
    grants: (
      await cluster.rows(
        sql<object, { grant: string; level: number }>`
          select folder_id || ' ' || subject_id as "grant", level from grants`,
      )
    ).map(({ grant, level }) => ({ text: `${grant} ${levels[level]}` })),
    users: (
      await cluster.rows(
        sql<object, { id: string; disabledAt: number | null }>`
          select id, disabled_at as "disabledAt" from users`,
      )
    ).map(({ id, disabledAt }) => ({ text: `${id} ${disabledAt === null ? '' : 'disabled'}` })),
  };
  const expectedRows: Record<keyof typeof rowsByTable, string[]> = {
    groups: [...groups].map(([id, name]) => `${id} ${name}`),
    members: [...members],
    grants: [...grants].map(([index, level]) => `${index} ${level}`),
    users: [...users].map(([id, isDisabled]) => `${id} ${isDisabled ? 'disabled' : ''}`),
  };
  for (const [name, rows] of Object.entries(rowsByTable)) {
    const expected = expectedRows[name as keyof typeof expectedRows].sort().join('\n');
    const actual = rows
      .map(({ text }) => text)
      .sort()
      .join('\n');
    if (actual !== expected)
      tally.reportViolation(`${name} differ from the journal:\n${actual}\n\n${expected}`);
  }
}

async function checkSessions(cluster: StoredCluster, entries: readonly Entry[], tally: Tally): Promise<void> {
  const { endedSessions, endedByDisabling } = replay(entries);
  const rows = await cluster.rows(
    sql<object, { id: string; because: string | null }>`select id, revoked_because as because from sessions`,
  );
  tally.count('sessions at the end', rows.length);
  const disabledCount = rows.filter(({ because }) => because === 'disabled').length;
  if (disabledCount !== endedByDisabling) {
    tally.reportViolation(
      `${disabledCount} sessions of disabled users have ended, but the journal contains ${endedByDisabling}`,
    );
  }
  for (const { id, because } of rows) {
    const entryCount = endedSessions.get(id) ?? 0;
    const isOwnEntry = because !== null && because !== 'disabled';
    if (entryCount !== (isOwnEntry ? 1 : 0))
      tally.reportViolation(`the journal contains the end of a session ${entryCount} times`);
  }
  const [orphans] = await cluster.rows(
    sql<object, { count: number }>`
      select count(*) as count from sessions join spent_refresh_tokens on digest = refresh_digest`,
  );
  if (orphans!.count > 0) tally.reportViolation(`${orphans!.count} sessions have a spent token`);
}
