/** Where folders stand among their siblings, in natural order, as the viewer sees them. One statement serves any number. */

import type { Access, AccessLevel } from '../access/access.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, maxRowsPerStatement } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { restrictionOf } from './child-lists.ts';
import { readChildren, visibleChildCount } from './children.ts';
import type { Folder, TreeView } from './folders.ts';

/** A folder and what it is inside of. */
export interface Sibling {
  readonly folder: Folder;
  readonly parent: Folder;
}

interface Counted {
  readonly id: string;
  readonly count: number;
}

type Parameters = Pick<Access, 'hiddenIds'> & { readonly ids: readonly string[] };

const countBefore = (restricted: boolean) => sql<Parameters, Counted>`
  select folder.id, (
    select count(*) from folders
    where folders.parent_id = folder.parent_id and (folders.sort_key, folders.id) < (folder.sort_key, folder.id)
    ${restricted ? sql`and folders.id not in (select value from ${list('hiddenIds')})` : sql``}
  ) as count
  from folders as folder where folder.id in (select value from ${list('ids')})`;

/** To count a row takes a tenth of the time that it takes to read one: the index is enough. */
const countedPerStatement = 10 * maxRowsPerStatement;

const countAllBefore = countBefore(false);
const countSeenBefore = countBefore(true);

/**
 * How many folders `readPositions` looks at, of those that the viewer sees: they are told the sum. Each sibling is counted
 * up to by itself, but what a passage shows is read once.
 */
export function positionsCost(view: TreeView, siblings: readonly Sibling[]): number {
  let price = 0;
  for (const inside of Map.groupBy(siblings, ({ parent }) => parent.id).values()) {
    const [first] = inside;
    if (!first) continue;
    const times = isPassage(view, first) ? 1 : inside.length;
    price += times * visibleChildCount(view, first.parent);
  }
  return price;
}

/** By the ids of the folders: how many siblings that the viewer sees come before each. */
export function readPositions(
  view: TreeView,
  siblings: readonly Sibling[],
): PromiseOrValue<ReadonlyMap<string, number>> {
  const { access, reader } = view;
  const ids = siblings.filter((each) => !isPassage(view, each)).map(({ folder }) => folder.id);
  const statement = restrictionOf(view) === 'none' ? countAllBefore : countSeenBefore;
  const widest = siblings.reduce((most, { parent }) => Math.max(most, parent.childCount), 1);
  const size = Math.max(1, Math.floor(countedPerStatement / widest));
  const count = (some: readonly string[]) =>
    reader.all(
      statement,
      { ids: some, hiddenIds: access.hiddenIds },
      Math.ceil((some.length * widest * maxRowsPerStatement) / countedPerStatement),
    );
  const counted = ids.length === 0 ? [] : readInBatches(ids, count, size);
  const passages = new Map(
    siblings.filter((each) => isPassage(view, each)).map(({ parent }) => [parent.id, parent]),
  );
  return whenDone(counted, (rows) =>
    whenDone(positionsIn(view, [...passages.values()]), (positions) => {
      for (const { id, count } of rows) positions.set(id, count);
      return positions;
    }),
  );
}

function isPassage({ access }: TreeView, { parent: { id, accessLevel } }: Sibling): boolean {
  return access.childRule(id, accessLevel).only !== undefined;
}

/** A passage shows few by nature: those are read. */
function positionsIn(view: TreeView, passages: readonly Folder[]): PromiseOrValue<Map<string, number>> {
  return whenDone(readChildren(view, passages, {}, Infinity), ({ byParent }) => {
    const positions = new Map<string, number>();
    for (const { folders } of byParent.values()) folders.forEach(({ id }, place) => positions.set(id, place));
    return positions;
  });
}

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
