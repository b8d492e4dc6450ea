/** Where folders stand among their siblings, in natural order, as the viewer sees them. One statement serves any number. */

import type { Access } from '../access/access.ts';
import { inBatches, maxRowsPerStatement, whenDone, type PromiseOrValue } from '../database/database.ts';
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
export function positionsPrice(view: TreeView, siblings: readonly Sibling[]): number {
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
  const counted = ids.length === 0 ? [] : inBatches(ids, count, size);
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
