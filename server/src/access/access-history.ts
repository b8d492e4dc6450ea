/**
 * Compares access. Is a user's access still the same as at an earlier entry of the journal? Which folders does a change of access
 * show or hide? Which users get another level on a folder if its path changes?
 */

import { readUsers, userKey, type User } from '../accounts/users.ts';
import type { Reader } from '../database/database.ts';
import { list, sql, type Statement } from '../database/statement.ts';
import { accessLevels, type Access, type AccessLevel } from './access.ts';
import { Ancestry, readPastAncestry } from './ancestry.ts';

const { READ } = accessLevels;

/** The journal entries after one number, up to another. */
interface JournalRange {
  readonly after: number;
  readonly upTo: number;
}

interface EntryNumber {
  readonly number: number;
}

/** The end of an API key changes only the access of this key, which is then refused. */
const findUserChange = sql<JournalRange & { userId: string }, EntryNumber>`
  select number from journal where user_id = ${'userId'} and number > ${'after'} and number <= ${'upTo'}
    and (changes_access = 1 or kind = 'REVOKE_ACCESS') and kind <> 'REVOKE_API_KEY' order by number limit 1`;

const findChange = (isRelevant: Statement) => sql<JournalRange & { ids: readonly string[] }, EntryNumber>`
  select journal.number from ${list('ids')} cross join journal
  where ${isRelevant} and journal.number > ${'after'} and journal.number <= ${'upTo'}
  order by journal.number limit 1`;
const findGroupChange = findChange(sql`
  journal.group_id = each.value and journal.kind in ('GRANT_ACCESS', 'REVOKE_ACCESS')`);
const findFolderChange = findChange(sql`
  journal.folder_id = each.value and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER')`);

const findGrantedIds = sql<{ subjectIds: readonly string[] }, { id: string }>`
  select distinct folder_id as id from grants where subject_id in (select value from ${list('subjectIds')})`;

/** Whether the access may have changed. A grant that was added and removed counts. `access` is the access at the end of the range. */
export async function hasAccessChanged(
  reader: Reader,
  access: Access,
  range: JournalRange,
): Promise<boolean> {
  return (await firstChange(reader, [access], range)) !== undefined;
}

/** Whether the access may have changed at least twice. A comparison of the first and the last access then misses a state in between. */
export async function hasAccessChangedTwice(
  reader: Reader,
  accesses: readonly Access[],
  { after, upTo }: JournalRange,
): Promise<boolean> {
  const first = await firstChange(reader, accesses, { after, upTo });
  return first !== undefined && (await firstChange(reader, accesses, { after: first, upTo })) !== undefined;
}

/** All `accesses` belong to the same holder of rights. */
async function firstChange(
  reader: Reader,
  accesses: readonly Access[],
  range: JournalRange,
): Promise<number | undefined> {
  const { userId, rootId, apiKey } = accesses[0]!;
  const found = [await reader.get(findUserChange, { userId, ...range })];
  if (accesses.some(({ isAdministrator }) => !isAdministrator)) {
    const subjectIds = [...new Set(accesses.flatMap((access) => [...access.subjectIds]))];
    const groupIds = subjectIds.filter((id) => id !== userId);
    if (groupIds.length > 0) found.push(await reader.get(findGroupChange, { ids: groupIds, ...range }));
    // The path of a grant that has been removed is only in the earlier access.
    const earlierIds = accesses.flatMap((access) => [...access.grantPathIds]);
    const folderIds = [
      ...new Set([...earlierIds, ...(await readGrantPathIds(reader, rootId, subjectIds, apiKey?.folderId))]),
    ];
    found.push(await reader.get(findFolderChange, { ids: folderIds, ...range }));
  }
  const numbers = found.flatMap((each) => each?.number ?? []);
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}

/** The folders with grants to the subjects, the folder that confines an API key, and all their ancestors, including deleted folders. */
async function readGrantPathIds(
  reader: Reader,
  rootId: string,
  subjectIds: readonly string[],
  confiningId: string | null | undefined,
): Promise<string[]> {
  const ancestry = new Ancestry(reader, rootId);
  const granted = (await reader.all(findGrantedIds, { subjectIds })).map(({ id }) => id);
  if (confiningId) granted.push(confiningId);
  await ancestry.load(granted);
  return [...new Set(granted.flatMap((id) => ancestry.pathFromTop(id)))];
}

/** 'uncovered': the user sees more of the folder or its subtree. 'level': the user sees the same folders, with another level. */
type VisibilityChange = 'uncovered' | 'hidden' | 'level';

