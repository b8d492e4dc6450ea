/** What changes do to the model, and why they are refused, in the order in which the server finds out. */

import { isDeepStrictEqual } from 'node:util';
import {
  MANAGE,
  WRITE,
  type Level,
  type ModelFolder,
  type ModelGroup,
  type ModelUser,
  type Texts,
  type TreeModel,
} from './tree-model.ts';

export class Refused extends Error {
  readonly code: string;
  /** With a stale `expectedVersion`. */
  readonly version: number | undefined;

  constructor(code: string, version?: number) {
    super(code);
    this.code = code;
    this.version = version;
  }
}

export interface GivenTexts {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: Record<string, unknown> | null | undefined;
}

interface Versioned {
  readonly expectedVersion?: number | undefined;
}

export interface GivenTree extends GivenTexts {
  readonly name: string;
  readonly folders?: readonly GivenTree[] | undefined;
}

export interface GivenPath extends GivenTexts {
  readonly path: string;
}

export interface GivenSubject {
  readonly userId?: string;
  readonly groupId?: string;
}

type Given<Fields> = Fields & Versioned;

export function createFolder(
  model: TreeModel,
  actor: ModelUser,
  given: Given<GivenTexts & { name: string; parentId?: string | undefined }>,
): ModelFolder {
  const name = checkedName(given.name);
  const texts = checkedTexts(given);
  const parent = writable(model, actor, given.parentId ?? model.root.id, given);
  requireFreeName(parent, name);
  return model.plant(parent, name, texts);
}

