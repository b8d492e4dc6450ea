/** What the server must show of the model's tree to a user. */

import { search as searchModel } from '../model/expected-responses.ts';
import { listTrash } from '../model/model-changes.ts';
import {
  childrenAmong,
  levelNames,
  READ,
  type ModelFolder,
  type ModelUser,
  type TreeModel,
} from '../model/tree-model.ts';

export const folderFields = 'id name title description accessLevel';

export interface ShownFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly accessLevel: string;
}

export function showFolder(model: TreeModel, user: ModelUser, folder: ModelFolder): ShownFolder {
  const level = model.levelOf(user, folder);
  const isRead = level >= READ;
  return {
    id: folder.id,
    name: folder.name,
    title: (isRead && folder.title) || folder.name,
    description: isRead ? folder.description : null,
    accessLevel: levelNames[level],
  };
}

/** A folder on the tree that the user sees. */
export function findSeen(model: TreeModel, user: ModelUser, id: string): ModelFolder | undefined {
  const folder = model.find(id);
  return folder && model.isSeen(user, folder) ? folder : undefined;
}

export const withDescendants = `${folderFields} descendants{totalCount items{${folderFields}}}`;

export function showWithDescendants(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const inside = model
    .descendants(folder, model.seenBy(user))
    .map((each) => showFolder(model, user, each.folder));
  return { ...showFolder(model, user, folder), descendants: { totalCount: inside.length, items: inside } };
}

export const withChildren = `${folderFields} ancestors{id} folders{totalCount items{${folderFields} folders{items{name}}}}`;

export function showWithChildren(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const seen = model.seenBy(user);
  const items = childrenAmong(folder, seen).map((child) => ({
    ...showFolder(model, user, child),
    folders: { items: childrenAmong(child, seen).map(({ name }) => ({ name })) },
  }));
  return {
    ...showFolder(model, user, folder),
    ancestors: model
      .pathTo(folder)!
      .slice(0, -1)
      .map(({ id }) => ({ id })),
    folders: { totalCount: items.length, items },
  };
}

/** The answer to the contract's query. */
export function showNames(model: TreeModel, user: ModelUser) {
  const edges = childrenAmong(model.root, model.seenBy(user)).map(({ name }) => ({ node: { name } }));
  return { folder: { name: model.root.name, folders: { edges } } };
}

export function showSearch(model: TreeModel, user: ModelUser, text: string): ShownFolder[] {
  return searchModel(model, user, text, undefined).map((folder) => showFolder(model, user, folder));
}

export function showExport(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const above = model.pathTo(folder)!.length;
  return model.descendants(folder, model.seenBy(user)).map((each) => ({
    path: model
      .pathTo(each.folder)!
      .slice(above)
      .map(({ name }) => name)
      .join('/'),
    description: showFolder(model, user, each.folder).description,
  }));
}

/** By name: two folders may be deleted in one millisecond. */
export function showTrash(model: TreeModel, user: ModelUser): { readonly name: string }[] {
  return listTrash(model, user)
    .map(({ name }) => ({ name }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
