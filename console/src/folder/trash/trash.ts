/** Reads the trash and restores folders. A restored folder leaves the list at once. */

import { deleteFolder, restoreFolder } from '../../actions/folder-actions.ts';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { perform } from '../../actions/perform.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import type { PickedFolder } from '../../tree/search/folder-picker.tsx';

export interface TrashedFolder {
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly deletedAt: string;
  readonly purgedAt: string;
  /** Null if the parent no longer exists. */
  readonly formerParent: PickedFolder | null;
}

const trashDocument = /* GraphQL */ `
  query Trash($after: String) {
    trash(first: 50, after: $after) {
      pageInfo {
        hasNextPage
        endCursor
      }
      items {
        folderId
        name
        title
        deletedAt
        purgedAt
        formerParent {
          id
          name
          path
        }
      }
    }
  }
`;

const trashKey: GraphQueryKey = ['trash'];

/** The API has no total count for the trash. */
export function useTrash(): PagedQuery<TrashedFolder> {
  return usePages<{ trash: Omit<Page<TrashedFolder>, 'totalCount'> }, TrashedFolder>(
    trashKey,
    trashDocument,
    {},
    ({ trash }) => ({ ...trash, totalCount: trash.items.length }),
  );
}

export interface RestoreChoice {
  /** The new parent, if it is not the former one. */
  readonly parent?: PickedFolder;
  /** The new name, if it changes. */
  readonly name?: string;
}

export function restoreCall({ folderId: id }: TrashedFolder, { parent, name }: RestoreChoice) {
  const input = { id, ...(parent && { parentId: parent.id }), ...(name !== undefined && { name }) };
  return { action: restoreFolder, variables: { input } };
}

/** Rejects with the server's error, for example if the parent is gone or the name is taken. */
export async function restore(folder: TrashedFolder, choice: RestoreChoice): Promise<void> {
  const parent = choice.parent ?? folder.formerParent;
  const staleQueries: readonly GraphQueryKey[] = [
    trashKey,
    ...(parent ? [['folder', parent.id] as const] : []),
  ];
  const name = choice.name ?? folder.name;
  await perform({
    ...restoreCall(folder, choice),
    doneText: `Restored “${name}”${parent ? ` to “${parent.name}”` : ''}`,
    staleQueries,
    optimisticUpdate: () =>
      updateItemsOptimistically<TrashedFolder>(trashKey, (each) =>
        each.folderId === folder.folderId ? null : each,
      ),
    undoSteps: ({ restoreFolder: { folder: restored } }) => [
      {
        subject: `“${name}”`,
        task: () => {
          const expectedVersion = folderVersions.resolve(folder.folderId, restored.version);
          return {
            action: deleteFolder,
            variables: { input: { id: folder.folderId, recursive: true, expectedVersion } },
            staleQueries,
          };
        },
      },
    ],
  });
}
