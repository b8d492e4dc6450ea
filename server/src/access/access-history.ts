/** Whether somebody's access is still what it was at an earlier place of the journal. */

import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import type { Access } from './access.ts';
import { Ancestry } from './ancestry.ts';

/** Of the journal: what comes after one entry, up to another. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

interface Found {
  readonly number: number;
}

const ofUser = sql<Stretch & { userId: string }, Found>`
  select number from journal where user_id = ${'userId'} and number > ${'after'} and number <= ${'upTo'}
    and (changes_access = 1 or kind = 'REVOKE_ACCESS') order by number limit 1`;

const ofGroups = sql<Stretch & { groupIds: readonly string[] }, Found>`
  select journal.number from ${list('groupIds')} cross join journal
  where journal.group_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('GRANT_ACCESS', 'REVOKE_ACCESS') order by journal.number limit 1`;

const ofFolders = sql<Stretch & { folderIds: readonly string[] }, Found>`
  select journal.number from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.number <= ${'upTo'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER') order by journal.number limit 1`;

const findGrantedIds = sql<{ subjectIds: readonly string[] }, { id: string }>`
  select distinct folder_id as id from grants where subject_id in (select value from ${list('subjectIds')})`;

/** In doubt, it has: a grant that came and went counts. `access` is what it is at the end. */
export async function hasAccessChanged(reader: Reader, access: Access, stretch: Stretch): Promise<boolean> {
  return (await firstChange(reader, [access], stretch)) !== undefined;
}

/** Then what came and went in between is not to be found in what it was and what it is. */
export async function hasAccessChangedTwice(
  reader: Reader,
  accesses: readonly Access[],
  { after, upTo }: Stretch,
): Promise<boolean> {
  const first = await firstChange(reader, accesses, { after, upTo });
  return first !== undefined && (await firstChange(reader, accesses, { after: first, upTo })) !== undefined;
}

/** `accesses` are of one person. */
async function firstChange(
  reader: Reader,
  accesses: readonly Access[],
  stretch: Stretch,
): Promise<number | undefined> {
  const { userId, rootId } = accesses[0]!;
  const found = [await reader.get(ofUser, { userId, ...stretch })];
  if (accesses.some(({ isAdministrator }) => !isAdministrator)) {
    const subjectIds = [...new Set(accesses.flatMap((access) => [...access.subjectIds]))];
    const groupIds = subjectIds.filter((id) => id !== userId);
    if (groupIds.length > 0) found.push(await reader.get(ofGroups, { groupIds, ...stretch }));
    // A grant that is gone by now has left its way in what is known of before.
    const known = accesses.flatMap((access) => [...access.remarkableIds]);
    const folderIds = [...new Set([...known, ...(await foldersOnWays(reader, rootId, subjectIds))])];
    found.push(await reader.get(ofFolders, { folderIds, ...stretch }));
  }
  const numbers = found.flatMap((each) => each?.number ?? []);
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}

/** The folders with grants to the subjects and all above them, whether they are on the tree or not. */
async function foldersOnWays(
  reader: Reader,
  rootId: string,
  subjectIds: readonly string[],
): Promise<string[]> {
  const ancestry = new Ancestry(reader, rootId);
  const granted = (await reader.all(findGrantedIds, { subjectIds })).map(({ id }) => id);
  await ancestry.load(granted);
  return [...new Set(granted.flatMap((id) => ancestry.wayFromTop(id)))];
}
