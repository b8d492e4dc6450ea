/**
 * Changing the tree: create, update, move, delete, restore. Each is called in its turn inside a transaction, judges by
 * the rights and the tree of that moment, and writes a constant number of rows however much is inside a folder.
 */

import { accessLevelName, accessLevels, type AccessLevel } from '../access/access-level.ts';
import type { Access } from '../access/access.ts';
import { compareAccess } from '../access/grants.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { record, type Details } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { visibleChildCount } from './children.ts';
import { checkDepth, checkDepthWith, noteLevels } from './depth.ts';
import { toFolderName } from './folder-name.ts';
import { toTexts, type FolderTexts, type GivenTexts } from './folder-texts.ts';
import { foldStored } from './folded-text.ts';
import { requireFolder, viewTree, type FirstRead, type Folder, type TreeView } from './folders.ts';
import { insertRow, newRow } from './folder-rows.ts';
import { sortKey } from './sort-key.ts';

export interface NewFolder extends GivenTexts {
  readonly parentId?: string | null | undefined;
  readonly name: string;
  /** Of the parent. */
  readonly expectedVersion?: number | null | undefined;
}

export interface FolderUpdate extends GivenTexts {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
}

export interface FolderMove {
  readonly id: string;
  readonly parentId: string;
  readonly expectedVersion?: number | null | undefined;
}

