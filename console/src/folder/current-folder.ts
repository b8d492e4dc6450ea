/** Reads the current folder, and checks access levels. */

import type { AccessLevel } from '../graph/live.tsx';
import { useGraph } from '../graph/use-graph.ts';
import { currentView } from '../session/view-as.ts';

export type Properties = Readonly<Record<string, unknown>>;

export interface FolderLink {
  readonly id: string;
  readonly name: string;
  readonly title: string;
}

export interface CurrentFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly description: string | null;
  readonly properties: Properties;
  readonly path: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly accessLevel: AccessLevel;
  readonly parent: { readonly id: string; readonly accessLevel: AccessLevel } | null;
  readonly ancestors: readonly FolderLink[];
  readonly folders: { readonly totalCount: number };
}

const rootDocument = /* GraphQL */ `
  query RootId {
    folder {
      id
    }
  }
`;

const folderDocument = /* GraphQL */ `
  query OpenFolder($id: ID!) {
    folder(id: $id) {
      id
      name
      title
      icon
      description
      properties
      path
      version
      createdAt
      updatedAt
      accessLevel
      parent {
        id
        accessLevel
      }
      ancestors {
        id
        name
        title
      }
      folders(first: 1) {
        totalCount
      }
    }
  }
`;

/** The root never changes, so its id is never stale. */
export function useRootId() {
  return useGraph<{ folder: { id: string } }>(['root'], rootDocument, {}, { staleTime: Infinity });
}

export function useCurrentFolder(id: string) {
  return useGraph<{ folder: CurrentFolder | null }>(['folder', id, 'page'], folderDocument, { id });
}

const rank: Readonly<Record<AccessLevel, number>> = { NONE: 0, READ: 1, WRITE: 2, MANAGE: 3 };

/** In a view as another user, the viewer never has WRITE, because a view is read only. */
export function hasLevel(level: AccessLevel, needed: AccessLevel): boolean {
  return rank[level] >= rank[needed] && !(currentView && needed === 'WRITE');
}
