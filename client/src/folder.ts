/** What a folder is to a client, and how it is asked for and told. */

export type AccessLevel = 'NONE' | 'READ' | 'WRITE' | 'MANAGE';

export interface Folder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly description: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Null for the root. */
  readonly parentId: string | null;
  readonly accessLevel: AccessLevel;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FolderDetails extends Folder {
  readonly path: string;
  /** How far below the root. */
  readonly depth: number;
}

export interface FolderTexts {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface NewFolder extends FolderTexts {
  readonly name: string;
  /** The root, unless told. */
  readonly parentId?: string | undefined;
}

export interface FolderChanges extends FolderTexts {
  readonly name?: string | undefined;
  /** Refused with CONFLICT if the folder has another version by now. */
  readonly expectedVersion?: number | undefined;
}

export interface Descendant extends Folder {
  /** How far below the folder that was asked: 1 is a sub-folder. */
  readonly depth: number;
}

export interface TrashedFolder {
  /** For `restore`. */
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly deletedAt: string;
  /** From then on it cannot be restored. */
  readonly purgedAt: string;
  /** Where it was; null if that is not there any more. */
  readonly formerParentId: string | null;
}

/** A folder with what is inside it. */
export interface ImportedFolder extends FolderTexts {
  readonly name: string;
  readonly folders?: readonly ImportedFolder[] | undefined;
}

/** A folder by its path below another: "Places/Floor 2". */
export interface ImportedPath extends FolderTexts {
  readonly path: string;
}

/** What is asked of every folder. Not where it is: a path is read for each folder anew. */
export const folderFields =
  'id name title icon description properties parent{id}accessLevel version createdAt updatedAt';

/** A folder as it is answered. */
export type Answered<Folder extends { readonly parentId: string | null }> = Omit<Folder, 'parentId'> & {
  readonly parent: { readonly id: string } | null;
};

export function toFolder<Kind extends Folder = Folder>({ parent, ...folder }: Answered<Kind>): Kind {
  return { ...folder, parentId: parent && parent.id } as unknown as Kind;
}
