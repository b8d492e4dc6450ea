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
export interface ReadFolder {
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
  const changed = { ...folder, ...(followsName && { title: change.name }), ...change };
  return withFolder(model, id, { ...changed, version: folder.version + 1 });
}

/** Returns a folder and its descendants. */
export function subtree(model: Model, id: string): Model {
  const ids = new Set([id]);
  // The loop also visits ids that are added during it.
  for (const above of ids) for (const [each, { parentId }] of model) if (parentId === above) ids.add(each);
  return new Map([...model].filter(([each]) => ids.has(each)));
}

export function withDeleted({ model, trash }: State, id: string): State {
  const formerParentId = model.get(id)!.parentId;
  const gone = subtree(model, id);
  const folders = withChange(gone, id, {});
  return {
    model: new Map([...model].filter(([each]) => !gone.has(each))),
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
export function match(model: Model, read: readonly ReadFolder[], topId: string): Model | string {
  const readById = new Map(read.map((folder) => [folder.id, folder]));
  const existingIds = [...model.keys()].filter((id) => !isNew(id));
  const missing = existingIds.filter((id) => !readById.has(id));
  if (missing.length > 0) return `missing: ${formatNames(model, missing)}`;
  const ids = new Map(existingIds.map((id) => [id, id])).set(topId, topId);
  // Top down: the parent of a new folder exists or is an earlier new folder.
  for (const [id, { parentId, name }] of model) {
    if (!isNew(id)) continue;
    const candidate = read.find(
      (each) => each.name === name && each.parent.id === ids.get(parentId) && !model.has(each.id),
    );
    if (!candidate) return `missing: ${name}`;
    ids.set(id, candidate.id);
  }
  const matched = new Map<string, ModelFolder>();
  for (const [id, folder] of model)
    matched.set(ids.get(id)!, { ...folder, parentId: ids.get(folder.parentId)! });
  const unknown = read.filter(({ id }) => !matched.has(id));
  if (unknown.length > 0) return `unexpected: ${unknown.map(({ name }) => name).join()}`;
  for (const [id, expected] of matched) {
    const { name, title, version, parent, folders } = readById.get(id)!;
    const actual = { parentId: parent.id, name, title, version };
    if (JSON.stringify(actual) !== JSON.stringify({ ...emptyFolder, ...expected })) {
      return `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
    }
    const inside = [...matched.values()].filter(({ parentId }) => parentId === id).length;
    if (folders.totalCount !== inside) return `${name} counts ${folders.totalCount}, not ${inside}`;
  }
  return matched;
}

/** Sets the order of the fields for the comparison as text. */
const emptyFolder: ModelFolder = { parentId: '', name: '', title: '', version: 0 };

function isNew(id: string): boolean {
  return id.startsWith('new');
}

function formatNames(model: Model, ids: readonly string[]): string {
  return ids.map((id) => model.get(id)!.name).join();
}