/** The ids from the root to a folder, before and after it is moved. */
export interface MovedWays {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A move that is allowed, in the transaction that checked it. */
export interface CheckedMove {
  readonly folder: Folder;
  readonly from: Folder;
  readonly to: Folder;
  /** How many levels move, at most. */
  readonly levels: number;
  readonly ways: MovedWays;
  readonly view: TreeView;
}

/** A folder as a change left it, with the ids from the root to it. */
export interface WrittenFolder {
  readonly folder: Folder;
  readonly way: readonly string[];
  /** The tree as the change saw it. */
  readonly view: TreeView;
}

interface ChangeMoment {
  readonly now: number;
  /** If the folder has been read in this transaction already. */
  readonly first?: FirstRead | undefined;
}

export interface FolderDeletion {
  readonly id: string;
  readonly isRecursive: boolean;
  readonly expectedVersion?: number | null | undefined;
}

const { WRITE, MANAGE } = accessLevels;
/** Characters of a text that the journal keeps: all of a name, a title or an icon. */
const mostJournalled = 255;

const findName = sql<{ parentId: string; name: string }, { id: string }>`
  select id from folders where parent_id = ${'parentId'} and name = ${'name'}`;

const addToCount = sql<{ id: string; by: number }>`
  update folders set child_count = child_count + ${'by'} where id = ${'id'}`;

type StoredTexts = FolderTexts & { id: string; foldedTitle: string | null; now: number };
type StoredName = { name: string; sortKey: Uint8Array; foldedName: string };

const setTexts = sql`title = ${'title'}, folded_title = ${'foldedTitle'}, icon = ${'icon'},
  description = ${'description'}, properties = ${'properties'}, version = version + 1, updated_at = ${'now'}`;

// Apart, because setting a name writes to its indexes even if it stays the same.
const updateTexts = sql<StoredTexts>`update folders set ${setTexts} where id = ${'id'}`;
const updateNameAndTexts = sql<StoredTexts & StoredName>`
  update folders set name = ${'name'}, sort_key = ${'sortKey'}, folded_name = ${'foldedName'}, ${setTexts}
  where id = ${'id'}`;

const findTexts = sql<{ id: string }, FolderTexts>`
  select title, icon, description, properties from folders where id = ${'id'}`;

const setParent = sql<{ id: string; parentId: string; now: number }>`
  update folders set parent_id = ${'parentId'}, version = version + 1, updated_at = ${'now'} where id = ${'id'}`;

const detach = sql<{ id: string; now: number }>`
  update folders set parent_id = null, detached_at = ${'now'}, detached_from = parent_id,
    detached_because = 'delete', version = version + 1, updated_at = ${'now'}
  where id = ${'id'}`;

export async function createFolder(
  transaction: Transaction,
  access: Access,
  given: NewFolder,
  { now, first }: ChangeMoment,
): Promise<WrittenFolder> {
  const name = toFolderName(given.name);
  const texts = toTexts(given);
  const view = viewTree(transaction, access, first);
  const parent = await writableFolder(view, given.parentId ?? access.rootId, given.expectedVersion);
  checkDepth(view, parent, 1);
  const row = newRow({ parentId: parent.id, name, ...texts }, now);
  const parentWay = view.ancestry.wayTo(parent.id)!;
  const way = [...parentWay, row.id];
  insertRow(transaction, row, () => nameTaken(name));
  // Where there is a level already, one more folder on it makes nothing higher.
  if (parent.childCount > 0) transaction.queue(addToCount, { id: parent.id, by: 1 });
  else await addChildren(transaction, parentWay, { count: 1, levels: 1 });
  record(transaction, {
    kind: 'CREATE_FOLDER',
    at: now,
    byUserId: access.userId,
    folderId: row.id,
    way,
    after: { name },
  });
  const { id, parentId, title, icon, description, properties, childCount } = row;
  const { accessLevel } = parent;
  const times = { version: 1, createdAt: now, updatedAt: now };
  const folder = { id, parentId, name, title, childCount, ...times, accessLevel };
  return { folder: { ...folder, texts: { icon, description, properties } }, way, view };
}

export async function updateFolder(
  transaction: Transaction,
  access: Access,
  given: FolderUpdate,
  { now, first }: ChangeMoment,
): Promise<WrittenFolder> {
  const view = viewTree(transaction, access, first);
  const changed = toTexts(given);
  const givenName = typeof given.name === 'string' ? toFolderName(given.name) : undefined;
  const folder = await writableFolder(view, given.id, given.expectedVersion);
  const { id, parentId, name: oldName } = folder;
  const way = view.ancestry.wayTo(id)!;
  const newName = givenName === oldName ? undefined : givenName;
  const before = folder.texts
    ? { title: folder.title, ...folder.texts }
    : (await transaction.get(findTexts, { id }))!;
  const stored = { ...before, ...changed };
  const isSame = (Object.keys(changed) as (keyof FolderTexts)[]).every((key) => stored[key] === before[key]);
  // Who saves again what is there makes nobody else's version stale.
  if (isSame && newName === undefined) return { folder, way, view };
  if (newName !== undefined && parentId) await checkNameIsFree(transaction, parentId, newName);
  const parameters = { ...stored, id, foldedTitle: stored.title && foldStored(stored.title), now };
  const name = newName ?? oldName;
  if (newName === undefined) transaction.queue(updateTexts, parameters);
  else {
    const named = { name, sortKey: sortKey(name), foldedName: foldStored(name) };
    transaction.queue(updateNameAndTexts, { ...parameters, ...named });
  }
  record(transaction, {
    kind: 'UPDATE_FOLDER',
    at: now,
    byUserId: access.userId,
    folderId: id,
    way,
    ...differences({ name: oldName, ...before }, { name, ...stored }),
  });
  const { title, ...texts } = stored;
  const changedFolder = { ...folder, name, title, texts, version: folder.version + 1, updatedAt: now };
  return { folder: changedFolder, way, view };
}

/** What of the texts is different, for the journal: the beginning of each. */
function differences(
  before: FolderTexts & { name: string },
  after: FolderTexts & { name: string },
): { before: Details; after: Details } {
  const keys = (Object.keys(after) as (keyof typeof after)[]).filter((key) => before[key] !== after[key]);
  const shown = (texts: typeof after) =>
    Object.fromEntries(keys.map((key) => [key, beginning(texts[key])] as const));
  return { before: shown(before), after: shown(after) };
}

function beginning(text: string | null): string | null {
  const letters = text === null || text.length <= mostJournalled ? undefined : [...text];
  return letters && letters.length > mostJournalled ? `${letters.slice(0, mostJournalled).join('')}…` : text;
}

/** Where a folder would go from and to; refuses what must not be moved there. */
export async function checkMove(
  transaction: Transaction,
  access: Access,
  given: FolderMove,
): Promise<CheckedMove> {
  const view = viewTree(transaction, access);
  const folder = await writableFolder(view, given.id, given.expectedVersion);
  const from = await parentForWriting(view, folder, 'moved');
  const to = await writableFolder(view, given.parentId);
  const wayTo = view.ancestry.wayTo(to.id)!;
  if (wayTo.includes(folder.id)) {
    throw new Refusal('CYCLE', 'A folder cannot be moved into itself or into a folder inside it.');
  }
  const levels = await checkDepthWith(transaction, view, to, folder.id);
  const ways = { before: view.ancestry.wayTo(folder.id)!, after: [...wayTo, folder.id] };
  if (to.id !== from.id) {
    await checkNameIsFree(transaction, to.id, folder.name, 'Rename the folder before you move it.');
    await checkNobodyGains(transaction, folder.accessLevel, ways.before, ways.after);
  }
  return { folder, from, to, levels, ways, view };
}

export async function moveFolder(
  transaction: Transaction,
  { folder, from, to, levels, ways, view }: CheckedMove,
  now: number,
): Promise<void> {
  if (from.id === to.id) return;
  transaction.queue(setParent, { id: folder.id, parentId: to.id, now });
  transaction.queue(addToCount, { id: from.id, by: -1 });
  await addChildren(transaction, ways.after.slice(0, -1), { count: 1, levels });
  record(transaction, {
    kind: 'MOVE_FOLDER',
    at: now,
    byUserId: view.access.userId,
    folderId: folder.id,
    oldWay: ways.before,
    way: ways.after,
    before: { parentId: from.id },
    after: { parentId: to.id, name: folder.name },
    changesAccess: true,
  });
}

/** Takes the folder off the tree, with all that is inside. Answers with the ids from the root to where it was. */
export async function deleteFolder(
  transaction: Transaction,
  access: Access,
  given: FolderDeletion,
  now: number,
): Promise<readonly string[]> {
  const view = viewTree(transaction, access);
  const folder = await writableFolder(view, given.id, given.expectedVersion);
  const parent = await parentForWriting(view, folder, 'deleted');
  const way = view.ancestry.wayTo(folder.id)!;
  const inside = visibleChildCount(view, folder);
  if (inside > 0 && !given.isRecursive) {
    throw new Refusal(
      'CONFLICT',
      `The folder has ${inside === 1 ? 'a sub-folder' : `${inside} sub-folders`}. To delete it with all that is inside, say recursive: true.`,
    );
  }
  transaction.queue(detach, { id: folder.id, now });
  transaction.queue(addToCount, { id: parent.id, by: -1 });
  record(transaction, {
    kind: 'DELETE_FOLDER',
    at: now,
    byUserId: access.userId,
    folderId: folder.id,
    way,
    before: { name: folder.name },
    changesAccess: true,
  });
  return way;
}

/** A folder that the viewer may change; what they do not see does not exist. */
export async function writableFolder(
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
    `The folder has been changed meanwhile: it is at version ${version}, not ${expected}.`,
    { facts: { version } },
  );
}

