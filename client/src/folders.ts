/** Methods that read and change folders, for programs that do not write their own GraphQL. */

import type { CallOptions, DocumentRunner } from './calls.ts';
import { EspalierError } from './errors.ts';
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

export interface ImportOptions extends CallOptions {
  /** The folder to import into. Default: the root. */
  readonly parentId?: string | undefined;
  /**
   * What to do with folders that exist. `FAIL` (default) rejects with CONFLICT. `KEEP` keeps them and creates the missing
   * folders inside. `UPDATE` also sets the texts and properties that the import contains; null removes one.
   */
  readonly onExisting?: 'FAIL' | 'KEEP' | 'UPDATE' | undefined;
  /** Only counts what the import would do. Rejects like the import itself. */
  readonly dryRun?: boolean | undefined;
  /** Rejects with CONFLICT if the folder to import into has another version. */
  readonly expectedVersion?: number | undefined;
}

export interface ImportResult {
  readonly createdCount: number;
  /** Existing folders whose texts or properties changed. */
  readonly updatedCount: number;
  /** Existing folders that stayed the same. */
  readonly keptCount: number;
  /** Whether nothing was changed, because of `dryRun`. */
  readonly isDryRun: boolean;
}

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
  /** Lists the subfolders in natural order. Pages are read while you iterate. */
  children(id: string, options?: ListOptions): AsyncIterableIterator<Folder>;
  /** Lists all descendants. Each folder comes directly before its own descendants. */
  descendants(
    id: string,
    options?: ListOptions & { readonly depth?: number | undefined },
  ): AsyncIterableIterator<Descendant>;
  /**
   * Lists the folders that match the text, best matches first: by name or title, by id, by path, or by several words that match the
   * folder and its ancestors, for example "harbour floor". `under` limits it to a subtree.
   */
  search(
    text: string,
    options?: ListOptions & { readonly under?: string | undefined },
  ): AsyncIterableIterator<FolderDetails>;
  /** Creates a folder. Rejects with CONFLICT if a sibling has the same name. */
  create(folder: NewFolder, options?: CallOptions): Promise<FolderDetails>;
  /** Changes the fields that you pass. Null removes a text or all properties. */
  update(id: string, changes: FolderChanges, options?: CallOptions): Promise<FolderDetails>;
  /**
   * Moves a folder with its descendants, and renames it if you pass a `name`. Rejects with CYCLE if the new parent is one of these,
   * and with CONFLICT if the new parent has a subfolder with the same name.
   */
  move(id: string, parentId: string, options?: MoveOptions): Promise<FolderDetails>;
  /**
   * Moves a folder to the trash and returns the number of deleted folders. Rejects with CONFLICT if it has subfolders and
   * `recursive` is not set.
   */
  delete(id: string, options?: DeleteOptions): Promise<number>;
  /** Lists the deleted folders that you can restore, most recently deleted first. */
  trash(options?: ListOptions): AsyncIterableIterator<TrashedFolder>;
  /** Restores a deleted folder. Default: under its former parent and name. */
  restore(id: string, options?: RestoreOptions): Promise<FolderDetails>;
  /**
   * Permanently deletes a folder in the trash, with everything inside. You cannot restore it. Rejects with FORBIDDEN if you do
   * not manage the folder.
   */
  purge(id: string, options?: CallOptions): Promise<void>;
  /**
   * Permanently deletes all folders in the trash that you manage, and returns their number, without the folders inside them. You
   * cannot restore them.
   */
  emptyTrash(options?: EmptyTrashOptions): Promise<number>;
  /**
   * Copies a folder with all folders inside it that you see, and returns the copy. Default: in the same parent, with the name
   * "NAME (copy)". In another parent, the copy keeps the name if it is free.
   */
  duplicate(id: string, options?: DuplicateOptions): Promise<FolderDetails>;
  /** Imports all folders or none. Use `onExisting` to merge them with existing folders. */
  importTree(tree: readonly FolderToImport[], options?: ImportOptions): Promise<ImportResult>;
  /** Like `importTree`, with the paths that `export` returns, in any order. Missing parent folders are created. */
  importList(list: readonly PathToImport[], options?: ImportOptions): Promise<ImportResult>;
  /** Returns all descendants of a folder, or of the root, in one response. */
  export(id?: string, options?: ExportOptions): Promise<readonly PathToImport[]>;
}

export interface MoveOptions extends CallOptions {
  /** The new name. Default: the same. */
  readonly name?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Also deletes everything inside. */
  readonly recursive?: boolean | undefined;
  readonly expectedVersion?: number | undefined;
}

export interface RestoreOptions extends CallOptions {
  readonly parentId?: string | undefined;
  readonly name?: string | undefined;
}

export interface DuplicateOptions extends CallOptions {
  readonly parentId?: string | undefined;
  readonly name?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

export interface EmptyTrashOptions extends CallOptions {
  /** Purges only folders that were deleted before this time. */
  readonly deletedBefore?: Date | string | undefined;
}

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
      const declared = `$id:ID!,$first:Int,$after:String${variables ? ',$depth:Int' : ''}`;
      const query = `query(${declared}){folder(id:$id){list:${list}}}`;
      type Data = { folder: { list: Page<Item> } | null };
      const { folder } = await run<Data>(query, { id, ...variables, ...page }, options);
      if (!folder) throw new EspalierError('NOT_FOUND', `There is no folder ${id}.`);
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
