/**
 * The rules that a change of the tree must meet: rights, version, free names and the depth of the tree. Every folder stores a
 * height, the number of levels inside it. A stored height is never too small, but it may be too large after a folder was moved out.
 * So most moves can be checked without reading the subtree.
 */

import { accessLevelName, accessLevels, type AccessLevel } from '../access/access.ts';
import { compareAccess } from '../access/access-history.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { requireFolder, type Folder, type TreeView } from './tree-view.ts';

const { WRITE, MANAGE } = accessLevels;
export const maxTreeDepth = 256;

const findName = sql<{ parentId: string; name: string }, { id: string }>`
  select id from folders where parent_id = ${'parentId'} and name = ${'name'}`;

export const addToCount = sql<{ id: string; by: number }>`
  update folders set child_count = child_count + ${'by'} where id = ${'id'}`;

const findHeight = sql<{ id: string }, { height: number }>`select height from folders where id = ${'id'}`;

const raiseHeight = sql<{ id: string; height: number }>`
  update folders set height = ${'height'} where id = ${'id'} and height < ${'height'}`;

const findChildren = sql<{ ids: readonly string[] }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')})`;

/** Returns a folder that the viewer may change. A folder that the viewer does not see does not exist. */
export async function requireWritable(
  view: TreeView,
  id: string,
  expectedVersion?: number | null,
): Promise<Folder> {
  const folder = await requireFolder(view, id);
  requireLevel(folder, WRITE);
  checkVersion(folder, expectedVersion);
  return folder;
}

export function checkVersion({ version }: { version: number }, expected: number | null | undefined): void {
  if (typeof expected !== 'number' || version === expected) return;
  throw new Refusal(
    'CONFLICT',
    `The folder has changed since you read it: its version is ${version}, not ${expected}. Read it again.`,
    { facts: { version } },
  );
}

type NamedFolder = Pick<Folder, 'name' | 'accessLevel'> & { readonly parentId?: string | null };

/** Quotes the name of a folder for a message. The name of the root is not part of any path. */
export function quoteFolder({ name, parentId }: Pick<NamedFolder, 'name' | 'parentId'>): string {
  return parentId === null ? 'the root /' : `"${name}"`;
}

export function requireLevel(folder: NamedFolder, needed: AccessLevel): void {
  if (folder.accessLevel < needed) throw missingLevel(folder, needed);
}

export function missingLevel(folder: NamedFolder, needed: AccessLevel): Refusal {
  return new Refusal(
    'FORBIDDEN',
    `You need the access level ${accessLevelName(needed)} on ${quoteFolder(folder)}; you have ${accessLevelName(folder.accessLevel)}.`,
  );
}

/** The refusal is the same whether or not the viewer may see the folder with that name, so it reveals nothing about that folder. */
export async function checkNameIsFree(reader: Reader, parentId: string, name: string): Promise<void> {
  if (await reader.get(findName, { parentId, name })) throw nameTaken(name);
}

export function nameTaken(name: string, advice = 'Choose another name.'): Refusal {
  const message = `The name "${name}" is already in use in that folder. ${advice}`;
  return new Refusal('CONFLICT', message, { facts: { inputField: 'name' } });
}

/**
 * The location of a folder decides who sees it, so only a viewer with MANAGE may widen the access to it. Otherwise a viewer with
 * WRITE could reveal hidden folders to others, or gain MANAGE by moving the folder to a parent with MANAGE.
 */
export async function checkAccessNotWidened(
  transaction: Transaction,
  level: AccessLevel,
  pathBefore: readonly string[],
  pathAfter: readonly string[],
): Promise<void> {
  if (level >= MANAGE) return;
  const differences = await compareAccess(transaction, pathBefore, pathAfter);
  if (!differences.some(({ before, after }) => after > before)) return;
  throw new Refusal(
    'FORBIDDEN',
    `Under that parent, you or other users would have more access to the folder. For this, you need the access level MANAGE on the folder; you have ${accessLevelName(level)}.`,
  );
}

/** Refuses if `addedDepth` more levels below the parent would be too deep. The ancestors of the parent must be loaded. */
export function checkDepth({ ancestry }: TreeView, parent: Folder, addedDepth: number): void {
  if (depthOf(ancestry.pathTo(parent.id)!) + addedDepth > maxTreeDepth) throw tooDeep();
}

export function tooDeep(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    `Folders can be at most ${maxTreeDepth} levels deep. Choose a parent closer to the root.`,
  );
}

/** Refuses if the subtree of a folder would be too deep inside the parent. Returns an upper bound of the subtree's levels. */
export async function checkSubtreeDepth(
  transaction: Transaction,
  view: TreeView,
  parent: Folder,
  id: string,
): Promise<number> {
  const { height } = (await transaction.get(findHeight, { id }))!;
  const isCertain = depthOf(view.ancestry.pathTo(parent.id)!) + 1 + height <= maxTreeDepth;
  checkDepth(view, parent, 1 + (isCertain ? height : await countLevels(transaction, id)));
  return 1 + height;
}

function depthOf(pathIds: readonly string[]): number {
  return pathIds.length - 1;
}

async function countLevels(transaction: Transaction, id: string): Promise<number> {
  let ids: readonly string[] = [id];
  for (let levels = 0; ; levels++) {
    ids = (await transaction.all(findChildren, { ids })).map((child) => child.id);
    if (ids.length === 0 || levels === maxTreeDepth) return levels;
  }
}

/** Updates the stored counts and heights after folders were put into the last folder of a path. */
export async function addChildren(
  transaction: Transaction,
  pathIds: readonly string[],
  { count, addedDepth }: { readonly count: number; readonly addedDepth: number },
): Promise<void> {
  let height = addedDepth;
  for (const id of pathIds.toReversed()) {
    if ((await transaction.run(raiseHeight, { id, height: height++ })) === 0) break;
  }
  transaction.queue(addToCount, { id: pathIds.at(-1)!, by: count });
}
