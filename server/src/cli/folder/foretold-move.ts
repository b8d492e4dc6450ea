/** What a move would do: how many folders, and who gains or loses access. */

import type { Client, FolderDetails } from '@espalier/client';
import { shown } from '../shown-text.ts';
import { count } from '../progress.ts';

/** What is to become of a folder; what stays as it is, is not there. */
export interface Move {
  readonly folder: FolderDetails;
  readonly name?: string;
  readonly parent?: FolderDetails;
  readonly toPath: string;
}

interface Foretold {
  readonly from: string;
  readonly to: string;
  readonly folderCount: number;
  /** Null if you may not know. */
  readonly accessChanges: readonly { user: { username: string }; before: string; after: string }[] | null;
}

const mutation = `mutation($input: MoveFolderInput!) {
  moveFolder(input: $input) { folderCount accessChanges { user { username } before after } } }`;

export async function foretell(client: Client, { folder, parent, toPath }: Move): Promise<Foretold> {
  const parentId = parent?.id ?? folder.parentId;
  const input = { id: folder.id, parentId, dryRun: true };
  const { moveFolder } = await client.mutate<
    { moveFolder: Omit<Foretold, 'from' | 'to'> },
    { input: typeof input }
  >(mutation, { input });
  return { from: folder.path, to: toPath, ...moveFolder };
}

export function foretold(
  { folder, parent }: Move,
  { from, to, folderCount, accessChanges }: Foretold,
): string {
  if (from === to) return `${shown(folder.path)} is there already.`;
  const folders = folderCount === 1 ? '' : ` (${count(folderCount)} folders)`;
  const lines = (accessChanges ?? []).map(
    ({ user, before, after }) => `  ${shown(user.username)}: ${before} before, ${after} after`,
  );
  return [
    `Would move ${shown(from)}${folders} to ${shown(to)}.${parent ? accessText(accessChanges) : ''}`,
    ...lines,
  ].join('\n');
}

function accessText(changes: Foretold['accessChanges']): string {
  if (changes === null) return ' You may not know whose access would change.';
  return changes.length === 0
    ? " Nobody's access would change."
    : `\nThe access of ${changes.length} would change:`;
}