interface AccessEffect {
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

/** The topmost folders that a change of access shows or hides. Inside an uncovered folder, the user may also see less than before. */
export async function compareVisibility(
  reader: Reader,
  { before, after, number, under }: AccessChange,
): Promise<readonly AccessEffect[]> {
  const { rootId } = after;
  const top = under ?? rootId;
  const ids = [...new Set([...before.grantPathIds, ...after.grantPathIds, top])];
  const ancestry = await readPastAncestry(reader, { rootId, number }, ids);
  const paths = ids.map((id) => ancestry.pathTo(id) ?? []).filter((pathIds) => pathIds.includes(top));
  return parentsFirst(reader, rootId, findTopmost(before, after, paths));
}

/**
 * Sorts the effects so that a client receives a folder after its parent. A move can show a folder at its new location, for example
 * to an API key for a folder inside it.
 */
async function parentsFirst(
  reader: Reader,
  rootId: string,
  effects: readonly AccessEffect[],
): Promise<readonly AccessEffect[]> {
  if (effects.filter(({ effect }) => effect === 'uncovered').length < 2) return effects;
  const ancestry = new Ancestry(reader, rootId);
  await ancestry.load(effects.map(({ folderId }) => folderId));
  const depthOf = ({ folderId, effect }: AccessEffect) =>
    effect === 'uncovered' ? ancestry.pathFromTop(folderId).length : 0;
  return effects.toSorted((one, other) => depthOf(one) - depthOf(other));
}

function findTopmost(before: Access, after: Access, paths: readonly (readonly string[])[]): AccessEffect[] {
  const shownOrHiddenIds = new Set<string>();
  const levelChangeIds = new Set<string>();
  const effects: AccessEffect[] = [];
  for (const pathIds of paths.toSorted((one, other) => one.length - other.length)) {
    if (pathIds.some((id) => shownOrHiddenIds.has(id))) continue;
    const effect = visibilityChange({ access: before, pathIds }, { access: after, pathIds });
    if (!effect || (effect === 'level' && pathIds.some((id) => levelChangeIds.has(id)))) continue;
    const folderId = pathIds.at(-1)!;
    (effect === 'level' ? levelChangeIds : shownOrHiddenIds).add(folderId);
    effects.push({ folderId, effect });
  }
  return effects;
}

/** A folder's path, and the access of the user. */
interface FolderVisibility {
  readonly access: Access;
  readonly pathIds: readonly string[];
}

/** How the visibility of a folder changes with its path or with the access of the user. */
export function visibilityChange(
  before: FolderVisibility,
  after: FolderVisibility,
): VisibilityChange | undefined {
  const wasSeen = before.access.sees(before.pathIds);
  const isSeen = after.access.sees(after.pathIds);
  if (!isSeen) return wasSeen ? 'hidden' : undefined;
  const [old, now] = [before.access.levelAt(before.pathIds), after.access.levelAt(after.pathIds)];
  // A passage shows only some children, so the subtree changes when a passage becomes readable or the reverse.
  if (!wasSeen || old >= READ !== now >= READ) return 'uncovered';
  return old === now ? undefined : 'level';
}

const findUserLevels = sql<
  { folderIds: readonly string[] },
  { userId: string; folderId: string; level: AccessLevel }
>`
  select users.id as "userId", grants.folder_id as "folderId", max(grants.level) as level
  from grants left join group_members on grants.subject_kind = 'group' and group_members.group_id = grants.subject_id
  join users on users.id = coalesce(group_members.user_id, grants.subject_id)
  where grants.folder_id in (select value from ${list('folderIds')}) and users.is_administrator = 0
  group by users.id, grants.folder_id`;

interface AccessDifference {
  readonly userId: string;
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

/** Returns the users whose level on a folder differs between two paths, except administrators. */
export async function compareAccess(
  reader: Reader,
  pathBefore: readonly string[],
  pathAfter: readonly string[],
): Promise<AccessDifference[]> {
  const rows = await reader.all(findUserLevels, { folderIds: [...new Set([...pathBefore, ...pathAfter])] });
  const nearest = (own: ReadonlyMap<string, AccessLevel>, pathIds: readonly string[]) =>
    own.get(pathIds.findLast((id) => own.has(id)) ?? '') ?? 0;
  return [...Map.groupBy(rows, ({ userId }) => userId)]
    .map(([userId, levels]) => {
      const own = new Map(levels.map(({ folderId, level }) => [folderId, level]));
      return { userId, before: nearest(own, pathBefore), after: nearest(own, pathAfter) };
    })
    .filter(({ before, after }) => before !== after);
}

/** Like `compareAccess()`, but returns the users themselves, in the order of their names. */
export async function readAccessChanges(
  reader: Reader,
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
): Promise<readonly (Omit<AccessDifference, 'userId'> & { readonly user: User })[]> {
  const differences = await compareAccess(reader, before, after);
  const users = await readUsers(
    reader,
    differences.map(({ userId }) => userId),
  );
  return differences
    .flatMap(({ userId, ...levels }) => {
      const user = users.get(userId);
      return user ? [{ user, ...levels }] : [];
    })
    .toSorted((one, other) => (userKey(one.user) < userKey(other.user) ? -1 : 1));
}
