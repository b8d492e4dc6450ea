/** What a writer knows of its own part of the tree: values that are never changed, only replaced. */

export interface ModelFolder {
  readonly parentId: string;
  readonly name: string;
  /** As it is shown: the name, unless a title was given. */
  readonly title: string;
  readonly version: number;
}

/** By id. What has no id yet has one that begins with `new`. */
export type Model = ReadonlyMap<string, ModelFolder>;

export interface Trashed {
  readonly id: string;
  readonly formerParentId: string;
  /** The folder itself and all that was inside. */
  readonly folders: Model;
}

export interface State {
  readonly model: Model;
  readonly trash: readonly Trashed[];
}

/** As the graph shows it. */
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

/** With another name, title or parent. */
export function withChange(model: Model, id: string, change: Partial<ModelFolder>): Model {
  const folder = model.get(id)!;
  const isNamedByTitle = folder.title === folder.name && change.name !== undefined;
  const changed = { ...folder, ...(isNamedByTitle && { title: change.name }), ...change };
  return withFolder(model, id, { ...changed, version: folder.version + 1 });
}

/** A folder and all that is inside. */
export function subtree(model: Model, id: string): Model {
  const ids = new Set([id]);
  // What is added while the set is walked through is walked through, too.
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

export function withRestored({ model, trash }: State, { id, folders }: Trashed, parentId: string): State {
  return {
    model: new Map([...model, ...withChange(folders, id, { parentId })]),
    trash: trash.filter((each) => each.id !== id),
  };
}

/** The model with ids for what is new, if it is what was read; what differs otherwise. */
export function match(model: Model, read: readonly ReadFolder[], topId: string): Model | string {
  const readById = new Map(read.map((folder) => [folder.id, folder]));
  const known = [...model.keys()].filter((id) => !isNew(id));
  const missing = known.filter((id) => !readById.has(id));
  if (missing.length > 0) return `${named(model, missing)} not there`;
  const ids = new Map(known.map((id) => [id, id])).set(topId, topId);
  // From the top down: what is new is in something that is known, or newer.
  for (const [id, { parentId, name }] of model) {
    if (!isNew(id)) continue;
    const found = read.find(
      (each) => each.name === name && each.parent.id === ids.get(parentId) && !model.has(each.id),
    );
    if (!found) return `${name} not there`;
    ids.set(id, found.id);
  }
  const matched = new Map<string, ModelFolder>();
  for (const [id, folder] of model)
    matched.set(ids.get(id)!, { ...folder, parentId: ids.get(folder.parentId)! });
  const unknown = read.filter(({ id }) => !matched.has(id));
  if (unknown.length > 0) return `${unknown.map(({ name }) => name).join()} there`;
  for (const [id, expected] of matched) {
    const { name, title, version, parent, folders } = readById.get(id)!;
    const shown = { parentId: parent.id, name, title, version };
    if (JSON.stringify(shown) !== JSON.stringify({ ...emptyFolder, ...expected })) {
      return `${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`;
    }
    const inside = [...matched.values()].filter(({ parentId }) => parentId === id).length;
    if (folders.totalCount !== inside) return `${name} counts ${folders.totalCount}, not ${inside}`;
  }
  return matched;
}

/** The order of the fields, to be compared as text. */
const emptyFolder: ModelFolder = { parentId: '', name: '', title: '', version: 0 };

function isNew(id: string): boolean {
  return id.startsWith('new');
}

function named(model: Model, ids: readonly string[]): string {
  return ids.map((id) => model.get(id)!.name).join();
}
