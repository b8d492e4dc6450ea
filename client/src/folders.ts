/** Methods that read and change folders, for programs that do not write their own GraphQL. */

import type { CallOptions, DocumentRunner } from './calls.ts';
import { folderNotFound } from './errors.ts';
import {
  detailFields,
  folderFields,
  toFolder,
  type Descendant,
  type Folder,
  type FolderChanges,
  type FolderDetails,
  type FolderResult,
  type FolderToImport,
  type PathToImport,
  type NewFolder,
  type TrashedFolder,
} from './folder.ts';
import { createPersonalFolders, type PersonalFolders } from './personal-folders.ts';
import { pageFields, readPages, type ListOptions, type Page } from './pages.ts';

/** Options of `importTree` and `importList`. */
export interface ImportOptions extends CallOptions {
  /** The folder to import into. Default: the root. */
  readonly parentId?: string | undefined;
  /**
   * What to do with folders that already exist. `FAIL` (default) rejects with CONFLICT. `KEEP` keeps them and creates the
   * missing folders inside. `UPDATE` also sets the texts and properties that the import contains; null removes a value.
   */
  readonly onExisting?: 'FAIL' | 'KEEP' | 'UPDATE' | undefined;
  /** Changes nothing, but returns the same counts or the same error as the import. */
  readonly dryRun?: boolean | undefined;
  /** Rejects with CONFLICT if the folder to import into has another version. */
  readonly expectedVersion?: number | undefined;
}

/** The counts of an import. Their sum is the number of folders in the import. */
export interface ImportResult {
  /** New folders, including missing parents on a path. */
  readonly createdCount: number;
  /** Existing folders whose texts or properties changed. */
  readonly updatedCount: number;
  /** Existing folders that stayed the same. */
  readonly keptCount: number;
  /** True if nothing was changed because of `dryRun`. */
  readonly isDryRun: boolean;
}

/** Reads and changes folders. Every method refreshes the auth token when necessary, and retries temporary failures. */
export interface Folders extends PersonalFolders {
  /** Returns the root of the tree, which every user can see. */
  root(options?: CallOptions): Promise<FolderDetails>;
  /** Returns a folder, or undefined if it does not exist or you cannot see it. */
  byId(id: string, options?: CallOptions): Promise<FolderDetails | undefined>;
  /**
   * Returns the folder at a path, for example `/Places/Harbour Campus`, or undefined if it does not exist or you cannot see
   * it.
   */
  byPath(path: string, options?: CallOptions): Promise<FolderDetails | undefined>;
  /**
   * Lists the subfolders in natural order. Reads each page only when you need it.
   *
   * @example
   * for await (const { name } of client.folders.children(id)) console.log(name);
   */
  children(id: string, options?: ListOptions): AsyncIterableIterator<Folder>;
  /**
   * Lists all descendants. The descendants of each folder follow directly after it.
   *
   * @example
   * for await (const { name, depth } of client.folders.descendants(id, { depth: 2 })) {
   *   console.log('  '.repeat(depth) + name);
   * }
   */
  descendants(
    id: string,
    options?: ListOptions & { readonly depth?: number | undefined },
  ): AsyncIterableIterator<Descendant>;
  /**
   * Lists the folders that match the text, best matches first. The text can be a name, a title, an id, a path or several words.
   * Some words can match ancestors, for example in "harbour floor". `under` is the id of a folder to search in.
   *
   * @example
   * for await (const { path } of client.folders.search('harbour floor')) console.log(path);
   */
  search(
    text: string,
    options?: ListOptions & { readonly under?: string | undefined },
  ): AsyncIterableIterator<FolderDetails>;
  /** Creates a folder. Rejects with CONFLICT if a sibling has the same name. */
  create(folder: NewFolder, options?: CallOptions): Promise<FolderDetails>;
  /**
   * Changes the fields that you pass. Null removes a text or all properties.
   *
   * @example
   * await client.folders.update(id, { title: 'Third floor', expectedVersion: folder.version });
   */
  update(id: string, changes: FolderChanges, options?: CallOptions): Promise<FolderDetails>;
  /**
   * Moves a folder with its descendants, and renames it if you pass a `name`. Rejects with CYCLE if the new parent is the folder
   * itself or a descendant, and with CONFLICT if the new parent has a subfolder with the same name.
   */
  move(id: string, parentId: string, options?: MoveOptions): Promise<FolderDetails>;
  /**
   * Moves a folder to the trash and returns the number of deleted folders. Rejects with CONFLICT if it has subfolders and
   * `recursive` is not set.
   */
  delete(id: string, options?: DeleteOptions): Promise<number>;
  /**
   * Lists the deleted folders that you can restore, most recently deleted first.
   *
   * @example
   * for await (const { folderId, name } of client.folders.trash()) {
   *   if (name === 'Floor 3') await client.folders.restore(folderId);
   * }
   */
  trash(options?: ListOptions): AsyncIterableIterator<TrashedFolder>;
  /** Restores a deleted folder with everything inside. By default, it gets its former parent and its former name. */
  restore(id: string, options?: RestoreOptions): Promise<FolderDetails>;
  /**
   * Permanently deletes a folder in the trash, with everything inside. Rejects with FORBIDDEN if you do not have MANAGE on the
   * folder.
   */
  purge(id: string, options?: CallOptions): Promise<void>;
  /**
   * Permanently deletes all folders in the trash on which you have MANAGE, with everything inside. Returns the number of these
   * folders, without counting the folders inside.
   */
  emptyTrash(options?: EmptyTrashOptions): Promise<number>;
  /**
   * Copies a folder with everything inside that you can see, and returns the copy. By default, the copy is in the same parent and
   * has the name "NAME (copy)". In another parent, the copy keeps the name of the folder if no subfolder there has it.
   */
  duplicate(id: string, options?: DuplicateOptions): Promise<FolderDetails>;
  /**
   * Imports all folders or none. Use `onExisting` to merge them with existing folders.
   *
   * @example
   * const tree = [{ name: 'Harbour Campus', folders: [{ name: 'Floor 1' }, { name: 'Floor 2' }] }];
   * const { createdCount } = await client.folders.importTree(tree, { onExisting: 'KEEP' });
   */
  importTree(tree: readonly FolderToImport[], options?: ImportOptions): Promise<ImportResult>;
  /**
   * Imports folders by their paths, in any order, as `export` returns them. Creates missing parents. Imports all folders or none.
   *
   * @example
   * await client.folders.importList([{ path: 'Harbour Campus/Floor 3', title: 'Third floor' }]);
   */
  importList(list: readonly PathToImport[], options?: ImportOptions): Promise<ImportResult>;
  /** Returns all descendants of a folder, or of the root, in one response. */
  export(id?: string, options?: ExportOptions): Promise<readonly PathToImport[]>;
}