export function updateFolder(
  model: TreeModel,
  actor: ModelUser,
  given: Given<GivenTexts & { id: string; name?: string | undefined }>,
): ModelFolder {
  const texts = checkedTexts(given);
  const name = given.name === undefined ? undefined : checkedName(given.name);
  const folder = writable(model, actor, given.id, given);
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
  given: Given<{ id: string; parentId: string; dryRun: boolean }>,
): Move {
  const folder = writable(model, actor, given.id, given);
  const from = parentForWriting(model, actor, folder);
  const to = writable(model, actor, given.parentId);
  if (model.wayTo(to)!.includes(folder)) throw new Refused('CYCLE');
  const changed = model.users.map((user) => ({
    user,
    before: model.levelOf(user, folder),
    after: levelUnder(model, user, folder, to),
  }));
  const isSomebodyGaining = changed.some(({ before, after }) => after > before);
  if (to !== from) {
    requireFreeName(to, folder.name);
    if (isSomebodyGaining && model.levelOf(actor, folder) < MANAGE) throw new Refused('FORBIDDEN');
  }
  const isManager = [folder, from, to].every((each) => model.levelOf(actor, each) >= MANAGE);
  const folderCount = countSeen(model, actor, folder);
  if (to !== from && !given.dryRun) {
    detach(folder);
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
  given: Given<{ id: string; recursive: boolean }>,
): { folder: ModelFolder; folderCount: number } {
  const folder = writable(model, actor, given.id, given);
  const from = parentForWriting(model, actor, folder);
  const folderCount = countSeen(model, actor, folder);
  if (folderCount > 1 && !given.recursive) throw new Refused('CONFLICT');
  detach(folder);
  folder.deletion = { at: model.now, from };
  touch(model, folder);
  return { folder, folderCount };
}

/** What a user can still restore, the latest first. */
export function trashOf(model: TreeModel, user: ModelUser): ModelFolder[] {
  return model.known
    .filter((folder) => folder.deletion && isRestorable(model, user, folder))
    .toSorted((one, other) => other.deletion!.at - one.deletion!.at || (one.id < other.id ? 1 : -1));
}

export function restoreFolder(
  model: TreeModel,
  actor: ModelUser,
  given: Given<{ id: string; parentId?: string | undefined; name?: string | undefined }>,
): ModelFolder {
  const folder = model.find(given.id);
  if (!folder?.deletion || !isRestorable(model, actor, folder)) throw new Refused('NOT_FOUND');
  requireVersion(folder, given);
  const { from } = folder.deletion;
  if (given.parentId === undefined && !model.wayTo(from)) throw new Refused('CONFLICT');
  const to = writable(model, actor, given.parentId ?? from.id);
  const levelIn = (user: ModelUser, place: ModelFolder) =>
    model.grantsFor(user, folder)[0]?.level ?? model.levelOf(user, place);
  const isManager = actor.isAdministrator || levelIn(actor, from) >= MANAGE;
  if (!isManager && model.users.some((user) => levelIn(user, to) > levelIn(user, from))) {
    throw new Refused('FORBIDDEN');
  }
  const name = given.name === undefined ? folder.name : checkedName(given.name);
  requireFreeName(to, name);
  folder.name = name;
  folder.deletion = undefined;
  attach(folder, to);
  touch(model, folder);
  return folder;
}

/** Answers with the new folders, those at the top first. */
export function importFolders(
  model: TreeModel,
  actor: ModelUser,
  given: Given<{ parentId?: string | undefined; tree?: readonly GivenTree[]; list?: readonly GivenPath[] }>,
): { parent: ModelFolder; planted: ModelFolder[] } {
  const parent = writable(model, actor, given.parentId ?? model.root.id, given);
  const trees = given.tree ? checkedTrees(given.tree) : treesOf(given.list!);
  for (const { name } of trees) requireFreeName(parent, name);
  const planted: ModelFolder[] = [];
  const plantAll = (all: readonly CheckedTree[], under: ModelFolder) => {
    for (const { name, texts, folders } of all) {
      const folder = model.plant(under, name, texts);
      planted.push(folder);
      plantAll(folders, folder);
    }
  };
  plantAll(trees, parent);
  return { parent, planted };
}

export function grantAccess(
  model: TreeModel,
  actor: ModelUser,
  given: GivenSubject & { folderId: string; level: Level },
): ModelFolder {
  const folder = manageable(model, actor, given.folderId);
  const subjectId = given.userId ?? given.groupId!;
  if (![...model.users, ...model.groups].some(({ id }) => id === subjectId)) throw new Refused('NOT_FOUND');
  if (folder.grants.get(subjectId) !== given.level) folder.grantTimes.set(subjectId, model.now);
  folder.grants.set(subjectId, given.level);
  return folder;
}

export function revokeAccess(
  model: TreeModel,
  actor: ModelUser,
  given: GivenSubject & { folderId: string },
): ModelFolder {
  const folder = manageable(model, actor, given.folderId);
  if (!folder.grants.delete(given.userId ?? given.groupId!)) throw new Refused('NOT_FOUND');
  return folder;
}

/** Answers how many came, or went. */
export function changeMembers(
  actor: ModelUser,
  { memberIds }: ModelGroup,
  users: readonly ModelUser[],
  action: 'add' | 'delete',
): number {
  if (!actor.isAdministrator) throw new Refused('FORBIDDEN');
  const before = memberIds.size;
  for (const { id } of users) memberIds[action](id);
  return Math.abs(memberIds.size - before);
}

export function requireSeen(model: TreeModel, actor: ModelUser, id: string): ModelFolder {
  const folder = model.find(id);
  if (!folder || !model.isSeen(actor, folder)) throw new Refused('NOT_FOUND');
  return folder;
}

function writable(model: TreeModel, actor: ModelUser, id: string, versioned: Versioned = {}): ModelFolder {
  const folder = requireSeen(model, actor, id);
  if (model.levelOf(actor, folder) < WRITE) throw new Refused('FORBIDDEN');
  requireVersion(folder, versioned);
  return folder;
}

function manageable(model: TreeModel, actor: ModelUser, id: string): ModelFolder {
  const folder = requireSeen(model, actor, id);
  if (model.levelOf(actor, folder) < MANAGE) throw new Refused('FORBIDDEN');
  return folder;
}

function parentForWriting(model: TreeModel, actor: ModelUser, { parent }: ModelFolder): ModelFolder {
  if (!parent) throw new Refused('BAD_INPUT');
  return writable(model, actor, parent.id);
}

function requireVersion({ version }: ModelFolder, { expectedVersion }: Versioned): void {
  if (expectedVersion !== undefined && expectedVersion !== version) throw new Refused('CONFLICT', version);
}

/** Whoever does not see the other folder learns that the name is taken all the same. */
function requireFreeName(parent: ModelFolder, name: string): void {
  if ([...parent.children].some((child) => child.name === name)) throw new Refused('CONFLICT');
}

function levelUnder(model: TreeModel, user: ModelUser, folder: ModelFolder, parent: ModelFolder): Level {
  const [own] = model.grantsFor(user, folder);
  return own && !user.isAdministrator ? own.level : model.levelOf(user, parent);
}

function isRestorable(model: TreeModel, user: ModelUser, folder: ModelFolder): boolean {
  const { at, from } = folder.deletion!;
  if (model.now >= at + model.trashDays * 86_400_000) return false;
  if (user.isAdministrator) return true;
  const isOwnEnough = model.grantsFor(user, folder).every(({ level }, place) => place > 0 || level >= WRITE);
  return isOwnEnough && model.wayTo(from) !== undefined && model.levelOf(user, from) >= WRITE;
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

function checkedName(given: string): string {
  const name = given.normalize('NFC');
  const { length } = [...name];
  if (!name.isWellFormed() || length < 1 || length > 255 || /[/\p{Cc}]/u.test(name)) {
    throw new Refused('BAD_INPUT');
  }
  return name;
}

/** Only those that were given. */
function checkedTexts({ title, icon, description, properties }: GivenTexts): Partial<Texts> {
  return {
    ...(title !== undefined && { title: checkedLine(title) }),
    ...(icon !== undefined && { icon: checkedLine(icon) }),
    ...(description !== undefined && { description: description || null }),
    ...(properties !== undefined && { properties: properties ?? {} }),
  };
}

function checkedLine(given: string | null): string | null {
  const line = given?.normalize('NFC') || null;
  if (line && (!line.isWellFormed() || [...line].length > 255 || /\p{Cc}/u.test(line))) {
    throw new Refused('BAD_INPUT');
  }
  return line;
}

interface CheckedTree {
  readonly name: string;
  texts: Partial<Texts>;
  readonly folders: CheckedTree[];
}

function checkedTrees(given: readonly GivenTree[]): CheckedTree[] {
  const trees = given.map((tree) => ({
    name: checkedName(tree.name),
    texts: checkedTexts(tree),
    folders: checkedTrees(tree.folders ?? []),
  }));
  if (new Set(trees.map(({ name }) => name)).size < trees.length) throw new Refused('CONFLICT');
  return trees;
}

/** Folders on the way that are not listed are made, too. */
function treesOf(list: readonly GivenPath[]): CheckedTree[] {
  const tops: CheckedTree[] = [];
  const listed = new Set<CheckedTree>();
  for (const given of list) {
    let tree: CheckedTree | undefined;
    for (const step of given.path.split('/')) {
      const name = checkedName(step);
      const siblings: CheckedTree[] = tree?.folders ?? tops;
      tree = siblings.find((sibling) => sibling.name === name);
      if (!tree) siblings.push((tree = { name, texts: {}, folders: [] }));
    }
    if (listed.has(tree!)) throw new Refused('CONFLICT');
    listed.add(tree!);
    tree!.texts = checkedTexts(given);
  }
  return tops;
}
