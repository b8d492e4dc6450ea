/** The tree in calls: what a program does with folders, without writing a query. */

import type { CallOptions, RunsDocuments } from './calls.ts';
import { EspalierError } from './errors.ts';
import {
  folderFields,
  toFolder,
  type Answered,
  type Descendant,
  type Folder,
  type FolderChanges,
  type FolderDetails,
  type ImportedFolder,
  type ImportedPath,
  type NewFolder,
  type TrashedFolder,
} from './folder.ts';
import { pagesOf, type ListOptions, type Page } from './pages.ts';

export interface ImportOptions {
  /** Where to; the root, unless told. */
  readonly parentId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the answer is waited for; 600 unless told. */
  readonly timeoutSeconds?: number | undefined;
}

export interface Folders {
  /** The top of the tree, which everybody sees. */
  root(): Promise<FolderDetails>;
  /** Undefined if there is none that you may see. */
  byId(id: string): Promise<FolderDetails | undefined>;
  /** By its path, such as `/Places/Harbour Campus`; undefined if there is none that you may see. */
  byPath(path: string): Promise<FolderDetails | undefined>;
  /** The sub-folders in natural order, page by page as they are asked for. */
  children(id: string, options?: ListOptions): AsyncIterableIterator<Folder>;
  /** All that is inside, each folder right before what is inside it. */
  descendants(
    id: string,
    options?: ListOptions & { readonly depth?: number | undefined },
  ): AsyncIterableIterator<Descendant>;
  /** Those whose name or title holds the text, the best first. */
  search(
    text: string,
    options?: ListOptions & { readonly under?: string | undefined },
  ): AsyncIterableIterator<FolderDetails>;
  /** Refused with CONFLICT if the name is not free there. */
  create(folder: NewFolder): Promise<FolderDetails>;
  /** Changes what is given; null takes a text or the properties away. */
  update(id: string, changes: FolderChanges): Promise<FolderDetails>;
  /** With all that is inside. Refused with CYCLE if the new parent is inside it. */
  move(
    id: string,
    parentId: string,
    options?: { readonly expectedVersion?: number | undefined },
  ): Promise<FolderDetails>;
  /** Refused with CONFLICT if there are sub-folders, unless it is recursive. Answers with how many went. */
  delete(
    id: string,
    options?: { readonly recursive?: boolean | undefined; readonly expectedVersion?: number | undefined },
  ): Promise<number>;
  /** What you may restore, the latest first. */
  trash(options?: ListOptions): AsyncIterableIterator<TrashedFolder>;
  /** Where it was, unless told. */
  restore(
    id: string,
    options?: { readonly parentId?: string | undefined; readonly name?: string | undefined },
  ): Promise<FolderDetails>;
  /** Makes all of them or none; answers with how many. */
  importTree(tree: readonly ImportedFolder[], options?: ImportOptions): Promise<number>;
  /** The same by paths, in any order, as `export` gives them; folders on the way are made, too. */
  importList(list: readonly ImportedPath[], options?: ImportOptions): Promise<number>;
  /** All that is inside a folder, or inside the root, in one answer. */
  export(id?: string, options?: ExportOptions): Promise<readonly ImportedPath[]>;
}

export interface ExportOptions extends Pick<ImportOptions, 'signal' | 'timeoutSeconds'> {
  /** Only so many levels; 1 is the sub-folders. */
  readonly depth?: number | undefined;
}

const detailFields = `${folderFields} path depth`;
const pageFields = 'pageInfo{endCursor hasNextPage}';
/** Even so many folders with the longest texts are within what an answer may hold. */
const pageSize = 500;
const foundAtATime = 100;
/** An import of 100,000 folders takes its time. */
const patience = { timeoutSeconds: 600 };