/** Options of `move`. */
export interface MoveOptions extends CallOptions {
  /** The new name. Default: the current name. */
  readonly name?: string | undefined;
  /** Rejects with CONFLICT if the folder has another version. */
  readonly expectedVersion?: number | undefined;
}

/** Options of `delete`. */
export interface DeleteOptions extends CallOptions {
  /** Also deletes everything inside. */
  readonly recursive?: boolean | undefined;
  /** Rejects with CONFLICT if the folder has another version. */
  readonly expectedVersion?: number | undefined;
}

/** Options of `restore`. */
export interface RestoreOptions extends CallOptions {
  /** The new parent. Default: the former parent. */
  readonly parentId?: string | undefined;
  /** A new name, for example if the former name is in use. Default: the former name. */
  readonly name?: string | undefined;
}

/** Options of `duplicate`. */
export interface DuplicateOptions extends CallOptions {
  /** The parent of the copy. Default: the parent of the folder. */
  readonly parentId?: string | undefined;
  /** The name of the copy. */
  readonly name?: string | undefined;
  /** Rejects with CONFLICT if the folder has another version. */
  readonly expectedVersion?: number | undefined;
}

/** Options of `emptyTrash`. */
export interface EmptyTrashOptions extends CallOptions {
  /** Purges only folders that were deleted before this time. */
  readonly deletedBefore?: Date | string | undefined;
}

/** Options of `export`. */
export interface ExportOptions extends CallOptions {
  /** Maximum number of levels. 1 exports only the subfolders. */
  readonly depth?: number | undefined;
}

/** A page of this many folders with the longest texts stays below the server's limit for a response. */
const defaultPageSize = 500;
const searchPageSize = 100;
/** An import of 100,000 folders takes minutes. */
const bulkOptions = { timeoutSeconds: 600 };

export function createFolders(client: DocumentRunner): Folders {
  return {
    ...createReads(client),
    ...createLists(client),
    ...createChanges(client),
    ...createPersonalFolders(client),
  };
}

function createReads(client: DocumentRunner): Pick<Folders, 'root' | 'byId' | 'byPath' | 'export'> {
  const find = async (query: string, variables: object, options: CallOptions | undefined) => {
    type Data = { folder: FolderResult<FolderDetails> | null };
    const { folder } = await client.query<Data, object>(query, variables, options);
    return folder ? toFolder(folder) : undefined;
  };
  return {
    root: async (options) => (await find(`{folder{${detailFields}}}`, {}, options))!,
    byId: (id, options) => find(`query($id:ID!){folder(id:$id){${detailFields}}}`, { id }, options),
    byPath: (path, options) =>
      find(`query($path:String!){folder(path:$path){${detailFields}}}`, { path }, options),
    async export(id, { depth, ...options } = {}) {
      const query =
        'query($id:ID,$depth:Int){exportFolders(id:$id,depth:$depth){path title icon description properties}}';
      type Data = { exportFolders: PathToImport[] };
      const variables = { id, depth };
      return (await client.query<Data, object>(query, variables, { ...bulkOptions, ...options }))
        .exportFolders;
    },
  };
}

