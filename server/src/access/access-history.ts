/**
 * How a user's access has changed: whether it is still the same as at an earlier entry of the journal, and which folders a change
 * of access shows or hides.
 */

import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { accessLevels, type Access } from './access.ts';
import { Ancestry, readPastAncestry } from './ancestry.ts';

const { READ } = accessLevels;

/** The journal entries after one number, up to another. */
export interface JournalRange {
  readonly after: number;
  readonly upTo: number;
}

interface EntryNumber {
  readonly number: number;
}

const findUserChange = sql<JournalRange & { userId: string }, EntryNumber>`
  select number from journal where user_id = ${'userId'} and number > ${'after'} and number <= ${'upTo'}
    and (changes_access = 1 or kind = 'REVOKE_ACCESS') order by number limit 1`;

const findGroupChange = sql<JournalRange & { groupIds: readonly string[] }, EntryNumber>`
  select journal.number from ${list('groupIds')} cross join journal
  where journal.group_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('GRANT_ACCESS', 'REVOKE_ACCESS') order by journal.number limit 1`;

const findFolderChange = sql<JournalRange & { folderIds: readonly string[] }, EntryNumber>`
  select journal.number from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER') order by journal.number limit 1`;

const findGrantedIds = sql<{ subjectIds: readonly string[] }, { id: string }>`
  select distinct folder_id as id from grants where subject_id in (select value from ${list('subjectIds')})`;

/** Whether the access may have changed: a grant that was added and removed counts. `access` is the one at the end of the range. */
export async function hasAccessChanged(
  reader: Reader,
  access: Access,
  range: JournalRange,
): Promise<boolean> {
  return (await firstChange(reader, [access], range)) !== undefined;
}

/** If so, comparing the first and the last access misses what changed in between. */
export async function hasAccessChangedTwice(
  reader: Reader,
  accesses: readonly Access[],
  { after, upTo }: JournalRange,
): Promise<boolean> {
  const first = await firstChange(reader, accesses, { after, upTo });
  return first !== undefined && (await firstChange(reader, accesses, { after: first, upTo })) !== undefined;
}

/** All `accesses` belong to the same user. */
async function firstChange(
  reader: Reader,
  accesses: readonly Access[],
  range: JournalRange,
): Promise<number | undefined> {
  const { userId, rootId } = accesses[0]!;
  const found = [await reader.get(findUserChange, { userId, ...range })];
  if (accesses.some(({ isAdministrator }) => !isAdministrator)) {
    const subjectIds = [...new Set(accesses.flatMap((access) => [...access.subjectIds]))];
    const groupIds = subjectIds.filter((id) => id !== userId);
    if (groupIds.length > 0) found.push(await reader.get(findGroupChange, { groupIds, ...range }));
    // The path of a grant that has been removed is only in the earlier access.
    const earlierIds = accesses.flatMap((access) => [...access.grantPathIds]);
    const folderIds = [...new Set([...earlierIds, ...(await readGrantPathIds(reader, rootId, subjectIds))])];
    found.push(await reader.get(findFolderChange, { folderIds, ...range }));
  }
  const numbers = found.flatMap((each) => each?.number ?? []);
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}

/** The folders with grants to the subjects, and all their ancestors, including deleted folders. */
async function readGrantPathIds(
  reader: Reader,
  rootId: string,
  subjectIds: readonly string[],
): Promise<string[]> {
  const ancestry = new Ancestry(reader, rootId);
  const granted = (await reader.all(findGrantedIds, { subjectIds })).map(({ id }) => id);
  await ancestry.load(granted);
  return [...new Set(granted.flatMap((id) => ancestry.pathFromTop(id)))];
}

/** 'uncovered': the user sees more of the folder or its subtree. 'level': the user sees the same, with another level. */
export type VisibilityChange = 'uncovered' | 'hidden' | 'level';

export interface AccessEffect {
  readonly folderId: string;
  readonly effect: VisibilityChange;
}

export interface AccessChange {
  readonly before: Access;
  readonly after: Access;
  /** The entry whose tree is compared: the last one that the viewer has received. */
  readonly number: number;
  /** Limits the comparison to this folder and its subtree. */
  readonly under?: string | undefined;
}

/**
 * Returns the topmost folders that a change of access shows or hides; their subtrees change with them. Inside an uncovered folder,
 * the user may also see less than before.
 */
export async function compareVisibility(
  reader: Reader,
  { before, after, number, under }: AccessChange,
): Promise<readonly AccessEffect[]> {
  const { rootId } = after;
  const top = under ?? rootId;
  const ids = [...new Set([...before.grantPathIds, ...after.grantPathIds, top])];
  const ancestry = await readPastAncestry(reader, { rootId, number }, ids);
  const paths = ids.map((id) => ancestry.pathTo(id) ?? []).filter((pathIds) => pathIds.includes(top));
  return findTopmost(before, after, paths);
}

function findTopmost(before: Access, after: Access, paths: readonly (readonly string[])[]): AccessEffect[] {
  const decided = new Set<string>();
  const relevelled = new Set<string>();
  const effects: AccessEffect[] = [];
  for (const pathIds of paths.toSorted((one, other) => one.length - other.length)) {
    if (pathIds.some((id) => decided.has(id))) continue;
    const effect = visibilityChange({ access: before, pathIds }, { access: after, pathIds });
    if (!effect || (effect === 'level' && pathIds.some((id) => relevelled.has(id)))) continue;
    const folderId = pathIds.at(-1)!;
    (effect === 'level' ? relevelled : decided).add(folderId);
    effects.push({ folderId, effect });
  }
  return effects;
}

/** A folder's path, and the access with which it is seen. */
export interface FolderSight {
  readonly access: Access;
  readonly pathIds: readonly string[];
}

/** The effect of another access or another path on the visibility of a folder. */
export function visibilityChange(before: FolderSight, after: FolderSight): VisibilityChange | undefined {
  const wasSeen = before.access.sees(before.pathIds);
  const isSeen = after.access.sees(after.pathIds);
  if (!isSeen) return wasSeen ? 'hidden' : undefined;
  const [old, now] = [before.access.levelAt(before.pathIds), after.access.levelAt(after.pathIds)];
  // A passage shows only some children, so the subtree changes, too.
  if (!wasSeen || old >= READ !== now >= READ) return 'uncovered';
  return old === now ? undefined : 'level';
}
