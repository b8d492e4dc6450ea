/** Reads the trash, and restores and purges folders. Restored and purged folders leave the list immediately. */

import { useQuery } from '@tanstack/react-query';
import { deleteFolder, emptyTrash, purgeFolder, restoreFolder } from '../../actions/folder-actions.ts';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import type { BulkAction } from '../../actions/bulk.ts';
import type { AnyTask, Task } from '../../actions/task.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
import type { AccessLevel } from '../../graph/live.tsx';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import { client } from '../../session/client.ts';
import type { PickedFolder } from '../../tree/search/folder-picker.tsx';

export interface TrashedFolder {
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly deletedAt: string;
  readonly purgedAt: string;
  readonly accessLevel: AccessLevel;
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
        accessLevel
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

/** Fails, for example, if the parent is gone or the name is taken. */
export function restoreTask(folder: TrashedFolder, choice: RestoreChoice) {
  const parent = choice.parent ?? folder.formerParent;
  const staleQueries: readonly GraphQueryKey[] = [
    trashKey,
    ...(parent ? [['folder', parent.id] as const] : []),
  ];
  return {
    ...restoreCall(folder, choice),
    staleQueries,
    optimisticUpdate: () => removeFromList(folder),
    undoSteps: ({ restoreFolder: { folder: restored } }) => [
      {
        subject: `“${restored.name}”`,
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
  } satisfies Task<{ input: RestoreInput }, RestoreResult>;
}

type RestoreInput = Parameters<NonNullable<typeof restoreFolder.cliArguments>>[0]['input'];
type RestoreResult = NonNullable<typeof restoreFolder.result>;

export function formatRestored({ formerParent, ...folder }: TrashedFolder, choice: RestoreChoice): string {
  const parent = choice.parent ?? formerParent;
  return `Restored “${choice.name ?? folder.name}”${parent ? ` to “${parent.name}”` : ''}`;
}

export const restoreAction: BulkAction<TrashedFolder, { input: RestoreInput }, RestoreResult> = {
  taskOf: (folder) => restoreTask(folder, {}),
  doneText: (done) =>
    done.length === 1 ? formatRestored(done[0]!.item, {}) : `Restored ${formatCount(done.length)}`,
};

/** Purged folders cannot be restored, so there is no undo. */
export const purgeAction: BulkAction<TrashedFolder, { input: { id: string } }, unknown> = {
  taskOf: (folder) => ({
    action: purgeFolder,
    variables: { input: { id: folder.folderId } },
    staleQueries: [trashKey],
    optimisticUpdate: () => removeFromList(folder),
  }),
  doneText: (done) =>
    done.length === 1
      ? `Permanently deleted “${done[0]!.item.name}”`
      : `Permanently deleted ${formatCount(done.length)}`,
};

/** Does not affect folders that are deleted after `deletedBefore`. */
export function emptyTrashTask(deletedBefore: string) {
  return {
    action: emptyTrash,
    variables: { input: { deletedBefore } },
    staleQueries: [trashKey],
    doneText: ({ emptyTrash: { folderCount } }: NonNullable<typeof emptyTrash.result>) =>
      `Permanently deleted ${formatCount(folderCount)}`,
  } satisfies AnyTask;
}

const countDocument = /* GraphQL */ `
  mutation CountTrash($input: EmptyTrashInput!) {
    emptyTrash(input: $input) {
      folderCount
      insideCount
    }
  }
`;

interface CountResponse {
  readonly emptyTrash: { readonly folderCount: number; readonly insideCount: number };
}

/** Counts what `emptyTrashTask` would purge. */
export function useTrashCount(deletedBefore: string) {
  return useQuery({
    queryKey: [...trashKey, 'count', deletedBefore],
    // A destructive action depends on the count, so it is never taken from the cache.
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const variables = { input: { deletedBefore, dryRun: true } };
      return (await client.mutate<CountResponse>(countDocument, variables, { signal })).emptyTrash;
    },
  });
}

/** For example: 12 folders, with 340 folders inside. */
export function formatTrashCount({ folderCount, insideCount }: CountResponse['emptyTrash']): string {
  return `${formatCount(folderCount)}${insideCount === 0 ? '' : `, with ${formatCount(insideCount)} inside`}`;
}

function removeFromList({ folderId }: TrashedFolder): () => void {
  return updateItemsOptimistically<TrashedFolder>(trashKey, (each) =>
    each.folderId === folderId ? null : each,
  );
}

function formatCount(count: number): string {
  return count === 1 ? 'one folder' : `${count.toLocaleString('en')} folders`;
}
