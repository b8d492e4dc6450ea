/** `espalier folder move`: moves and renames a folder, like mv. */

import type { Client, FolderDetails } from '@espalier/client';
import { failure } from '../failures.ts';
import { apiCommand } from '../api/connection.ts';
import { everyItem, noItems, pageInfo, type Page } from '../api/pages.ts';
import { folderWord } from '../api/resolve-names.ts';
import { escaped, formatNumber } from '../terminal/output.ts';
import { childPath, findFolder, readFolder, folderNotFoundError, splitPath } from './folder-path.ts';

/** The changes of a folder. Unchanged values are missing. */
interface Move {
  readonly folder: FolderDetails;
  readonly name?: string;
  readonly parent?: FolderDetails;
  readonly toPath: string;
}

export const move = apiCommand({
  about: 'Move or rename a folder',
  aliases: ['mv'],
  words: [
    { ...folderWord, name: 'from' },
    { name: 'to', about: 'An existing folder as the new parent, or the new path' },
  ],
  options: { dryRun: { short: 'n', about: 'Show the effects without moving the folder' } },
  details: `Moves the folder with its contents. If <to> ends with a slash, it must be an existing folder.`,
  examples: [
    'espalier folder move /Places/Harbour/A /Archive',
    'espalier folder move "/Places/Floor 2" "/Places/Second floor"',
    'espalier folder move -n /Places /Archive',
  ],
  async run({ client }, { words: [from = '', to = ''], options }) {
    const planned = await plan(client, from, to);
    if (options.dryRun) {
      const preview = await previewMove(client, planned);
      return { data: preview, text: formatPreview(planned, preview) };
    }
    const moved = await runMove(client, planned);
    const text =
      moved === planned.folder
        ? escaped`${moved.path} is already there.`
        : escaped`Moved ${planned.folder.path} to ${moved.path}.`;
    return { data: moved, text };
  },
});

async function plan(client: Client, from: string, to: string): Promise<Move> {
  const folder = await findFolder(client, from);
  if (folder.parentId === null) throw failure('BAD_INPUT', 'The root cannot be moved.');
  const target = await readFolder(client, to);
  if (target && target.id !== folder.id) {
    const isThere = target.id === folder.parentId;
    const toPath = childPath(target.path, folder.name);
    return { folder, toPath, ...(!isThere && { parent: target }) };
  }
  if (!target && /.\/$/.test(to)) throw folderNotFoundError(to);
  const { parentPath, name } = splitPath(target ? target.path : to);
  const parent = await findFolder(client, parentPath);
  return {
    folder,
    toPath: childPath(parent.path, name),
    ...(name !== folder.name && { name }),
    ...(parent.id !== folder.parentId && { parent }),
  };
}

async function runMove(client: Client, { folder, name, parent }: Move): Promise<FolderDetails> {
  const options = { name, expectedVersion: folder.version };
  if (parent) return client.folders.move(folder.id, parent.id, options);
  return name === undefined ? folder : client.folders.update(folder.id, options);
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

async function previewMove(client: Client, { folder, name, parent, toPath }: Move): Promise<MovePreview> {
  const parentId = parent?.id ?? folder.parentId;
  const input = { id: folder.id, parentId, name, dryRun: true };
  let folderCount = 0;
  let isVisible = true;
  const changes = await everyItem<AccessChange>(async (slice) => {
    const { moveFolder } = await client.mutate<Answer>(mutation, { input, ...slice });
    ({ folderCount } = moveFolder);
    isVisible &&= moveFolder.accessChanges !== null;
    return moveFolder.accessChanges ?? noItems;
  });
  return { from: folder.path, to: toPath, folderCount, accessChanges: isVisible ? changes : null };
}

function formatPreview(
  { folder, parent }: Move,
  { from, to, folderCount, accessChanges }: MovePreview,
): string {
  if (from === to) return escaped`${folder.path} is already there.`;
  const folders = folderCount === 1 ? '' : ` (${formatNumber(folderCount)} folders)`;
  const lines = (accessChanges ?? []).map(
    ({ user, before, after }) => escaped`  ${user.username}: ${before} before, ${after} after`,
  );
  const move = escaped`Would move ${from}${folders} to ${to}.`;
  return [`${move}${parent ? accessText(accessChanges) : ''}`, ...lines].join('\n');
}

function accessText(changes: MovePreview['accessChanges']): string {
  if (changes === null) return ' You do not have permission to see whose access would change.';
  return changes.length === 0
    ? ' The access of users would not change.'
    : `\nThe access of ${changes.length === 1 ? 'one user' : `${changes.length} users`} would change:`;
}
