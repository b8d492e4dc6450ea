/** The dialog that confirms the deletion of folders and shows how many are affected. */

import { useQuery } from '@tanstack/react-query';
import { deleteFolder } from '../../actions/folder-actions.ts';
import { client } from '../../session/client.ts';
import { BulkDialog } from '../../ui/dialog.tsx';
import { Name } from '../../ui/text.tsx';
import { deleteAction, type FolderRef } from './folder-operations.ts';

const countDocument = /* GraphQL */ `
  query CountInside($id: ID!) {
    folder(id: $id) {
      descendants(first: 1) {
        totalCount
      }
    }
  }
`;

interface DeleteDialogProps {
  readonly folders: readonly FolderRef[];
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

interface CountResponse {
  readonly folder: { readonly descendants: { readonly totalCount: number } } | null;
}

/** Counts the descendants of all the folders. */
function useCountInside(folders: readonly FolderRef[]) {
  const ids = folders.map(({ id }) => id);
  return useQuery({
    queryKey: ['inside', ...ids],
    // A destructive action depends on the count, so it is never taken from the cache.
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      let count = 0;
      for (const id of ids) {
        const { folder } = await client.query<CountResponse>(countDocument, { id }, { signal });
        count += folder?.descendants.totalCount ?? 0;
      }
      return count;
    },
  });
}

export function DeleteDialog({ folders, onClose, onDeleted }: DeleteDialogProps) {
  const { data: inside, error } = useCountInside(folders);
  const [first] = folders;
  if (!first) return null;
  const isOne = folders.length === 1;
  const subject = isOne ? `“${first.name}”` : `${folders.length} folders`;
  const all = inside === undefined ? null : folders.length + inside;
  return (
    <BulkDialog
      title={`Delete ${subject}?`}
      verb={all === null || all === 1 ? 'Delete' : `Delete ${all.toLocaleString('en')} folders`}
      isDanger
      call={
        isOne ? { action: deleteFolder, variables: { input: { id: first.id, recursive: true } } } : undefined
      }
      items={folders}
      nameOf={({ name }) => name}
      action={deleteAction}
      {...(onDeleted && { onDone: onDeleted })}
      onClose={onClose}
    >
      {!isOne && (
        <p className="delete-names">
          <Name>{formatNames(folders)}</Name>
        </p>
      )}
      <p aria-live="polite">
        {error
          ? 'Cannot count the folders inside. They will all be deleted.'
          : inside === undefined
            ? 'Counting the folders inside…'
            : formatEffect(folders.length, inside)}
      </p>
      <p className="soft">Deleted folders go to the trash. You can restore them for some days.</p>
    </BulkDialog>
  );
}

function formatNames(folders: readonly FolderRef[]): string {
  const names = folders.slice(0, 8).map(({ name }) => `“${name}”`);
  const more = folders.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}

function formatEffect(count: number, inside: number): string {
  const all = (count + inside).toLocaleString('en');
  if (inside === 0)
    return count === 1
      ? 'The folder is empty. One folder will be deleted.'
      : `The folders are empty. ${all} folders will be deleted.`;
  const within = `${inside.toLocaleString('en')} ${inside === 1 ? 'folder' : 'folders'} inside`;
  return `${all} folders will be deleted: ${count === 1 ? 'this one' : `these ${count}`} and ${within}.`;
}
