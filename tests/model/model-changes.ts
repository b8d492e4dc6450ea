/**
 * Applies mutations to the model, and refuses them for the same reasons and in the same order as the server.
 */

import { isDeepStrictEqual } from 'node:util';
import {
  MANAGE,
  READ,
  WRITE,
  type Level,
  type ModelFolder,
  type ModelGroup,
  type ModelUser,
  type TreeModel,
} from './tree-model.ts';
import {
  checkName,
  checkTexts,
  checkTrees,
  ModelRefusalError,
  parsePaths,
  type CheckedTree,
  type PathInput,
  type TextsInput,
  type TreeInput,
} from './model-input.ts';

interface Versioned {
  readonly expectedVersion?: number | undefined;
}

export interface SubjectInput {
  readonly userId?: string;
  readonly groupId?: string;
}

type Input<Fields> = Fields & Versioned;

export function createFolder(
  model: TreeModel,
  actor: ModelUser,
  input: Input<TextsInput & { name: string; parentId?: string | undefined }>,
): ModelFolder {
  const name = checkName(input.name);
  const texts = checkTexts(input);
  const parent = requireWritable(model, actor, input.parentId ?? model.root.id, input);
  requireFreeName(parent, name);
  return model.addFolder(parent, name, texts);
}

export function updateFolder(
  model: TreeModel,
  actor: ModelUser,
  input: Input<TextsInput & { id: string; name?: string | undefined }>,
): ModelFolder {
  const texts = checkTexts(input);
  const name = input.name === undefined ? undefined : checkName(input.name);
  const folder = requireWritable(model, actor, input.id, input);
  const changed = { ...texts, name: name ?? folder.name };
  const isSame = Object.entries(changed).every(([key, value]) =>
    isDeepStrictEqual(folder[key as keyof ModelFolder], value),
  );
  if (isSame) return folder;
  if (changed.name !== folder.name && folder.parent) requireFreeName(folder.parent, changed.name);
  Object.assign(folder, changed);
  touch(model, folder);
  return folder;
}

export interface Move {
  readonly folder: ModelFolder;
  readonly folderCount: number;
  readonly accessChanges: readonly { user: ModelUser; before: Level; after: Level }[] | null;
}

export function moveFolder(
  model: TreeModel,
  actor: ModelUser,
  input: Input<{ id: string; parentId: string; name?: string | undefined; dryRun: boolean }>,
): Move {
  const inputName = input.name === undefined ? undefined : checkName(input.name);
  const folder = requireWritable(model, actor, input.id, input);
  const from = parentForWriting(model, actor, folder);
  const to = requireWritable(model, actor, input.parentId);
  if (model.pathTo(to)!.includes(folder)) throw new ModelRefusalError('CYCLE');
  const changed = model.users.map((user) => ({
    user,
    before: model.levelOf(user, folder),
    after: levelUnder(model, user, folder, to),
  }));
  const isAccessGained = changed.some(({ before, after }) => after > before);
  const name = inputName ?? folder.name;
  if (to !== from || name !== folder.name) requireFreeName(to, name);
  if (to !== from && isAccessGained && model.levelOf(actor, folder) < MANAGE) {
    throw new ModelRefusalError('FORBIDDEN');
  }
  const isManager = [folder, from, to].every((each) => model.levelOf(actor, each) >= MANAGE);
  const folderCount = countSeen(model, actor, folder);
  if ((to !== from || name !== folder.name) && !input.dryRun) {
    detach(folder);
    folder.name = name;
    attach(folder, to);
    touch(model, folder);
  }
  const accessChanges = changed
    .filter(({ before, after }) => before !== after)
    .toSorted((one, other) => (one.user.username < other.user.username ? -1 : 1));
  return { folder, folderCount, accessChanges: isManager ? accessChanges : null };
}

export function deleteFolder(
  model: TreeModel,
  actor: ModelUser,
  input: Input<{ id: string; recursive: boolean }>,
): { folder: ModelFolder; folderCount: number } {
  const folder = requireWritable(model, actor, input.id, input);
  const from = parentForWriting(model, actor, folder);
  const folderCount = countSeen(model, actor, folder);
  if (folderCount > 1 && !input.recursive) throw new ModelRefusalError('CONFLICT');
  detach(folder);
  folder.deletion = { at: model.now, from };
  touch(model, folder);
  return { folder, folderCount };
}

/** Returns the folders that a user can restore, the latest deletion first. */
export function listTrash(model: TreeModel, user: ModelUser): ModelFolder[] {
  return model.allFolders
    .filter((folder) => folder.deletion && isRestorable(model, user, folder))
    .toSorted((one, other) => other.deletion!.at - one.deletion!.at || (one.id < other.id ? 1 : -1));
}

