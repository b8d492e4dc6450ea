/** A change of a folder that the viewer sees, and the subscription that reports such changes. */

import { folderRowFields, type FolderRow } from './folder-row.ts';

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

/** Returns whether only the viewer's access has changed, not the folder. Not for RESYNC, which has no time either. */
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
