/** Computes the responses that the server must send, from the model. */

import { isDeepStrictEqual } from 'node:util';
import { foldText } from '../../server/src/folders/folder-texts.ts';
import { requireSeen } from './model-changes.ts';
import { ModelRefusalError } from './model-input.ts';
import {
  byId,
  byName,
  childrenAmong,
  levelNames,
  MANAGE,
  NONE,
  READ,
  type DecidingGrant,
  type ModelFolder,
  type ModelUser,
  type TreeModel,
} from './tree-model.ts';

/** Selects all fields that the expected folder contains. */
export const folderSelection = `id name title icon description properties accessLevel version createdAt updatedAt position
  path depth parent{id} ancestors{id name accessLevel} folders{totalCount items{id}}`;

export function expectedFolder(
  model: TreeModel,
  user: ModelUser,
  folder: ModelFolder,
  seen: ReadonlySet<ModelFolder>,
) {
  const path = model.pathTo(folder)!;
  const children = childrenAmong(folder, seen).map(({ id }) => ({ id }));
  return {
    ...ownFields(model, user, folder),
    path: model.pathOf(folder),
    depth: path.length - 1,
    position: folder.parent ? childrenAmong(folder.parent, seen).indexOf(folder) : 0,
    parent: folder.parent && { id: folder.parent.id },
    ancestors: path.slice(0, -1).map((each) => ({
      id: each.id,
      name: each.name,
      accessLevel: levelNames[model.levelOf(user, each)],
    })),
    folders: { totalCount: children.length, items: children },
  };
}

/** A passage shows only its name. */
function ownFields(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const level = model.levelOf(user, folder);
  const { id, name, title, icon, description, properties, version, createdAt, updatedAt } = folder;
  const isRead = level >= READ;
  return {
    id,
    name,
    title: (isRead && title) || name,
    icon: isRead ? icon : null,
    description: isRead ? description : null,
    properties: isRead ? properties : {},
    accessLevel: levelNames[level],
    version: isRead ? version : 0,
    createdAt: toDateTime(createdAt),
    updatedAt: toDateTime(isRead ? updatedAt : createdAt),
  };
}

export const grantSelection = 'level folder{id} user{id} group{id}';

function expectedGrant(model: TreeModel, { folder, subjectId, level }: DecidingGrant) {
  const isUser = model.users.some(({ id }) => id === subjectId);
  return {
    level: levelNames[level],
    folder: { id: folder.id },
    user: isUser ? { id: subjectId } : null,
    group: isUser ? null : { id: subjectId },
  };
}

/**
 * A manager sees all grants. Other users see their own, except with an API key on a folder outside the folder of the key. The newest
 * grant is first.
 */
export function expectedGrants(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const isOutside = user.key && !model.isInsideKeyFolder(user.key, folder);
  const own = isOutside ? [] : [user.id, ...model.groupsOf(user).map(({ id }) => id)];
  const isManager = model.levelOf(user, folder) >= MANAGE;
  const timeOf = (id: string) => folder.grantTimes.get(id)!;
  return [...folder.grants]
    .filter(([id]) => isManager || own.includes(id))
    .toSorted(([one], [other]) => timeOf(other) - timeOf(one) || (one < other ? 1 : -1))
    .map(([subjectId, level]) => expectedGrant(model, { folder, subjectId, level }));
}

export function explainAccess(model: TreeModel, actor: ModelUser, userId: string, folderId: string) {
  const folder = requireSeen(model, actor, folderId);
  const isSelf = userId === actor.id && !actor.key?.folderId;
  if (!isSelf && model.levelOf(actor, folder) < MANAGE) throw new ModelRefusalError('FORBIDDEN');
  const user = model.users.find(({ id }) => id === userId);
  if (!user) throw new ModelRefusalError('NOT_FOUND');
  const mayKnow = actor.isAdministrator || isSelf;
  const level = model.levelOf(user, folder);
  const grant = user.isAdministrator ? undefined : model.decidingGrant(user, folder);
  return {
    user: { id: userId },
    folder: { id: folderId },
    level: levelNames[level],
    isPassage: mayKnow ? level === NONE && model.isSeen(user, folder) : null,
    grant: grant ? expectedGrant(model, grant) : null,
  };
}

export interface ChildOrder {
  readonly field: 'NAME' | 'CREATED' | 'UPDATED';
  readonly direction: 'ASC' | 'DESC';
}

export interface ChildFilter {
  readonly nameContains?: string | undefined;
  readonly nameStartsWith?: string | undefined;
  readonly hasChildren?: boolean | undefined;
  readonly updatedSince?: string | undefined;
}

export function orderedChildren(
  model: TreeModel,
  user: ModelUser,
  folder: ModelFolder,
  { field, direction }: ChildOrder,
): ModelFolder[] {
  const updatedAt = (each: ModelFolder) => ownFields(model, user, each).updatedAt;
  const compare = {
    NAME: byName,
    CREATED: byId,
    UPDATED: (one: ModelFolder, other: ModelFolder) =>
      Date.parse(updatedAt(one)) - Date.parse(updatedAt(other)) || byId(one, other),
  }[field];
  const ordered = childrenAmong(folder, model.seenBy(user)).toSorted(compare);
  return direction === 'DESC' ? ordered.reverse() : ordered;
}