export function restoreFolder(
  model: TreeModel,
  actor: ModelUser,
  input: Input<{ id: string; parentId?: string | undefined; name?: string | undefined }>,
): ModelFolder {
  const folder = model.find(input.id);
  if (!folder?.deletion || !isRestorable(model, actor, folder)) throw new ModelRefusalError('NOT_FOUND');
  requireVersion(folder, input);
  const { from } = folder.deletion;
  if (input.parentId === undefined && !model.pathTo(from)) throw new ModelRefusalError('CONFLICT');
  const to = requireWritable(model, actor, input.parentId ?? from.id);
  const levelIn = (user: ModelUser, location: ModelFolder) =>
    model.ownLevelOf(user, folder) ?? model.levelOf(user, location);
  const isManager = actor.isAdministrator || levelIn(actor, from) >= MANAGE;
  if (!isManager && model.users.some((user) => levelIn(user, to) > levelIn(user, from))) {
    throw new ModelRefusalError('FORBIDDEN');
  }
  const name = input.name === undefined ? folder.name : checkName(input.name);
  requireFreeName(to, name);
  folder.name = name;
  folder.deletion = undefined;
  attach(folder, to);
  touch(model, folder);
  return folder;
}

interface ImportInput {
  readonly parentId?: string | undefined;
  readonly tree?: readonly TreeInput[];
  readonly list?: readonly PathInput[];
  readonly onExisting?: 'FAIL' | 'KEEP' | 'UPDATE' | undefined;
  readonly dryRun?: boolean;
}

/** Returns the new folders, parents first, and how many existing ones were updated and kept. */
export function importFolders(
  model: TreeModel,
  actor: ModelUser,
  input: Input<ImportInput>,
): { parent: ModelFolder; added: ModelFolder[]; createdCount: number; updated: number; kept: number } {
  const parent = requireWritable(model, actor, input.parentId ?? model.root.id, input);
  const trees = input.tree ? checkTrees(input.tree) : parsePaths(input.list!);
  const existing = findExisting(model, actor, { trees, parent, onExisting: input.onExisting ?? 'FAIL' });
  const updates =
    input.onExisting === 'UPDATE'
      ? [...existing].filter(([{ texts }, folder]) => needsUpdate(model, actor, texts, folder))
      : [];
  const createdCount = countTrees(trees) - existing.size;
  const counts = { createdCount, updated: updates.length, kept: existing.size - updates.length };
  const added: ModelFolder[] = [];
  if (input.dryRun) return { parent, added, ...counts };
  for (const [{ texts }, folder] of updates) {
    Object.assign(folder, texts);
    touch(model, folder);
  }
  const addAll = (all: readonly CheckedTree[], under: ModelFolder) => {
    for (const tree of all) {
      const found = existing.get(tree);
      const folder = found ?? model.addFolder(under, tree.name, tree.texts);
      if (!found) added.push(folder);
      addAll(tree.folders, folder);
    }
  };
  addAll(trees, parent);
  return { parent, added, ...counts };
}

/** Visits the trees level by level, because the server reports the first refusal in this order. */
function findExisting(
  model: TreeModel,
  actor: ModelUser,
  input: { trees: readonly CheckedTree[]; parent: ModelFolder; onExisting: string },
): Map<CheckedTree, ModelFolder> {
  const existing = new Map<CheckedTree, ModelFolder>();
  const level = input.trees.map((tree) => ({ tree, parent: input.parent }));
  // The loop also visits the items that it appends.
  for (const { tree, parent } of level) {
    const found = [...parent.children].find(({ name }) => name === tree.name);
    if (found && input.onExisting !== 'FAIL' && model.isSeen(actor, found)) {
      existing.set(tree, found);
      level.push(...tree.folders.map((inner) => ({ tree: inner, parent: found })));
      continue;
    }
    if (model.levelOf(actor, parent) < WRITE) throw new ModelRefusalError('FORBIDDEN');
    if (found) throw new ModelRefusalError('CONFLICT');
  }
  return existing;
}

function needsUpdate(
  model: TreeModel,
  actor: ModelUser,
  texts: CheckedTree['texts'],
  folder: ModelFolder,
): boolean {
  const level = model.levelOf(actor, folder);
  const seen = level < READ ? { title: null, icon: null, description: null, properties: {} } : folder;
  const isSame = Object.entries(texts).every(([key, value]) =>
    isDeepStrictEqual(seen[key as keyof typeof seen], value),
  );
  if (!isSame && level < WRITE) throw new ModelRefusalError('FORBIDDEN');
  return !isSame;
}

