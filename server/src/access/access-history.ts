/** Whether somebody's access is still what it was at an earlier place of the journal. */

import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import type { Access } from './access.ts';
import { Ancestry } from './ancestry.ts';

interface Since {
  readonly after: number;
}

const ofUser = sql<Since & { userId: string }, { number: number }>`
  select number from journal where user_id = ${'userId'} and number > ${'after'}
    and (changes_access = 1 or kind = 'REVOKE_ACCESS') limit 1`;

const ofGroups = sql<Since & { groupIds: readonly string[] }, { number: number }>`
  select journal.number from ${list('groupIds')} cross join journal
  where journal.group_id = each.value and journal.number > ${'after'}
    and journal.kind in ('GRANT_ACCESS', 'REVOKE_ACCESS') limit 1`;

const ofFolders = sql<Since & { folderIds: readonly string[] }, { number: number }>`
  select journal.number from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER') limit 1`;

const findGrantedIds = sql<{ subjectIds: readonly string[] }, { id: string }>`
  select distinct folder_id as id from grants where subject_id in (select value from ${list('subjectIds')})`;

/** In doubt, it has: a grant that came and went counts. `access` is what it is now. */
export async function hasAccessChanged(reader: Reader, access: Access, after: number): Promise<boolean> {
  const { userId, isAdministrator } = access;
  if (await reader.get(ofUser, { userId, after })) return true;
  if (isAdministrator) return false;
  const subjectIds = [...access.subjectIds];
  const groupIds = subjectIds.filter((id) => id !== userId);
  if (groupIds.length > 0 && (await reader.get(ofGroups, { groupIds, after }))) return true;
  const folderIds = await foldersOnWays(reader, access.rootId, subjectIds);
  return Boolean(await reader.get(ofFolders, { folderIds, after }));
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
