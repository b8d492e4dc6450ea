/** A folder as lists display it, access levels, and the subscription that reports changes of folders that the viewer sees. */

export type AccessLevel = 'NONE' | 'READ' | 'WRITE' | 'MANAGE';

/** The fields of a folder that a row displays. */
export interface FolderRow {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly accessLevel: AccessLevel;
  readonly version: number;
  readonly parent: { readonly id: string } | null;
  readonly folders: { readonly totalCount: number };
}

/** The fragment that reads a `FolderRow`. Append it to the documents that read rows. */
export const folderRowFields = /* GraphQL */ `
  fragment FolderRow on Folder {
    id
    name
    title
    icon
    accessLevel
    version
    parent {
      id
    }
    folders(first: 1) {
      totalCount
    }
  }
`;

export interface FolderChange {
  readonly kind: 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';
  readonly cursor: string;
  readonly folderId: string | null;
  readonly folder: FolderRow | null;
  readonly oldParent: { readonly id: string; readonly name: string } | null;
  readonly newParent: { readonly id: string; readonly name: string } | null;
  readonly folderCount: number | null;
  /** The time of the change. Null if only the viewer's access has changed, and for RESYNC. */
  readonly at: string | null;
  readonly by: { readonly id: string; readonly username: string } | null;
}

/** Returns whether only the viewer's access has changed, not the folder. Do not call it for RESYNC, which has no time either. */
export function isAccessChange({ at }: Pick<FolderChange, 'at'>): boolean {
  return at === null;
}

export const changesDocument =
  /* GraphQL */ `
    subscription ConsoleChanges($after: String) {
      folderChanges(after: $after) {
        kind
        cursor
        folderId
        folder {
          ...FolderRow
        }
        oldParent {
          id
          name
        }
        newParent {
          id
          name
        }
        folderCount
        at
        by {
          id
          username
        }
      }
    }
  ` + folderRowFields;