function createLists(client: DocumentRunner): Pick<Folders, 'children' | 'descendants' | 'search' | 'trash'> {
  const run = <Data>(query: string, variables: object, options: CallOptions) =>
    client.query<Data, object>(query, variables, options);

  const readFolderList = <Item>(
    id: string,
    list: string,
    options: ListOptions,
    variables?: { depth?: unknown },
  ) =>
    readPages(options, defaultPageSize, async (page) => {
      const declarations = `$id:ID!,$first:Int,$after:String${variables ? ',$depth:Int' : ''}`;
      const query = `query(${declarations}){folder(id:$id){list:${list}}}`;
      type Data = { folder: { list: Page<Item> } | null };
      const { folder } = await run<Data>(query, { id, ...variables, ...page }, options);
      if (!folder) throw folderNotFound(id);
      return folder.list;
    });

  return {
    async *children(id, options = {}) {
      const list = `folders(first:$first,after:$after){items{${folderFields}}${pageFields}}`;
      for await (const folder of readFolderList<FolderResult<Folder>>(id, list, options)) {
        yield toFolder(folder);
      }
    },
    async *descendants(id, { depth, ...options } = {}) {
      const list = `descendants(first:$first,after:$after,depth:$depth){items:edges{depth node{${folderFields}}}${pageFields}}`;
      type Edge = { depth: number; node: FolderResult<Folder> };
      for await (const edge of readFolderList<Edge>(id, list, options, { depth })) {
        yield { ...toFolder(edge.node), depth: edge.depth };
      }
    },
    async *search(text, { under, ...options } = {}) {
      const query = `query($text:String!,$under:ID,$first:Int,$after:String){search(text:$text,under:$under,first:$first,after:$after){items{${detailFields}}${pageFields}}}`;
      type Data = { search: Page<FolderResult<FolderDetails>> };
      const read = async (page: object) => (await run<Data>(query, { text, under, ...page }, options)).search;
      for await (const folder of readPages(options, searchPageSize, read)) yield toFolder(folder);
    },
    async *trash(options = {}) {
      const query = `query($first:Int,$after:String){trash(first:$first,after:$after){items{folderId name title version deletedAt purgedAt accessLevel formerParent{id}}${pageFields}}}`;
      type Item = Omit<TrashedFolder, 'formerParentId'> & { formerParent: { id: string } | null };
      const read = async (page: object) => (await run<{ trash: Page<Item> }>(query, page, options)).trash;
      for await (const { formerParent, ...folder } of readPages(options, defaultPageSize, read)) {
        yield { ...folder, formerParentId: formerParent && formerParent.id };
      }
    },
  };
}

function createChanges(
  client: DocumentRunner,
): Pick<
  Folders,
  | 'create'
  | 'update'
  | 'move'
  | 'delete'
  | 'restore'
  | 'purge'
  | 'emptyTrash'
  | 'duplicate'
  | 'importTree'
  | 'importList'
> {
  const change = async <Payload>(name: string, input: object, selection: string, options?: CallOptions) => {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input!`;
    const mutation = `mutation($input:${type}){${name}(input:$input){${selection}}}`;
    return (await client.mutate<Record<string, Payload>, object>(mutation, { input }, options))[name]!;
  };
  const changeFolder = async (name: string, input: object, options?: CallOptions) => {
    const selection = `folder{${detailFields}}`;
    const { folder } = await change<{ folder: FolderResult<FolderDetails> }>(name, input, selection, options);
    return toFolder(folder);
  };
  const changeMany = async (name: string, input: object, options?: CallOptions) =>
    (await change<{ folderCount: number }>(name, input, 'folderCount', options)).folderCount;
  const importFolders = (
    folders: { tree: readonly FolderToImport[] } | { list: readonly PathToImport[] },
    { parentId, onExisting, dryRun, expectedVersion, ...options }: ImportOptions = {},
  ) => {
    const input = { parentId, onExisting, dryRun, expectedVersion, ...folders };
    const selection = 'createdCount updatedCount keptCount isDryRun';
    return change<ImportResult>('importFolders', input, selection, { ...bulkOptions, ...options });
  };

  return {
    create: (folder, options) => changeFolder('createFolder', folder, options),
    update: (id, changes, options) => changeFolder('updateFolder', { ...changes, id }, options),
    move: (id, parentId, { name, expectedVersion, ...options } = {}) =>
      changeFolder('moveFolder', { id, parentId, name, expectedVersion }, options),
    delete: (id, { recursive, expectedVersion, ...options } = {}) =>
      changeMany('deleteFolder', { id, recursive, expectedVersion }, options),
    restore: (id, { parentId, name, ...options } = {}) =>
      changeFolder('restoreFolder', { id, parentId, name }, options),
    purge: async (id, options) => void (await changeMany('purgeFolder', { id }, options)),
    emptyTrash: ({ deletedBefore, ...options } = {}) =>
      changeMany('emptyTrash', { deletedBefore }, { ...bulkOptions, ...options }),
    duplicate: (id, { parentId, name, expectedVersion, ...options } = {}) =>
      changeFolder(
        'duplicateFolder',
        { id, parentId, name, expectedVersion },
        { ...bulkOptions, ...options },
      ),
    importTree: (tree, options) => importFolders({ tree }, options),
    importList: (list, options) => importFolders({ list }, options),
  };
}
