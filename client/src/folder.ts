/** The folder types of the client, and the mapping from GraphQL results to them. */

/** Your access to a folder. Each level includes the levels before it. */
export type AccessLevel = 'NONE' | 'READ' | 'WRITE' | 'MANAGE';

/** A user with access to a folder. */
export interface EffectiveAccess {
  readonly user: { readonly id: string; readonly username: string };
  readonly level: Exclude<AccessLevel, 'NONE'>;
  /** The grant that decides the level. Null for administrators. */
  readonly grant: {
    readonly level: AccessLevel;
    readonly folderId: string;
    /** The group that has the grant. Null if the user has it directly. */
    readonly group: { readonly id: string; readonly name: string } | null;
  } | null;
}

/** A folder in a list or in a watched tree. */
export interface Folder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly description: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Null for the root. */
  readonly parentId: string | null;
  /** Your access to this folder. */
  readonly accessLevel: AccessLevel;
  /** Increases with every change of the folder. Pass it as `expectedVersion` to detect concurrent changes. */
  readonly version: number;
  /** ISO 8601 in UTC, for example `2026-01-31T12:00:00.000Z`. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A folder with its path and depth. */
export interface FolderDetails extends Folder {
  /** The path from the root, for example `/Places/Harbour Campus`. */
  readonly path: string;
  /** Number of levels below the root. */
  readonly depth: number;
}

/** The optional texts and properties of a folder. */
export interface FolderTexts {
  /** The name for display, of at most 255 characters. Without it, the title is the name. */
  readonly title?: string | null | undefined;
  /** A text of at most 255 characters, for example an emoji or a URL. */
  readonly icon?: string | null | undefined;
  /** A text of at most 10,000 characters. */
  readonly description?: string | null | undefined;
  /** A JSON object of at most 16 KiB, for other data of your program. */
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A folder to create. */
export interface NewFolder extends FolderTexts {
  /** 1 to 255 characters without slashes and control characters. Unique among the subfolders of the parent. */
  readonly name: string;
  /** The id of the parent. Default: the root. */
  readonly parentId?: string | undefined;
}

/** The fields to change. A missing field does not change. Null removes a text or all properties. */
export interface FolderChanges extends FolderTexts {
  readonly name?: string | undefined;
  /** Rejects with CONFLICT if the folder has another version. */
  readonly expectedVersion?: number | undefined;
}

/** A folder below another one. */
export interface Descendant extends Folder {
  /** Number of levels below the requested folder. A subfolder has depth 1. */
  readonly depth: number;
}

/** A deleted folder that you can restore. */
export interface TrashedFolder {
  /** The id to pass to `restore`. */
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly deletedAt: string;
  /** When the server purges the folder. You can restore it until then. */
  readonly purgedAt: string;
  /** You need WRITE to restore the folder, and MANAGE to purge it. */
  readonly accessLevel: AccessLevel;
  /** The id of the former parent. Null if the parent was deleted or you cannot see it. */
  readonly formerParentId: string | null;
}

/** A folder to import, with its subfolders. */
export interface FolderToImport extends FolderTexts {
  readonly name: string;
  readonly folders?: readonly FolderToImport[] | undefined;
}

/** A folder to import by its path below another folder, for example `Places/Floor 2`. `export` returns folders in this form. */
export interface PathToImport extends FolderTexts {
  readonly path: string;
}

/** The fields of a `Folder` in every query. They do not include `path`, because the server has to compute each path. */
export const folderFields =
  'id name title icon description properties parent{id}accessLevel version createdAt updatedAt';

/** The fields of `FolderDetails`. */
export const detailFields = `${folderFields} path depth`;

/** A folder in a GraphQL result. */
export type FolderResult<SomeFolder extends { readonly parentId: string | null }> = Omit<
  SomeFolder,
  'parentId'
> & {
  readonly parent: { readonly id: string } | null;
};

export function toFolder<SomeFolder extends Folder = Folder>({
  parent,
  ...folder
}: FolderResult<SomeFolder>): SomeFolder {
  return { ...folder, parentId: parent && parent.id } as unknown as SomeFolder;
}
