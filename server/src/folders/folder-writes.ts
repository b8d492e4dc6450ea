/**
 * Creates, updates, moves and deletes folders inside a transaction, with the rights and the tree of that moment. Each change writes
 * a constant number of rows, however large a subtree is.
 */

import type { Access } from '../access/access.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { differences, record, type ChangeOrigin, type Details } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  addChildren,
  addToCount,
  checkAccessNotWidened,
  checkDepth,
  checkNameIsFree,
  checkSubtreeDepth,
  nameTaken,
  requireWritable,
} from './change-rules.ts';
import { visibleChildCount } from './children/children.ts';
import { readJournalPath } from './journal-paths.ts';
import { insertRow, newRow } from './new-folder-rows.ts';
import {
  foldForStorage,
  sortKey,
  toFolderName,
  toTexts,
  type FolderTexts,
  type FolderTextsInput,
} from './folder-texts.ts';
import type { Folder, FolderRow, TreeView } from './tree-view.ts';

export interface NewFolder extends FolderTextsInput {
  readonly parentId?: string | null | undefined;
  readonly name: string;
  /** The version of the parent. */
  readonly expectedVersion?: number | null | undefined;
}

export interface FolderUpdate extends FolderTextsInput {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
}

export interface FolderMove {
  readonly id: string;
  readonly parentId: string;
  /** Replaces the name. */
  readonly name?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
}

