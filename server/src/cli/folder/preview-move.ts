/** Previews a move: the number of folders, and the users who gain or lose access. */

import type { Client, FolderDetails } from '@espalier/client';
import { everyItem, pageInfo, type Page } from '../api/pages.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { count } from '../terminal/progress.ts';

/** The changes of a folder. Unchanged values are missing. */
export interface Move {
  readonly folder: FolderDetails;
  readonly name?: string;
  readonly parent?: FolderDetails;
  readonly toPath: string;
}

interface AccessChange {
  readonly user: { readonly username: string };
  readonly before: string;
  readonly after: string;
}

interface MovePreview {
  readonly from: string;
  readonly to: string;
  readonly folderCount: number;
  /** Null if the user may not see access. */
  readonly accessChanges: readonly AccessChange[] | null;
}

const mutation = `mutation($input: MoveFolderInput!, $first: Int, $after: String) {
  moveFolder(input: $input) { folderCount
    accessChanges(first: $first, after: $after) { items { user { username } before after } ${pageInfo} } } }`;

interface Answer {
  readonly moveFolder: { readonly folderCount: number; readonly accessChanges: Page<AccessChange> | null };
}

export async function previewMove(client: Client, { folder, parent, toPath }: Move): Promise<MovePreview> {
  const parentId = parent?.id ?? folder.parentId;
  const input = { id: folder.id, parentId, dryRun: true };
  let folderCount = 0;
  let isVisible = true;
  const changes = await everyItem<AccessChange>(async (slice) => {
    const { moveFolder } = await client.mutate<Answer>(mutation, { input, ...slice });
    ({ folderCount } = moveFolder);
    isVisible &&= moveFolder.accessChanges !== null;
    return moveFolder.accessChanges ?? { items: [], pageInfo: { hasNextPage: false, endCursor: null } };
  });
  return { from: folder.path, to: toPath, folderCount, accessChanges: isVisible ? changes : null };
}

export function formatPreview(
  { folder, parent }: Move,
  { from, to, folderCount, accessChanges }: MovePreview,
): string {
  if (from === to) return `${escapeControls(folder.path)} is already there.`;
  const folders = folderCount === 1 ? '' : ` (${count(folderCount)} folders)`;
  const lines = (accessChanges ?? []).map(
    ({ user, before, after }) => `  ${escapeControls(user.username)}: ${before} before, ${after} after`,
  );
  return [
    `Would move ${escapeControls(from)}${folders} to ${escapeControls(to)}.${parent ? accessText(accessChanges) : ''}`,
    ...lines,
  ].join('\n');
}

function accessText(changes: MovePreview['accessChanges']): string {
  if (changes === null) return ' You do not have permission to see whose access would change.';
  return changes.length === 0
    ? ' The access of users would not change.'
    : `\nThe access of ${changes.length === 1 ? 'one user' : `${changes.length} users`} would change:`;
}