export function matchesFilter(
  model: TreeModel,
  user: ModelUser,
  folder: ModelFolder,
  { nameContains = '', nameStartsWith = '', hasChildren, updatedSince }: ChildFilter,
): boolean {
  const name = foldText(folder.name);
  const { updatedAt } = ownFields(model, user, folder);
  return (
    name.includes(foldText(nameContains)) &&
    name.startsWith(foldText(nameStartsWith)) &&
    (hasChildren === undefined || hasChildren === childrenAmong(folder, model.seenBy(user)).length > 0) &&
    (updatedSince === undefined || Date.parse(updatedAt) >= Date.parse(updatedSince))
  );
}

/** Returns the best matches first. */
export function search(
  model: TreeModel,
  user: ModelUser,
  input: string,
  under: ModelFolder | undefined,
): ModelFolder[] {
  const text = foldText(input.trim());
  if (text === '') throw new ModelRefusalError('BAD_INPUT');
  const path = input
    .trim()
    .replace(/^\/|\/$/g, '')
    .split('/');
  const isNamed = (folder: ModelFolder) =>
    input.includes('/') && isDeepStrictEqual(namesBelowRoot(model, folder), path);
  return [...model.seenBy(user)]
    .filter((folder) => !under || (folder !== under && model.pathTo(folder)!.includes(under)))
    .map((folder) => ({ folder, rank: isNamed(folder) ? -1 : searchRank(model, user, folder, text) }))
    .filter(({ rank }) => rank < Infinity)
    .toSorted((one, other) => one.rank - other.rank || byName(one.folder, other.folder))
    .map(({ folder }) => folder);
}

function searchRank(model: TreeModel, user: ModelUser, folder: ModelFolder, text: string): number {
  const textsOf = (each: ModelFolder) => {
    const { name, title } = ownFields(model, user, each);
    return [foldText(name), foldText(title)];
  };
  const own = textsOf(folder);
  const whole = Math.min(...own.map((target) => rankOf(target, text)));
  const [end, ...before] = endAndWords(text);
  if (whole < Infinity || end === undefined) return whole;
  // The name of the root is not on a path, but the root itself can be found.
  const onPath = [...own, ...model.pathTo(folder)!.slice(1).flatMap(textsOf)];
  const isIn = (target: string, word: string) =>
    [...word].length < 3
      ? target.split(/[^\p{L}\p{N}]+/u).some((each) => each.startsWith(word))
      : target.includes(word);
  const isFound = before.every((word) => onPath.some((target) => isIn(target, word)));
  return isFound ? 4 + Math.min(...own.map((target) => rankOf(target, end))) : Infinity;
}

/**
 * Returns the shortest end of the text that begins with a word and has at least three characters, followed by
 * the words before it.
 */
function endAndWords(text: string): string[] {
  const words = text.split(/[ /]+/).filter((word) => word !== '');
  for (let count = 1; count < words.length; count++) {
    const end = words.slice(-count).join(' ');
    if (!text.replace(/\/$/, '').endsWith(end)) return [];
    if ([...end].length >= 3) return [end, ...words.slice(0, -count)];
  }
  return [];
}

function namesBelowRoot(model: TreeModel, folder: ModelFolder): string[] {
  return model
    .pathTo(folder)!
    .slice(1)
    .map(({ name }) => name);
}

function rankOf(target: string, text: string): number {
  if (target === text) return 0;
  if (target.startsWith(text)) return 1;
  if ([...text].length < 3 || !target.includes(text)) return Infinity;
  const isAtWord = Array.from({ length: target.length }).some(
    (_, at) => target.startsWith(text, at) && !/[\p{L}\p{N}]$/u.test(target.slice(0, at)),
  );
  return isAtWord ? 2 : 3;
}

export function expectedExport(model: TreeModel, user: ModelUser, top: ModelFolder, depth?: number) {
  const above = model.pathTo(top)!.length;
  return model.descendants(top, model.seenBy(user), depth).map(({ folder }) => {
    const { icon, description, properties } = ownFields(model, user, folder);
    const names = model.pathTo(folder)!.slice(above);
    return {
      path: names.map(({ name }) => name).join('/'),
      title: model.levelOf(user, folder) >= READ ? folder.title : null,
      icon,
      description,
      properties: Object.keys(properties).length > 0 ? properties : null,
    };
  });
}

export function expectedTrash(
  model: TreeModel,
  user: ModelUser,
  { id, name, title, version, deletion }: ModelFolder,
) {
  const { at, from } = deletion!;
  return {
    folderId: id,
    name,
    title: title ?? name,
    version,
    deletedAt: toDateTime(at),
    purgedAt: toDateTime(at + model.trashDays * 86_400_000),
    formerParent: model.pathTo(from) && model.isSeen(user, from) ? { id: from.id } : null,
  };
}

export const trashSelection = 'folderId name title version deletedAt purgedAt formerParent{id}';

export function toDateTime(time: number): string {
  return new Date(time).toISOString();
}