/** The ids from the root to a folder, before and after it is moved. */
export interface MovedPaths {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A move that has been checked in the same transaction. */
interface CheckedMove {
  readonly folder: Folder;
  readonly from: Folder;
  readonly to: Folder;
  /** The name after the move. */
  readonly name: string;
  /** An upper bound of the levels that move. */
  readonly addedDepth: number;
  readonly paths: MovedPaths;
}

export interface ChangedFolder {
  readonly id: string;
  /** The folder after the change. Missing if the change was made earlier, under the same idempotency key. */
  readonly folder?: Folder;
  /** The ids from the root to the folder after the change. */
  readonly pathIds?: readonly string[];
  /** Missing if not all ancestors were read. */
  readonly seen?: SeenFolder | undefined;
}

/** The folder and its ancestors as the viewer sees them at the moment of the change. The response needs no other read for its path. */
export interface SeenFolder {
  readonly access: Access;
  readonly rows: ReadonlyMap<string, FolderRow>;
}

export interface FolderDeletion {
  readonly id: string;
  readonly isRecursive: boolean;
  readonly expectedVersion?: number | null | undefined;
}

/** The maximum length of a text in the journal: a whole name, title or icon. */
const maxJournaledLength = 255;

type StoredTexts = FolderTexts & { id: string; foldedTitle: string | null; now: number };
type StoredName = { name: string; sortKey: Uint8Array; foldedName: string };

const setTexts = sql`title = ${'title'}, folded_title = ${'foldedTitle'}, icon = ${'icon'},
  description = ${'description'}, properties = ${'properties'}, version = version + 1, updated_at = ${'now'}`;

// Two statements, because setting a name writes to its indexes even if it stays the same.
export const updateTexts = sql<StoredTexts>`update folders set ${setTexts} where id = ${'id'}`;
const updateNameAndTexts = sql<StoredTexts & StoredName>`
  update folders set name = ${'name'}, sort_key = ${'sortKey'}, folded_name = ${'foldedName'}, ${setTexts}
  where id = ${'id'}`;

const findTexts = sql<{ id: string }, FolderTexts>`
  select title, icon, description, properties from folders where id = ${'id'}`;

const setParent = sql<{ id: string; parentId: string; now: number }>`
  update folders set parent_id = ${'parentId'}, version = version + 1, updated_at = ${'now'} where id = ${'id'}`;

// One statement, because the old name may be taken at the destination, and the new name at the origin.
const setParentAndName = sql<{ id: string; parentId: string; now: number } & StoredName>`
  update folders set parent_id = ${'parentId'}, name = ${'name'}, sort_key = ${'sortKey'},
    folded_name = ${'foldedName'}, version = version + 1, updated_at = ${'now'}
  where id = ${'id'}`;

const detachFolder = sql<{ id: string; now: number }>`
  update folders set parent_id = null, detached_at = ${'now'}, detached_from = parent_id,
    detached_because = 'delete', version = version + 1, updated_at = ${'now'}
  where id = ${'id'}`;

export async function createFolder(
  transaction: Transaction,
  view: TreeView,
  input: NewFolder,
  by: ChangeOrigin,
): Promise<ChangedFolder> {
  const name = toFolderName(input.name);
  const texts = toTexts(input);
  const { now } = by;
  const parent = await requireWritable(view, input.parentId ?? view.access.rootId, input.expectedVersion);
  checkDepth(view, parent, 1);
  const row = newRow({ parentId: parent.id, name, ...texts }, now);
  const parentPath = view.ancestry.pathTo(parent.id)!;
  const pathIds = [...parentPath, row.id];
  insertRow(transaction, row, () => nameTaken(name));
  // A parent that already has children keeps its height.
  if (parent.childCount > 0) transaction.queue(addToCount, { id: parent.id, by: 1 });
  else await addChildren(transaction, parentPath, { count: 1, addedDepth: 1 });
  const path = await readJournalPath(view, pathIds, name);
  record(transaction, { kind: 'CREATE_FOLDER', ...by, folderId: row.id, pathIds, path, after: { name } });
  const { id, parentId, title, icon, description, properties, childCount } = row;
  const { accessLevel } = parent;
  const times = { version: 1, createdAt: now, updatedAt: now };
  const folder = { id, parentId, name, title, childCount, ...times, accessLevel };
  return changedFolder(view, { ...folder, texts: { icon, description, properties } }, pathIds);
}

function changedFolder(view: TreeView, folder: Folder, pathIds: readonly string[]): ChangedFolder {
  const { access, rows } = view;
  const { id } = folder;
  const hasAllAncestors = pathIds.every((each) => each === id || rows.has(each));
  const seen = hasAllAncestors ? { access, rows: new Map([...rows, [id, folder]]) } : undefined;
  return { id, folder, pathIds, seen };
}

export async function updateFolder(
  transaction: Transaction,
  view: TreeView,
  input: FolderUpdate,
  by: ChangeOrigin,
): Promise<ChangedFolder> {
  const inputTexts = toTexts(input);
  const inputName = typeof input.name === 'string' ? toFolderName(input.name) : undefined;
  const folder = await requireWritable(view, input.id, input.expectedVersion);
  const { id, parentId, name: oldName } = folder;
  const pathIds = view.ancestry.pathTo(id)!;
  const newName = inputName === oldName ? undefined : inputName;
  const before = folder.texts
    ? { title: folder.title, ...folder.texts }
    : (await transaction.get(findTexts, { id }))!;
  const newTexts = { ...before, ...inputTexts };
  const isSame = (Object.keys(inputTexts) as (keyof FolderTexts)[]).every(
    (key) => newTexts[key] === before[key],
  );
  // Saving the same texts again must not make the versions of other clients stale.
  if (isSame && newName === undefined) return changedFolder(view, folder, pathIds);
  if (newName !== undefined && parentId) await checkNameIsFree(transaction, parentId, newName);
  const { now } = by;
  const path = await readJournalPath(view, pathIds, newName ?? oldName);
  const formerPath = newName === undefined ? undefined : await readJournalPath(view, pathIds, oldName);
  const parameters = { ...newTexts, id, foldedTitle: newTexts.title && foldForStorage(newTexts.title), now };
  const name = newName ?? oldName;
  if (newName === undefined) transaction.queue(updateTexts, parameters);
  else {
    transaction.queue(updateNameAndTexts, { ...parameters, ...toStoredName(name) });
  }
  const changedTexts = differences({ name: oldName, ...before }, { name, ...newTexts });
  record(transaction, {
    kind: 'UPDATE_FOLDER',
    ...by,
    folderId: id,
    pathIds,
    path,
    formerPath,
    before: truncate(changedTexts.before),
    after: truncate(changedTexts.after),
  });
  const { title, ...longTexts } = newTexts;
  const version = folder.version + 1;
  return changedFolder(view, { ...folder, name, title, texts: longTexts, version, updatedAt: now }, pathIds);
}

function toStoredName(name: string): StoredName {
  return { name, sortKey: sortKey(name), foldedName: foldForStorage(name) };
}

export function truncate(texts: Details): Details {
  const shorten = (text: Details[string]) => {
    const letters = typeof text === 'string' && text.length > maxJournaledLength ? [...text] : [];
    return letters.length > maxJournaledLength ? `${letters.slice(0, maxJournaledLength).join('')}…` : text;
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, shorten(text)]));
}

