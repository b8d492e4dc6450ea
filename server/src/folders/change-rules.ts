/**
 * How deep the tree may grow. Every folder keeps a height: how many levels may be inside it. It is never too small, and
 * may be too large after something was taken out; so a move is judged without looking inside, unless it comes close.
 */

import type { Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { Folder, TreeView } from './folders.ts';

export const maxDepth = 256;

const findHeight = sql<{ id: string }, { height: number }>`select height from folders where id = ${'id'}`;

const raise = sql<{ id: string; height: number }>`
  update folders set height = ${'height'} where id = ${'id'} and height < ${'height'}`;

const findInside = sql<{ ids: readonly string[] }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')})`;

/** Refuses to put so many levels into a folder whose way is loaded. */
export function checkDepth({ ancestry }: TreeView, parent: Folder, levels: number): void {
  if (depthOf(ancestry.pathTo(parent.id)!) + levels > maxDepth) throw tooDeep();
}

export function tooDeep(): Refusal {
  return new Refusal('BAD_INPUT', `Folders are at most ${maxDepth} levels deep.`);
}

/** Refuses to put a folder with all that is inside into another. Answers how many levels that is, or may be. */
export async function checkSubtreeDepth(
  transaction: Transaction,
  view: TreeView,
  parent: Folder,
  id: string,
): Promise<number> {
  const { height } = (await transaction.get(findHeight, { id }))!;
  const isCertain = depthOf(view.ancestry.pathTo(parent.id)!) + 1 + height <= maxDepth;
  checkDepth(view, parent, 1 + (isCertain ? height : await countLevels(transaction, id)));
  return 1 + height;
}

/** After levels were put into the last folder of a way: it and those above it have at least as many inside. */
export async function raiseHeights(
  transaction: Transaction,
  pathIds: readonly string[],
  levels: number,
): Promise<void> {
  let height = levels;
  for (const id of pathIds.toReversed()) {
    if ((await transaction.run(raise, { id, height: height++ })) === 0) return;
  }
}

function depthOf(pathIds: readonly string[]): number {
  return pathIds.length - 1;
}

async function countLevels(transaction: Transaction, id: string): Promise<number> {
  let ids: readonly string[] = [id];
  for (let levels = 0; ; levels++) {
    ids = (await transaction.all(findInside, { ids })).map((inside) => inside.id);
    if (ids.length === 0 || levels === maxDepth) return levels;
  }
}
