/** Counts folders for a viewer: the siblings before a folder in natural order, and the folders below a folder. */

import type { Access, AccessLevel } from '../../access/access.ts';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { readInBatches, maxRowsPerStatement } from '../../database/database.ts';
import { list, sql, type CountOfEach } from '../../database/statement.ts';
import { restrictionOf } from './child-lists.ts';
import { inRowBatches, readChildren, visibleChildCount } from './children.ts';
import type { Folder, TreeView } from '../tree-view.ts';

/** A folder and its parent. */
export interface Sibling {
  readonly folder: Folder;
  readonly parent: Folder;
}

type Parameters = Pick<Access, 'hiddenIds'> & { readonly ids: readonly string[] };

const countBefore = (restricted: boolean) => sql<Parameters, CountOfEach>`
  select folder.id, (
    select count(*) from folders
    where folders.parent_id = folder.parent_id and (folders.sort_key, folders.id) < (folder.sort_key, folder.id)
    ${restricted ? sql`and folders.id not in (select value from ${list('hiddenIds')})` : sql``}
  ) as count
  from folders as folder where folder.id in (select value from ${list('ids')})`;

/** Counting a row in the index takes a tenth of the time of reading it. */
const countedPerStatement = 10 * maxRowsPerStatement;

const countAllBefore = countBefore(false);
const countVisibleBefore = countBefore(true);

/**
 * The number of visible folders that `readPositions` examines. It counts again for each sibling, but reads the children of a passage
 * only once. Hidden folders are not charged, because a refusal shows the cost to the client.
 */
export function positionsCost(view: TreeView, siblings: readonly Sibling[]): number {
  let cost = 0;
  for (const inside of Map.groupBy(siblings, ({ parent }) => parent.id).values()) {
    const [first] = inside;
    if (!first) continue;
    const times = isPassage(view, first) ? 1 : inside.length;
    cost += times * visibleChildCount(view, first.parent);
  }
  return cost;
}

/** Counts the visible siblings before each folder, by id. */
export function readPositions(
  view: TreeView,
  siblings: readonly Sibling[],
): PromiseOrValue<ReadonlyMap<string, number>> {
  const { access, reader } = view;
  const ids = siblings.filter((each) => !isPassage(view, each)).map(({ folder }) => folder.id);
  const statement = restrictionOf(view) === 'none' ? countAllBefore : countVisibleBefore;
  const maxChildCount = siblings.reduce((max, { parent }) => Math.max(max, parent.childCount), 1);
  const size = Math.max(1, Math.floor(countedPerStatement / maxChildCount));
  const count = (some: readonly string[]) =>
    reader.all(
      statement,
      { ids: some, hiddenIds: access.hiddenIds },
      Math.ceil((some.length * maxChildCount * maxRowsPerStatement) / countedPerStatement),
    );
  const countRows = ids.length === 0 ? [] : readInBatches(ids, count, size);
  const passages = new Map(
    siblings.filter((each) => isPassage(view, each)).map(({ parent }) => [parent.id, parent]),
  );
  return whenDone(countRows, (rows) =>
    whenDone(positionsIn(view, [...passages.values()]), (positions) => {
      for (const { id, count } of rows) positions.set(id, count);
      return positions;
    }),
  );
}

function isPassage({ access }: TreeView, { parent: { id, accessLevel } }: Sibling): boolean {
  return access.childRule(id, accessLevel).only !== undefined;
}

/** A passage has few visible children, so they are read instead of counted. */
function positionsIn(view: TreeView, passages: readonly Folder[]): PromiseOrValue<Map<string, number>> {
  return whenDone(readChildren(view, passages, {}, Infinity), ({ byParent }) => {
    const positions = new Map<string, number>();
    for (const { folders } of byParent.values()) folders.forEach(({ id }, index) => positions.set(id, index));
    return positions;
  });
}

export interface CountOptions {
  /** The number of levels; all if undefined. */
  readonly depth?: number | undefined;
  /** Called with the number of folders before they are examined; it may refuse. */
  readonly onRead: (count: number) => void;
}

interface Row {
  readonly id: string;
  readonly parentId: string;
  readonly childCount: number;
  /** An upper bound for the number of levels inside. */
  readonly height: number;
}

/** A visible folder with children. */
interface ParentFolder extends Row {
  readonly accessLevel: AccessLevel;
}

const columns = sql`select id, parent_id as "parentId", child_count as "childCount", height from folders`;
const findParents = sql<{ ids: readonly string[] }, Row>`
  ${columns} where id in (select value from ${list('ids')})`;
const findParentsInside = sql<{ parentIds: readonly string[] }, Row>`
  ${columns} where parent_id in (select value from ${list('parentIds')}) and child_count > 0`;

export async function countDescendants(
  view: TreeView,
  { id, accessLevel }: Folder,
  { depth = Infinity, onRead }: CountOptions,
): Promise<number> {
  const [top] = await view.reader.all(findParents, { ids: [id] });
  let count = 0;
  let level: ParentFolder[] = top ? [{ ...top, accessLevel }] : [];
  for (let reached = 1; level.length > 0; reached++) {
    count += sumOf(view, level);
    const nextParents = reached < depth ? level.filter(({ height }) => height > 1) : [];
    level = [];
    for (const parents of inRowBatches(nextParents, ({ childCount }) => childCount)) {
      const inside = await readParentsInside(view, parents);
      // Charges only for parents with visible grandchildren: a stored height may be due to hidden folders.
      const withGrandchildren = new Set(
        inside.filter((each) => visibleChildCount(view, each) > 0).map((each) => each.parentId),
      );
      const chargedParents = parents.filter((parent) => withGrandchildren.has(parent.id));
      onRead(sumOf(view, chargedParents));
      for (const each of inside) level.push(each);
    }
  }
  return count;
}

function sumOf(view: TreeView, parents: readonly ParentFolder[]): number {
  return parents.reduce((sum, each) => sum + visibleChildCount(view, each), 0);
}

/** The visible children of a passage are read by their ids. */
async function readParentsInside(view: TreeView, parents: readonly ParentFolder[]): Promise<ParentFolder[]> {
  const { reader, access } = view;
  const levels = new Map(parents.map(({ id, accessLevel }) => [id, accessLevel]));
  const parentIds: string[] = [];
  const ids: string[] = [];
  for (const [id, accessLevel] of levels) {
    const { only } = access.childRule(id, accessLevel);
    if (only) ids.push(...only);
    else parentIds.push(id);
  }
  const examined = parents.reduce((sum, { childCount }) => sum + childCount, 0);
  const inside = parentIds.length > 0 ? await reader.all(findParentsInside, { parentIds }, examined) : [];
  const visible = ids.length > 0 ? await reader.all(findParents, { ids }, ids.length) : [];
  return [...inside, ...visible]
    .map((row) => ({ ...row, accessLevel: access.levelOf(row.id, levels.get(row.parentId)!) }))
    .filter(({ id, accessLevel }) => access.isVisible(id, accessLevel));
}
