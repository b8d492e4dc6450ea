/** The "Move to…" dialog: picks the target and previews the effect of the move. */

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { moveFolder } from '../../actions/folder-actions.ts';
import { BulkDialog } from '../../ui/dialog.tsx';
import { FolderPicker, type PickedFolder } from '../search/folder-picker.tsx';
import { moveInput, createMoveAction, type FolderRef } from './folder-operations.ts';
import type { AccessLevel } from '../../graph/folder-change.ts';
import { maxPageSize, readAllPages, type Page } from '../../graph/pages.ts';
import { describeProblem, isTransient } from '../../graph/problem.ts';
import { client } from '../../session/client.ts';
import { formatLevel } from '../../ui/access-level.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Name } from '../../ui/text.tsx';
import { useDebounced } from '../../ui/typing.ts';

interface MoveDialogProps {
  readonly folders: readonly FolderRef[];
  /** If set, the target is already chosen, and the dialog only shows the effect of the move. */
  readonly target?: PickedFolder | undefined;
  readonly onClose: () => void;
}

export function MoveDialog({ folders, target: chosenTarget, onClose }: MoveDialogProps) {
  const [first] = folders;
  const isOne = folders.length === 1;
  const oldName = isOne ? (first?.name ?? '') : '';
  const [target, setTarget] = useState<PickedFolder | null>(chosenTarget ?? null);
  const [name, setName] = useState(oldName);
  const newName = name === oldName ? undefined : name;
  const isThere = target !== null && folders.every(({ parentId }) => parentId === target.id);
  const isUnchanged = isThere && newName === undefined;
  const preview = useMovePreview(folders, isUnchanged ? null : (target?.id ?? null), newName);
  if (!first) return null;
  const title = isOne ? `Move “${first.name}”` : `Move ${folders.length} folders`;
  return (
    <BulkDialog
      title={chosenTarget ? `${title} into “${chosenTarget.name}”?` : title}
      verb={isThere && !isUnchanged ? 'Rename' : 'Move'}
      isReady={target !== null && !isUnchanged && preview.isCurrent && (preview.data?.count ?? 0) > 0}
      call={
        isOne && target
          ? {
              action: moveFolder,
              variables: { input: moveInput({ id: first.id, to: target.id, name: newName }) },
            }
          : undefined
      }
      items={isOne ? folders : folders.filter(({ parentId }) => parentId !== target?.id)}
      nameOf={({ name: text }) => text}
      // The button is disabled until there is a target.
      action={createMoveAction(target ?? { id: '', name: '' }, newName)}
      onClose={onClose}
    >
      {!chosenTarget && (
        <FolderPicker
          label="Into"
          picked={target}
          excludedIds={folders.map(({ id }) => id)}
          autoFocus
          onPick={setTarget}
        />
      )}
      {isOne && (
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          error={preview.nameProblem}
          help="You can rename the folder with the move. The name must be unique in the target folder."
          autoComplete="off"
        />
      )}
      {isUnchanged ? (
        <p className="soft">The target is the current parent.</p>
      ) : (
        <MovePreview preview={preview} />
      )}
    </BulkDialog>
  );
}

