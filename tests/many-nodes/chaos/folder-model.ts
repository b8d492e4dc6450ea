/** A writer's model of its own subtree. Models are immutable. */

export interface ModelFolder {
  readonly parentId: string;
  readonly name: string;
  /** The displayed title: the name, unless a title is set. */
  readonly title: string;
  readonly version: number;
}

/** Folders by id. A new folder has a temporary id that begins with `new` until its id is known. */
export type Model = ReadonlyMap<string, ModelFolder>;

export interface TrashedFolder {
  readonly id: string;
  readonly formerParentId: string;
  /** The folder itself and its descendants. */
  readonly folders: Model;
}

export interface State {
  readonly model: Model;
  readonly trash: readonly TrashedFolder[];
}

/** A folder as the graph returns it. */
export interface FolderItem {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly parent: { readonly id: string };
  readonly folders: { readonly totalCount: number };
}

export function withFolder(model: Model, id: string, folder: ModelFolder): Model {
  return new Map(model).set(id, folder);
}

/** Returns the model with another name, title or parent of a folder. */
export function withChange(model: Model, id: string, change: Partial<ModelFolder>): Model {
  const folder = model.get(id)!;
  const followsName = folder.title === folder.name && change.name !== undefined;
  const changedFolder = { ...folder, ...(followsName && { title: change.name }), ...change };
  return withFolder(model, id, { ...changedFolder, version: folder.version + 1 });
}

/** Returns a folder and its descendants. */
export function subtree(model: Model, id: string): Model {
  const ids = new Set([id]);
  // The loop also visits ids that are added during it.
  for (const parent of ids) for (const [each, { parentId }] of model) if (parentId === parent) ids.add(each);
  return new Map([...model].filter(([each]) => ids.has(each)));
}

export function withDeleted({ model, trash }: State, id: string): State {
  const formerParentId = model.get(id)!.parentId;
  const deletedFolders = subtree(model, id);
  const folders = withChange(deletedFolders, id, {});
  return {
    model: new Map([...model].filter(([each]) => !deletedFolders.has(each))),
    trash: [...trash, { id, formerParentId, folders }],
  };
}

export function withRestored(
  { model, trash }: State,
  { id, folders }: TrashedFolder,
  parentId: string,
): State {
  return {
    model: new Map([...model, ...withChange(folders, id, { parentId })]),
    trash: trash.filter((each) => each.id !== id),
  };
}

/**
 * Returns the model with ids for new folders if it matches the folders that were read. Otherwise returns the
 * difference.
 */
export function match(model: Model, actualFolders: readonly FolderItem[], topId: string): Model | string {
  const readById = new Map(actualFolders.map((folder) => [folder.id, folder]));
  const existingIds = [...model.keys()].filter((id) => !isNew(id));
  const missingIds = existingIds.filter((id) => !readById.has(id));
  if (missingIds.length > 0) return `missing: ${formatNames(model, missingIds)}`;
  const ids = new Map(existingIds.map((id) => [id, id])).set(topId, topId);
  // Top down: the parent of a new folder exists or is an earlier new folder.
  for (const [id, { parentId, name }] of model) {
    if (!isNew(id)) continue;
    const candidate = actualFolders.find(
      (each) => each.name === name && each.parent.id === ids.get(parentId) && !model.has(each.id),
    );
    if (!candidate) return `missing: ${name}`;
    ids.set(id, candidate.id);
  }
  const matchedFolders = new Map<string, ModelFolder>();
  for (const [id, folder] of model)
    matchedFolders.set(ids.get(id)!, { ...folder, parentId: ids.get(folder.parentId)! });
  const unknownFolders = actualFolders.filter(({ id }) => !matchedFolders.has(id));
  if (unknownFolders.length > 0) return `unexpected: ${unknownFolders.map(({ name }) => name).join()}`;
  for (const [id, expected] of matchedFolders) {
    const { name, title, version, parent, folders } = readById.get(id)!;
    const actual = { parentId: parent.id, name, title, version };
    if (JSON.stringify(actual) !== JSON.stringify({ ...emptyFolder, ...expected })) {
      return `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
    }
    const childCount = [...matchedFolders.values()].filter(({ parentId }) => parentId === id).length;
    if (folders.totalCount !== childCount) return `${name} counts ${folders.totalCount}, not ${childCount}`;
  }
  return matchedFolders;
}

/** Sets the order of the fields for the comparison as text. */
const emptyFolder: ModelFolder = { parentId: '', name: '', title: '', version: 0 };

function isNew(id: string): boolean {
  return id.startsWith('new');
}

function formatNames(model: Model, ids: readonly string[]): string {
  return ids.map((id) => model.get(id)!.name).join();
}
