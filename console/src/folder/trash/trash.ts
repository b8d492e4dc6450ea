/** Deleted folders, and putting them back: they leave the list at once. */

import { deleteFolder, restoreFolder } from '../../actions/folder-actions.ts';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { perform } from '../../actions/perform.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import { usePages, type Page, type Pages } from '../../graph/use-pages.ts';
import type { PickedFolder } from '../../tree/search/folder-picker.tsx';

export interface TrashedFolder {
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly deletedAt: string;
  readonly purgedAt: string;
  /** Null if it is not there any more. */
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

const about: GraphQueryKey = ['trash'];

/** How many there are in all is not told. */
export function useTrash(): Pages<TrashedFolder> {
  return usePages<{ trash: Omit<Page<TrashedFolder>, 'totalCount'> }, TrashedFolder>(
    about,
    trashDocument,
    {},
    ({ trash }) => ({ ...trash, totalCount: trash.items.length }),
  );
}

export interface RestoreChoice {
  /** Where it was, unless told. */
  readonly parent?: PickedFolder;
  /** Another name than its own. */
  readonly name?: string;
}

export function restoreCall({ folderId: id }: TrashedFolder, { parent, name }: RestoreChoice) {
  const input = { id, ...(parent && { parentId: parent.id }), ...(name !== undefined && { name }) };
  return { action: restoreFolder, variables: { input } };
}

/** Rejects with the refusal: the place is gone, or the name is not free there. */
export async function restore(folder: TrashedFolder, choice: RestoreChoice): Promise<void> {
  const parent = choice.parent ?? folder.formerParent;
  const staleQueries: readonly GraphQueryKey[] = [about, ...(parent ? [['folder', parent.id] as const] : [])];
  const name = choice.name ?? folder.name;
  await perform({
    ...restoreCall(folder, choice),
    doneText: `Restored “${name}”${parent ? ` to “${parent.name}”` : ''}`,
    staleQueries,
    optimisticUpdate: () =>
      updateItemsOptimistically<TrashedFolder>(about, (one) =>
        one.folderId === folder.folderId ? null : one,
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
