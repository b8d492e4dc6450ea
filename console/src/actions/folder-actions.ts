/** The actions that change folders. */

import type { FolderRow } from '../graph/folder-change.ts';
import { flagArguments, type Action } from './action.ts';

interface Input<Fields> {
  readonly input: Fields;
}

export interface FolderTexts {
  readonly name?: string;
  readonly title?: string | null;
  readonly icon?: string | null;
  readonly description?: string | null;
  readonly properties?: Readonly<Record<string, unknown>>;
}

export const createFolder: Action<
  Input<FolderTexts & { parentId: string; name: string }>,
  { createFolder: { folder: { id: string; name: string; version: number } } }
> = {
  label: 'Create folder',
  document: /* GraphQL */ `
    mutation ($input: CreateFolderInput!) {
      createFolder(input: $input) {
        folder {
          id
          name
          version
        }
      }
    }
  `,
};

export const updateFolder: Action<
  Input<FolderTexts & { id: string; expectedVersion?: number }>,
  { updateFolder: { folder: Pick<FolderRow, 'id' | 'name' | 'title' | 'icon' | 'version'> } }
> = {
  label: 'Change folder',
  document: /* GraphQL */ `
    mutation ($input: UpdateFolderInput!) {
      updateFolder(input: $input) {
        folder {
          id
          name
          title
          icon
          version
        }
      }
    }
  `,
  cliArguments({ input }) {
    const { id, name, title, icon, description, properties, expectedVersion } = input;
    if (Object.keys(properties ?? {}).some((key) => key.includes('='))) return undefined;
    const text = (flag: string, value: string | null | undefined) =>
      value === undefined ? [] : value === null ? [`--no-${flag}`] : flagArguments(flag, value);
    return [
      'folder',
      'update',
      `id:${id}`,
      ...text('name', name),
      ...text('title', title),
      ...text('icon', icon),
      ...text('description', description),
      ...(properties
        ? [
            '--no-properties',
            ...Object.entries(properties).flatMap(([key, value]) =>
              flagArguments('property', `${key}=${JSON.stringify(value)}`),
            ),
          ]
        : []),
      ...(expectedVersion === undefined ? [] : ['--expect-version', `${expectedVersion}`]),
    ];
  },
};

interface MoveResult {
  readonly folderCount: number;
  readonly folder: { readonly id: string; readonly version: number };
  /** Null unless the viewer manages the folder and both parents. */
  readonly accessChanges: {
    readonly items: readonly { readonly user: { readonly id: string } }[];
    readonly totalCount: number;
  } | null;
}

export const moveFolder: Action<
  Input<{ id: string; parentId: string; name?: string; expectedVersion?: number; dryRun?: boolean }>,
  { moveFolder: MoveResult }
> = {
  label: 'Move folder',
  document: /* GraphQL */ `
    mutation ($input: MoveFolderInput!) {
      moveFolder(input: $input) {
        folderCount
        folder {
          id
          version
        }
        accessChanges(first: 1000) {
          items {
            user {
              id
            }
          }
          totalCount
        }
      }
    }
  `,
  // `espalier folder move` accepts a new name only as part of a path, but the call contains ids.
  cliArguments: ({ input: { id, parentId, name, expectedVersion, dryRun } }) =>
    expectedVersion === undefined && name === undefined
      ? ['folder', 'move', ...(dryRun ? ['--dry-run'] : []), `id:${id}`, `id:${parentId}`]
      : undefined,
};

export const deleteFolder: Action<
  Input<{ id: string; recursive: boolean; expectedVersion?: number }>,
  { deleteFolder: { folderId: string; folderCount: number } }
> = {
  label: 'Delete folder',
  document: /* GraphQL */ `
    mutation ($input: DeleteFolderInput!) {
      deleteFolder(input: $input) {
        folderId
        folderCount
      }
    }
  `,
  cliArguments: ({ input: { id, recursive, expectedVersion } }) =>
    expectedVersion === undefined
      ? ['folder', 'delete', ...(recursive ? ['-r'] : []), `id:${id}`]
      : undefined,
};

export const duplicateFolder: Action<
  Input<{ id: string }>,
  { duplicateFolder: { folderCount: number; folder: FolderRow } }
> = {
  label: 'Duplicate folder',
  document: /* GraphQL */ `
    mutation ($input: DuplicateFolderInput!) {
      duplicateFolder(input: $input) {
        folderCount
        folder {
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
      }
    }
  `,
};

/** Favorites are personal: only the viewer sees them, in their own lists. */
export const setFavorite: Action<Input<{ folderId: string; isFavorite: boolean }>> = {
  label: 'Change favorites',
  document: /* GraphQL */ `
    mutation ($input: SetFavoriteInput!) {
      setFavorite(input: $input) {
        folder {
          id
        }
      }
    }
  `,
};

export const restoreFolder: Action<
  Input<{ id: string; parentId?: string; name?: string }>,
  { restoreFolder: { folder: { id: string; name: string; version: number } } }
> = {
  label: 'Restore folder',
  document: /* GraphQL */ `
    mutation ($input: RestoreFolderInput!) {
      restoreFolder(input: $input) {
        folder {
          id
          name
          version
        }
      }
    }
  `,
  cliArguments: ({ input }) => [
    'folder',
    'restore',
    input.id,
    ...(input.parentId ? ['--to', `id:${input.parentId}`] : []),
    ...(input.name ? flagArguments('name', input.name) : []),
  ],
};

export const purgeFolder: Action<Input<{ id: string }>, { purgeFolder: { folderCount: number } }> = {
  label: 'Delete permanently',
  document: /* GraphQL */ `
    mutation ($input: PurgeFolderInput!) {
      purgeFolder(input: $input) {
        folderCount
      }
    }
  `,
};

export const emptyTrash: Action<
  Input<{ deletedBefore?: string }>,
  { emptyTrash: { folderCount: number } }
> = {
  label: 'Empty the trash',
  document: /* GraphQL */ `
    mutation ($input: EmptyTrashInput!) {
      emptyTrash(input: $input) {
        folderCount
      }
    }
  `,
};