const previewDocument = /* GraphQL */ `
  mutation PreviewMove($input: MoveFolderInput!, $first: Int, $after: String) {
    moveFolder(input: $input) {
      folderCount
      accessChanges(first: $first, after: $after) {
        items {
          user {
            id
            username
          }
          before
          after
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

interface AccessChange {
  readonly user: { readonly id: string; readonly username: string };
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

interface PreviewResponse {
  readonly moveFolder: {
    readonly folderCount: number;
    readonly accessChanges: Omit<Page<AccessChange>, 'totalCount'> | null;
  };
}

interface Preview {
  readonly count: number;
  /** Null if the viewer may not see the changes. */
  readonly changes: readonly AccessChange[] | null;
  /** The folders that cannot be moved. */
  readonly problems: readonly { readonly name: string; readonly text: string }[];
}

const maxListed = 8;

/** Previews the move with a dry run. If no folder can be moved, rejects with the error of the last folder. */
export async function readMovePreview(
  folders: readonly FolderRef[],
  parentId: string,
  { name: newName, signal }: { readonly name?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<Preview> {
  let count = 0;
  const changes = new Map<string, AccessChange>();
  const problems: Preview['problems'][number][] = [];
  let isVisible = true;
  for (const [index, { id, name }] of folders.entries()) {
    const input = { ...moveInput({ id, to: parentId, name: newName }), dryRun: true };
    try {
      const all = await readAllPages(async (after) => {
        const variables = { input, first: maxPageSize, after };
        const { moveFolder } = await client.mutate<PreviewResponse>(previewDocument, variables, {
          ...(signal && { signal }),
        });
        if (after === null) count += moveFolder.folderCount;
        isVisible &&= moveFolder.accessChanges !== null;
        return moveFolder.accessChanges;
      });
      for (const change of all) {
        changes.set(`${change.user.id} ${change.before} ${change.after}`, change);
      }
    } catch (error) {
      const isLast = index === folders.length - 1;
      if (isTransient(error) || signal?.aborted || (isLast && count === 0)) throw error;
      problems.push({ name, text: describeProblem(error).text });
    }
  }
  return { count, changes: isVisible ? [...changes.values()] : null, problems };
}

function useMovePreview(folders: readonly FolderRef[], parentId: string | null, newName: string | undefined) {
  const name = useDebounced(newName);
  const { data, error, isFetching } = useQuery({
    queryKey: ['movePreview', parentId, name, ...folders.map(({ id }) => id)],
    enabled: parentId !== null && name !== '',
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => readMovePreview(folders, parentId!, { name, signal }),
  });
  const problem = error ? describeProblem(error) : undefined;
  return {
    data,
    problem: problem?.text,
    nameProblem: newName === '' ? 'A folder needs a name.' : problem?.fieldErrors['name'],
    isFetching,
    /** Whether the preview belongs to the typed name. */
    isCurrent: name === newName,
  };
}

function MovePreview({ preview }: { preview: ReturnType<typeof useMovePreview> }) {
  const { data, problem, nameProblem, isFetching } = preview;
  if (isFetching && !data) return <p className="soft">Checking what this move affects…</p>;
  if (problem !== undefined) {
    // The name field displays its own problem, but does not announce it to screen readers.
    return (
      <p className={nameProblem === undefined ? 'problem' : 'visually-hidden'} role="alert">
        <Name>{problem}</Name>
      </p>
    );
  }
  if (!data) return null;
  const { count, changes, problems } = data;
  return (
    <div className="move-preview" role="status">
      {problems.length > 0 && (
        <ul className="bulk-failures" aria-label="Cannot be moved">
          {problems.map(({ name, text }, index) => (
            <li key={index}>
              <strong>
                <Name>{name}</Name>
              </strong>
              : {text}
            </li>
          ))}
        </ul>
      )}
      <p>
        {count === 1
          ? 'Moves one folder.'
          : `Moves ${count.toLocaleString('en')} folders, including those inside.`}
      </p>
      {changes === null && (
        <p className="soft">Only users who manage both parents can see whose access changes.</p>
      )}
      {changes?.length === 0 && <p className="soft">The access of users does not change.</p>}
      {changes && changes.length > 0 && (
        <>
          <p>
            {changes.length === 1
              ? 'The access of one user changes:'
              : `The access of ${changes.length} users changes:`}
          </p>
          <ul>
            {changes.slice(0, maxListed).map(({ user, before, after }) => (
              <li key={`${user.id} ${before} ${after}`}>
                <strong>
                  <Name>{user.username}</Name>
                </strong>{' '}
                {formatLevel(before)} → {formatLevel(after)}
              </li>
            ))}
            {changes.length > maxListed && <li className="soft">and {changes.length - maxListed} more</li>}
          </ul>
        </>
      )}
    </div>
  );
}
