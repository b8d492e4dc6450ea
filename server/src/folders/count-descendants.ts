/**
 * How many folders are below another, for the viewer. Every folder knows how many are right inside it: those that hold
 * only empty ones are counted without a look into them.
 */

import type { AccessLevel } from '../access/access-level.ts';
import { maxRowsPerStatement } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { visibleChildCount } from './children.ts';
import type { Folder, TreeView } from './folders.ts';

export interface CountOptions {
  /** How many levels; without it, all. */
  readonly depth?: number | undefined;
  /** Told of each number of folders that are looked at, and may refuse to go on. */
  readonly onRead: (count: number) => void;
}

interface Row {
  readonly id: string;
  readonly parentId: string;
  readonly childCount: number;
  /** How many levels are inside, at the most. */
  readonly height: number;
}

/** A folder that the viewer sees, with others inside. */
interface Holder extends Row {
  readonly accessLevel: AccessLevel;
}

const columns = sql`select id, parent_id as "parentId", child_count as "childCount", height from folders`;
const findHolders = sql<{ ids: readonly string[] }, Row>`
  ${columns} where id in (select value from ${list('ids')})`;
const findHoldersInside = sql<{ parentIds: readonly string[] }, Row>`
  ${columns} where parent_id in (select value from ${list('parentIds')}) and child_count > 0`;

export async function countDescendants(
  view: TreeView,
  { id, accessLevel }: Folder,
  { depth = Infinity, onRead }: CountOptions,
): Promise<number> {
  const [top] = await view.reader.all(findHolders, { ids: [id] });
  let count = 0;
  let level: Holder[] = top ? [{ ...top, accessLevel }] : [];
  for (let reached = 1; level.length > 0; reached++) {
    count += sumOf(view, level);
    const further = reached < depth ? level.filter(({ height }) => height > 1) : [];
    level = [];
    for (const parents of batchesOf(further)) {
      const inside = await holdersInside(view, parents);
      // Only where the viewer sees something further down: a height may come from hidden folders.
      const leadOn = new Set(
        inside.filter((each) => visibleChildCount(view, each) > 0).map((each) => each.parentId),
      );
      onRead(
        sumOf(
          view,
          parents.filter(({ id }) => leadOn.has(id)),
        ),
      );
      for (const each of inside) level.push(each);
    }
  }
  return count;
}

/** So many that one statement examines no more rows than it may; one by one where a folder has more. */
function* batchesOf(holders: readonly Holder[]): Generator<Holder[]> {
  let batch: Holder[] = [];
  let rows = 0;
  for (const holder of holders) {
    if (batch.length > 0 && rows + holder.childCount > maxRowsPerStatement) {
      yield batch;
      [batch, rows] = [[], 0];
    }
    batch.push(holder);
    rows += holder.childCount;
  }
  if (batch.length > 0) yield batch;
}

function sumOf(view: TreeView, holders: readonly Holder[]): number {
  return holders.reduce((sum, each) => sum + visibleChildCount(view, each), 0);
}

function rowsInside(parents: readonly Holder[]): number {
  return parents.reduce((sum, { childCount }) => sum + childCount, 0);
}

/** A passage shows only what leads on: that is known by its ids. */
async function holdersInside(view: TreeView, parents: readonly Holder[]): Promise<Holder[]> {
  const { reader, access } = view;
  const levels = new Map(parents.map(({ id, accessLevel }) => [id, accessLevel]));
  const parentIds: string[] = [];
  const ids: string[] = [];
  for (const [id, accessLevel] of levels) {
    const { only } = access.childRule(id, accessLevel);
    if (only) ids.push(...only);
    else parentIds.push(id);
  }
  const inside =
    parentIds.length > 0 ? await reader.all(findHoldersInside, { parentIds }, rowsInside(parents)) : [];
  const shown = ids.length > 0 ? await reader.all(findHolders, { ids }, ids.length) : [];
  return [...inside, ...shown]
    .map((row) => ({ ...row, accessLevel: access.levelOf(row.id, levels.get(row.parentId)!) }))
    .filter(({ id, accessLevel }) => access.isVisible(id, accessLevel));
}
