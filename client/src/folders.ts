/** The tree in calls: what a program does with folders, without writing a query. */

export interface Folder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly description: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Null for the root. */
  readonly parentId: string | null;
  readonly accessLevel: 'NONE' | 'READ' | 'WRITE' | 'MANAGE';
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FolderDetails extends Folder {
  readonly path: string;
  readonly depth: number;
}

export interface NewFolder {
  readonly name: string;
  /** The root, unless told. */
  readonly parentId?: string | undefined;
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface FolderChanges extends Partial<Omit<NewFolder, 'parentId'>> {
  /** Refused with CONFLICT if the folder has another version by now. */
  readonly expectedVersion?: number | undefined;
}

export interface ListOptions {
  /** How many are fetched at a time; 500 unless told. */
  readonly pageSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Descendant extends Folder {
  /** How far below the folder that was asked: 1 is a sub-folder. */
  readonly depth: number;
}

export interface Folders {
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
    options?: ListOptions & { readonly depth?: number },
  ): AsyncIterableIterator<Descendant>;
  search(
    text: string,
    options?: ListOptions & { readonly under?: string },
  ): AsyncIterableIterator<FolderDetails>;
  create(folder: NewFolder): Promise<FolderDetails>;
  update(id: string, changes: FolderChanges): Promise<FolderDetails>;
  move(id: string, parentId: string, options?: { readonly expectedVersion?: number }): Promise<FolderDetails>;
  /** Refused with CONFLICT if there are sub-folders, unless it is recursive. Answers with how many went. */
  delete(
    id: string,
    options?: { readonly recursive?: boolean; readonly expectedVersion?: number },
  ): Promise<number>;
  restore(
    id: string,
    options?: { readonly parentId?: string; readonly name?: string },
  ): Promise<FolderDetails>;
}