export function requireLevel({ name, accessLevel }: Folder, needed: AccessLevel): void {
  if (accessLevel >= needed) return;
  throw new Refusal(
    'FORBIDDEN',
    `This needs ${accessLevelName(needed)} on the folder "${name}"; you have ${accessLevelName(accessLevel)}.`,
  );
}

/** Taking a folder out of its parent changes the parent, too. */
async function parentForWriting(view: TreeView, folder: Folder, done: string): Promise<Folder> {
  if (folder.parentId === null) throw new Refusal('BAD_INPUT', `The root cannot be ${done}.`);
  return writableFolder(view, folder.parentId);
}

/** The refusal is the same whether the viewer may see the other folder or not, and says nothing of it. */
export async function checkNameIsFree(
  transaction: Transaction,
  parentId: string,
  name: string,
  advice?: string,
): Promise<void> {
  if (await transaction.get(findName, { parentId, name })) throw nameTaken(name, advice);
}

export function nameTaken(name: string, advice = 'Choose another name.'): Refusal {
  return new Refusal('CONFLICT', `The name ${JSON.stringify(name)} is not free in that folder. ${advice}`);
}

/**
 * Where a folder is decides who sees it, and only whoever manages it may decide that. Otherwise whoever may write could
 * show others what is hidden inside, or become a manager by putting it where they manage.
 */
export async function checkNobodyGains(
  transaction: Transaction,
  level: AccessLevel,
  wayBefore: readonly string[],
  wayAfter: readonly string[],
): Promise<void> {
  if (level >= MANAGE) return;
  const differences = await compareAccess(transaction, wayBefore, wayAfter);
  if (!differences.some(({ before, after }) => after > before)) return;
  throw new Refusal(
    'FORBIDDEN',
    `There, you or others would have more access to the folder than now, and you have only ${accessLevelName(level)} on it. Ask somebody who manages it.`,
  );
}

/** After folders were put into the last of a way: what that one and those above it keep of it. */
export async function addChildren(
  transaction: Transaction,
  way: readonly string[],
  { count, levels }: { readonly count: number; readonly levels: number },
): Promise<void> {
  await noteLevels(transaction, way, levels);
  transaction.queue(addToCount, { id: way.at(-1)!, by: count });
}