/** Refuses a move that is not allowed. */
export async function checkMove(
  transaction: Transaction,
  view: TreeView,
  input: FolderMove,
): Promise<CheckedMove> {
  const inputName = typeof input.name === 'string' ? toFolderName(input.name) : undefined;
  const folder = await requireWritable(view, input.id, input.expectedVersion);
  const from = await requireWritableParent(view, folder, 'moved');
  const to = await requireWritable(view, input.parentId);
  const pathTo = view.ancestry.pathTo(to.id)!;
  if (pathTo.includes(folder.id)) {
    throw new Refusal('CYCLE', 'A folder cannot be moved into itself or into a folder inside it.');
  }
  const addedDepth = await checkSubtreeDepth(transaction, view, to, folder.id);
  const paths = { before: view.ancestry.pathTo(folder.id)!, after: [...pathTo, folder.id] };
  const name = inputName ?? folder.name;
  const isMoved = to.id !== from.id;
  if (isMoved || name !== folder.name) {
    await checkNameIsFree(transaction, to.id, name);
  }
  if (isMoved) await checkAccessNotWidened(transaction, folder.accessLevel, paths.before, paths.after);
  return { folder, from, to, name, addedDepth, paths };
}

export async function moveFolder(
  transaction: Transaction,
  view: TreeView,
  { folder, from, to, name, addedDepth, paths }: CheckedMove,
  by: ChangeOrigin,
): Promise<void> {
  const isMoved = from.id !== to.id;
  const isRenamed = name !== folder.name;
  if (!isMoved && !isRenamed) return;
  const path = await readJournalPath(view, paths.after, name);
  const formerPath = await readJournalPath(view, paths.before, folder.name);
  const parameters = { id: folder.id, parentId: to.id, now: by.now };
  if (isRenamed) transaction.queue(setParentAndName, { ...parameters, ...toStoredName(name) });
  else transaction.queue(setParent, parameters);
  const entry = { ...by, folderId: folder.id, pathIds: paths.after, path, formerPath };
  const oldName = isRenamed ? { name: folder.name } : {};
  if (!isMoved) {
    record(transaction, { kind: 'UPDATE_FOLDER', ...entry, before: oldName, after: { name } });
    return;
  }
  transaction.queue(addToCount, { id: from.id, by: -1 });
  await addChildren(transaction, paths.after.slice(0, -1), { count: 1, addedDepth });
  record(transaction, {
    kind: 'MOVE_FOLDER',
    ...entry,
    oldPathIds: paths.before,
    before: { parentId: from.id, ...oldName },
    after: { parentId: to.id, name },
    changesAccess: true,
  });
}

/** Detaches a folder with its subtree from the tree. Returns the path that it had. */
export async function deleteFolder(
  transaction: Transaction,
  view: TreeView,
  input: FolderDeletion,
  by: ChangeOrigin,
): Promise<readonly string[]> {
  const folder = await requireWritable(view, input.id, input.expectedVersion);
  const parent = await requireWritableParent(view, folder, 'deleted');
  const pathIds = view.ancestry.pathTo(folder.id)!;
  const childCount = visibleChildCount(view, folder);
  if (childCount > 0 && !input.isRecursive) {
    throw new Refusal(
      'CONFLICT',
      `The folder has ${childCount === 1 ? 'a subfolder' : `${childCount} subfolders`}. To delete it with all folders inside, set recursive: true.`,
    );
  }
  const path = await readJournalPath(view, pathIds, folder.name);
  transaction.queue(detachFolder, { id: folder.id, now: by.now });
  transaction.queue(addToCount, { id: parent.id, by: -1 });
  record(transaction, {
    kind: 'DELETE_FOLDER',
    ...by,
    folderId: folder.id,
    pathIds,
    path,
    before: { name: folder.name },
    changesAccess: true,
  });
  return pathIds;
}

/** Removing a folder from its parent also needs WRITE on the parent. */
async function requireWritableParent(view: TreeView, folder: Folder, action: string): Promise<Folder> {
  if (folder.parentId === null) throw new Refusal('BAD_INPUT', `The root cannot be ${action}.`);
  return requireWritable(view, folder.parentId);
}