function countTrees(trees: readonly CheckedTree[]): number {
  return trees.reduce((count, { folders }) => count + 1 + countTrees(folders), 0);
}

export function grantAccess(
  model: TreeModel,
  actor: ModelUser,
  input: SubjectInput & { folderId: string; level: Level },
): ModelFolder {
  const folder = requireManageable(model, actor, input.folderId);
  const subjectId = input.userId ?? input.groupId!;
  if (![...model.users, ...model.groups].some(({ id }) => id === subjectId))
    throw new ModelRefusalError('NOT_FOUND');
  if (folder.grants.get(subjectId) !== input.level) folder.grantTimes.set(subjectId, model.now);
  folder.grants.set(subjectId, input.level);
  return folder;
}

export function revokeAccess(
  model: TreeModel,
  actor: ModelUser,
  input: SubjectInput & { folderId: string },
): ModelFolder {
  const folder = requireManageable(model, actor, input.folderId);
  if (!folder.grants.delete(input.userId ?? input.groupId!)) throw new ModelRefusalError('NOT_FOUND');
  return folder;
}

/** Returns how many members were added or removed. */
export function changeMembers(
  actor: ModelUser,
  { memberIds }: ModelGroup,
  users: readonly ModelUser[],
  action: 'add' | 'delete',
): number {
  if (!actor.isAdministrator) throw new ModelRefusalError('FORBIDDEN');
  const before = memberIds.size;
  for (const { id } of users) memberIds[action](id);
  return Math.abs(memberIds.size - before);
}

export function requireSeen(model: TreeModel, actor: ModelUser, id: string): ModelFolder {
  const folder = model.find(id);
  if (!folder || !model.isSeen(actor, folder)) throw new ModelRefusalError('NOT_FOUND');
  return folder;
}

function requireWritable(
  model: TreeModel,
  actor: ModelUser,
  id: string,
  versioned: Versioned = {},
): ModelFolder {
  const folder = requireSeen(model, actor, id);
  if (model.levelOf(actor, folder) < WRITE) throw new ModelRefusalError('FORBIDDEN');
  requireVersion(folder, versioned);
  return folder;
}

function requireManageable(model: TreeModel, actor: ModelUser, id: string): ModelFolder {
  const folder = requireSeen(model, actor, id);
  if (model.levelOf(actor, folder) < MANAGE) throw new ModelRefusalError('FORBIDDEN');
  return folder;
}

function parentForWriting(model: TreeModel, actor: ModelUser, { parent }: ModelFolder): ModelFolder {
  if (!parent) throw new ModelRefusalError('BAD_INPUT');
  return requireWritable(model, actor, parent.id);
}

function requireVersion({ version }: ModelFolder, { expectedVersion }: Versioned): void {
  if (expectedVersion !== undefined && expectedVersion !== version)
    throw new ModelRefusalError('CONFLICT', version);
}

/** Refuses a name in use, even if the actor does not see the folder that has it. */
function requireFreeName(parent: ModelFolder, name: string): void {
  if ([...parent.children].some((child) => child.name === name)) throw new ModelRefusalError('CONFLICT');
}

function levelUnder(model: TreeModel, user: ModelUser, folder: ModelFolder, parent: ModelFolder): Level {
  const [own] = model.grantsFor(user, folder);
  return own && !user.isAdministrator ? own.level : model.levelOf(user, parent);
}

function isRestorable(model: TreeModel, user: ModelUser, folder: ModelFolder): boolean {
  const { at, from } = folder.deletion!;
  if (model.now >= at + model.trashDays * 86_400_000) return false;
  if (user.isAdministrator) return true;
  const isOwnEnough = (model.ownLevelOf(user, folder) ?? WRITE) >= WRITE;
  return isOwnEnough && model.pathTo(from) !== undefined && model.levelOf(user, from) >= WRITE;
}

function countSeen(model: TreeModel, actor: ModelUser, folder: ModelFolder): number {
  return 1 + model.descendants(folder, model.seenBy(actor)).length;
}

function touch(model: TreeModel, folder: ModelFolder): void {
  folder.version++;
  folder.updatedAt = model.now;
}

function detach(folder: ModelFolder): void {
  folder.parent!.children.delete(folder);
  folder.parent = null;
}

function attach(folder: ModelFolder, parent: ModelFolder): void {
  folder.parent = parent;
  parent.children.add(folder);
}
