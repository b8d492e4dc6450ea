/** Whether somebody's access is still what it was at an earlier place of the journal. */

import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { type accessLevels, Access } from './access.ts';
import { Ancestry, readPastAncestry } from './ancestry.ts';

/** Of the journal: what comes after one entry, up to another. */
export interface JournalRange {
  readonly after: number;
  readonly upTo: number;
}

interface Found {
  readonly number: number;
}

const ofUser = sql<JournalRange & { userId: string }, Found>`
  select number from journal where user_id = ${'userId'} and number > ${'after'} and number <= ${'upTo'}
    and (changes_access = 1 or kind = 'REVOKE_ACCESS') order by number limit 1`;

const ofGroups = sql<JournalRange & { groupIds: readonly string[] }, Found>`
  select journal.number from ${list('groupIds')} cross join journal
  where journal.group_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('GRANT_ACCESS', 'REVOKE_ACCESS') order by journal.number limit 1`;

const ofFolders = sql<JournalRange & { folderIds: readonly string[] }, Found>`
  select journal.number from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER') order by journal.number limit 1`;

const findGrantedIds = sql<{ subjectIds: readonly string[] }, { id: string }>`
  select distinct folder_id as id from grants where subject_id in (select value from ${list('subjectIds')})`;

/** In doubt, it has: a grant that came and went counts. `access` is what it is at the end. */
export async function hasAccessChanged(
  reader: Reader,
  access: Access,
  range: JournalRange,
): Promise<boolean> {
  return (await firstChange(reader, [access], range)) !== undefined;
}

/** Then what came and went in between is not to be found in what it was and what it is. */
export async function hasAccessChangedTwice(
  reader: Reader,
  accesses: readonly Access[],
  { after, upTo }: JournalRange,
): Promise<boolean> {
  const first = await firstChange(reader, accesses, { after, upTo });
  return first !== undefined && (await firstChange(reader, accesses, { after: first, upTo })) !== undefined;
}

/** `accesses` are of one person. */
async function firstChange(
  reader: Reader,
  accesses: readonly Access[],
  range: JournalRange,
): Promise<number | undefined> {
  const { userId, rootId } = accesses[0]!;
  const found = [await reader.get(ofUser, { userId, ...range })];
  if (accesses.some(({ isAdministrator }) => !isAdministrator)) {
    const subjectIds = [...new Set(accesses.flatMap((access) => [...access.subjectIds]))];
    const groupIds = subjectIds.filter((id) => id !== userId);
    if (groupIds.length > 0) found.push(await reader.get(ofGroups, { groupIds, ...range }));
    // A grant that is gone by now has left its way in what is known of before.
    const known = accesses.flatMap((access) => [...access.grantPathIds]);
    const folderIds = [...new Set([...known, ...(await readGrantPathIds(reader, rootId, subjectIds))])];
    found.push(await reader.get(ofFolders, { folderIds, ...range }));
  }
  const numbers = found.flatMap((each) => each?.number ?? []);
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}

/** The folders with grants to the subjects and all above them, whether they are on the tree or not. */
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
/** Uncovered: more of it, or of what is inside, is seen. Level: the same is seen, and another thing may be done. */

export type VisibilityChange = 'uncovered' | 'hidden' | 'level';

export interface AccessEffect {
  readonly folderId: string;
  readonly effect: VisibilityChange;
}

export interface AccessChange {
  readonly before: Access;
  readonly after: Access;
  /** The place in the journal to whose tree it is applied: the one of which the viewer knows. */
  readonly number: number;
  /** Only this folder and what is inside. */
  readonly under?: string | undefined;
}
const { READ } = accessLevels;
/** What is seen inside an uncovered folder may also be less than before. */

export async function compareVisibility(
  reader: Reader,
  { before, after, number, under }: AccessChange,
): Promise<readonly AccessEffect[]> {
  const { rootId } = after;
  const top = under ?? rootId;
  const ids = [...new Set([...before.grantPathIds, ...after.grantPathIds, top])];
  const ancestry = await readPastAncestry(reader, { rootId, number }, ids);
  const paths = ids.map((id) => ancestry.pathTo(id) ?? []).filter((pathIds) => pathIds.includes(top));
  return topmost(before, after, paths);
}
function topmost(before: Access, after: Access, paths: readonly (readonly string[])[]): AccessEffect[] {
  const decided = new Set<string>();
  const relevelled = new Set<string>();
  const effects: AccessEffect[] = [];
  for (const pathIds of paths.toSorted((one, other) => one.length - other.length)) {
    if (pathIds.some((above) => decided.has(above))) continue;
    const effect = visibilityChange({ access: before, pathIds }, { access: after, pathIds });
    if (!effect || (effect === 'level' && pathIds.some((above) => relevelled.has(above)))) continue;
    const folderId = pathIds.at(-1)!;
    (effect === 'level' ? relevelled : decided).add(folderId);
    effects.push({ folderId, effect });
  }
  return effects;
}
/** A way to a folder, and with whose eyes it is looked at. */

export interface FolderSight {
  readonly access: Access;
  readonly pathIds: readonly string[];
}
/** What becomes of a folder for somebody whose access, or the way to it, is another. */

export function visibilityChange(before: FolderSight, after: FolderSight): VisibilityChange | undefined {
  const wasSeen = before.access.sees(before.pathIds);
  const isSeen = after.access.sees(after.pathIds);
  if (!isSeen) return wasSeen ? 'hidden' : undefined;
  const [old, now] = [before.access.levelAt(before.pathIds), after.access.levelAt(after.pathIds)];
  // A passage shows only what leads on: what is inside differs, too.
  if (!wasSeen || old >= READ !== now >= READ) return 'uncovered';
  return old === now ? undefined : 'level';
}
