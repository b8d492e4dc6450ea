/** Computes from the model what the server must show to a user. */

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

export interface ExpectedFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly accessLevel: string;
}

export function expectFolder(model: TreeModel, user: ModelUser, folder: ModelFolder): ExpectedFolder {
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

/** Returns a folder in the tree if the user sees it. */
export function findSeen(model: TreeModel, user: ModelUser, id: string): ModelFolder | undefined {
  const folder = model.find(id);
  return folder && model.isSeen(user, folder) ? folder : undefined;
}

export const descendantsSelection = `${folderFields} descendants{totalCount items{${folderFields}}}`;

export function expectWithDescendants(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const inside = model
    .descendants(folder, model.seenBy(user))
    .map((each) => expectFolder(model, user, each.folder));
  return { ...expectFolder(model, user, folder), descendants: { totalCount: inside.length, items: inside } };
}

export const childrenSelection = `${folderFields} ancestors{id} folders{totalCount items{${folderFields} folders{items{name}}}}`;

export function expectWithChildren(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const seen = model.seenBy(user);
  const items = childrenAmong(folder, seen).map((child) => ({
    ...expectFolder(model, user, child),
    folders: { items: childrenAmong(child, seen).map(({ name }) => ({ name })) },
  }));
  return {
    ...expectFolder(model, user, folder),
    ancestors: model
      .pathTo(folder)!
      .slice(0, -1)
      .map(({ id }) => ({ id })),
    folders: { totalCount: items.length, items },
  };
}

/** The response to the query of the contract. */
export function expectNames(model: TreeModel, user: ModelUser) {
  const edges = childrenAmong(model.root, model.seenBy(user)).map(({ name }) => ({ node: { name } }));
  return { folder: { name: model.root.name, folders: { edges } } };
}

export function expectSearch(model: TreeModel, user: ModelUser, text: string): ExpectedFolder[] {
  return searchModel(model, user, text, undefined).map((folder) => expectFolder(model, user, folder));
}

export function expectExport(model: TreeModel, user: ModelUser, folder: ModelFolder) {
  const above = model.pathTo(folder)!.length;
  return model.descendants(folder, model.seenBy(user)).map((each) => ({
    path: model
      .pathTo(each.folder)!
      .slice(above)
      .map(({ name }) => name)
      .join('/'),
    description: expectFolder(model, user, each.folder).description,
  }));
}

/** Sorted by name, because two folders may be deleted in the same millisecond. */
export function expectTrash(model: TreeModel, user: ModelUser): { readonly name: string }[] {
  return listTrash(model, user)
    .map(({ name }) => ({ name }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
