/** A folder as lists display it, and access levels. */

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