export function createFolders(client: RunsDocuments): Folders {
  const ask = <Data>(query: string, variables: object = {}, options?: CallOptions) =>
    client.query<Data, object>(query, variables, options);

  const find = async (query: string, variables?: object) => {
    const { folder } = await ask<{ folder: Answered<FolderDetails> | null }>(query, variables);
    return folder ? toFolder(folder) : undefined;
  };

  const change = async <Payload>(name: string, input: object, selection: string, options?: CallOptions) => {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input!`;
    const mutation = `mutation($input:${type}){${name}(input:$input){${selection}}}`;
    return (await client.mutate<Record<string, Payload>, object>(mutation, { input }, options))[name]!;
  };
  const changeFolder = async (name: string, input: object) => {
    const selection = `folder{${detailFields}}`;
    const { folder } = await change<{ folder: Answered<FolderDetails> }>(name, input, selection);
    return toFolder(folder);
  };
  const changeMany = async (name: string, input: object, options?: CallOptions) =>
    (await change<{ folderCount: number }>(name, input, 'folderCount', options)).folderCount;

  /** A list of a folder, page by page. */
  const pagesInside = <Item>(id: string, list: string, given: ListOptions, variables?: { depth?: unknown }) =>
    pagesOf(given, pageSize, async (page) => {
      const declared = `$id:ID!,$first:Int,$after:String${variables ? ',$depth:Int' : ''}`;
      const query = `query(${declared}){folder(id:$id){list:${list}}}`;
      type Data = { folder: { list: Page<Item> } | null };
      const { folder } = await ask<Data>(query, { id, ...variables, ...page }, given);
      if (!folder) throw new EspalierError('NOT_FOUND', `There is no folder ${id}.`);
      return folder.list;
    });

  return {
    root: async () => (await find(`{folder{${detailFields}}}`))!,
    byId: (id) => find(`query($id:ID!){folder(id:$id){${detailFields}}}`, { id }),
    byPath: (path) => find(`query($path:String!){folder(path:$path){${detailFields}}}`, { path }),
    async *children(id, options = {}) {
      const list = `folders(first:$first,after:$after){items{${folderFields}}${pageFields}}`;
      for await (const folder of pagesInside<Answered<Folder>>(id, list, options)) yield toFolder(folder);
    },
    async *descendants(id, { depth, ...options } = {}) {
      const list = `descendants(first:$first,after:$after,depth:$depth){items:edges{depth node{${folderFields}}}${pageFields}}`;
      type Edge = { depth: number; node: Answered<Folder> };
      for await (const edge of pagesInside<Edge>(id, list, options, { depth })) {
        yield { ...toFolder(edge.node), depth: edge.depth };
      }
    },
    async *search(text, { under, ...options } = {}) {
      const query = `query($text:String!,$under:ID,$first:Int,$after:String){search(text:$text,under:$under,first:$first,after:$after){items{${detailFields}}${pageFields}}}`;
      type Data = { search: Page<Answered<FolderDetails>> };
      const read = async (page: object) => (await ask<Data>(query, { text, under, ...page }, options)).search;
      for await (const folder of pagesOf(options, foundAtATime, read)) yield toFolder(folder);
    },
    create: (folder) => changeFolder('createFolder', folder),
    update: (id, changes) => changeFolder('updateFolder', { ...changes, id }),
    move: (id, parentId, options) => changeFolder('moveFolder', { ...options, id, parentId }),
    delete: (id, options) => changeMany('deleteFolder', { ...options, id }),
    async *trash(options = {}) {
      const query = `query($first:Int,$after:String){trash(first:$first,after:$after){items{folderId name title version deletedAt purgedAt formerParent{id}}${pageFields}}}`;
      type Item = Omit<TrashedFolder, 'formerParentId'> & { formerParent: { id: string } | null };
      const read = async (page: object) => (await ask<{ trash: Page<Item> }>(query, page, options)).trash;
      for await (const { formerParent, ...folder } of pagesOf(options, pageSize, read)) {
        yield { ...folder, formerParentId: formerParent && formerParent.id };
      }
    },
    restore: (id, options) => changeFolder('restoreFolder', { ...options, id }),
    importTree: (tree, { parentId, ...options } = {}) =>
      changeMany('importFolders', { parentId, tree }, { ...patience, ...options }),
    importList: (list, { parentId, ...options } = {}) =>
      changeMany('importFolders', { parentId, list }, { ...patience, ...options }),
    async export(id, { depth, ...options } = {}) {
      const query =
        'query($id:ID,$depth:Int){exportFolders(id:$id,depth:$depth){path title icon description properties}}';
      type Data = { exportFolders: ImportedPath[] };
      return (await ask<Data>(query, { id, depth }, { ...patience, ...options })).exportFolders;
    },
  };
}
