/**
 * How many folders are below another, for the viewer. Every folder knows how many are right inside it: those that hold
 * only empty ones are counted without a look into them. Lets others through in between.
 */

import type { AccessLevel } from '../access/access-level.ts';
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

const atOnce = 512;

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
    for (let start = 0; start < further.length; start += atOnce) {
      const parents = further.slice(start, start + atOnce);
      onRead(sumOf(view, parents));
      for (const each of await holdersInside(view, parents)) level.push(each);
      await new Promise(setImmediate);
    }
  }
  return count;
}

function sumOf(view: TreeView, holders: readonly Holder[]): number {
  return holders.reduce((sum, each) => sum + visibleChildCount(view, each), 0);
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
  const inside = parentIds.length > 0 ? await reader.all(findHoldersInside, { parentIds }) : [];
  const shown = ids.length > 0 ? await reader.all(findHolders, { ids }) : [];
  return [...inside, ...shown]
    .map((row) => ({ ...row, accessLevel: access.levelOf(row.id, levels.get(row.parentId)!) }))
    .filter(({ id, accessLevel }) => access.isVisible(id, accessLevel));
}
