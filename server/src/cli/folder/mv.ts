/** `espalier folder mv`: moves and renames a folder, like mv. */

import { EspalierError, type Client, type FolderDetails } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { ExitError, exitCodes } from '../failures.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { folderWord } from '../api/resolve-names.ts';
import { childPath, findFolder, readFolder, noSuchFolder, splitPath } from './folder-path.ts';
import { previewMove, formatPreview, type Move } from './preview-move.ts';

export const mv = command({
  words: [
    { ...folderWord, name: 'from' },
    { name: 'to', about: 'An existing folder to move it into, or the new path' },
  ],
  options: { dryRun: { short: 'n', about: 'Show the effects without moving the folder' }, json },
  settings: connectionSettings,
  details: `Moves the folder with its contents. If <to> ends with a slash, it must be an existing folder.
Moving and renaming at once takes two steps. If the second step fails, the first one is undone.`,
  async run({ words: [from = '', to = ''], options, flags }) {
    await withConnection({ flags }, async ({ client }) => {
      const move = await plan(client, from, to);
      if (options.dryRun) {
        const preview = await previewMove(client, move);
        await (options.json ? printJson(preview) : print(formatPreview(move, preview)));
        return;
      }
      const moved = await carryOut(client, move);
      if (options.json) await printJson(moved);
      else if (moved === move.folder) await print(`${escapeControls(moved.path)} is already there.`);
      else await print(`Moved ${escapeControls(move.folder.path)} to ${escapeControls(moved.path)}.`);
    });
  },
});

async function plan(client: Client, from: string, to: string): Promise<Move> {
  const folder = await findFolder(client, from);
  if (folder.parentId === null) throw new EspalierError('BAD_INPUT', 'The root cannot be moved.');
  const target = await readFolder(client, to);
  if (target && target.id !== folder.id) {
    const isThere = target.id === folder.parentId;
    const toPath = childPath(target.path, folder.name);
    return { folder, toPath, ...(!isThere && { parent: target }) };
  }
  if (!target && /.\/$/.test(to)) throw noSuchFolder(to);
  const { parentPath, name } = splitPath(target ? target.path : to);
  const parent = await findFolder(client, parentPath);
  return {
    folder,
    toPath: childPath(parent.path, name),
    ...(name !== folder.name && { name }),
    ...(parent.id !== folder.parentId && { parent }),
  };
}

async function carryOut(client: Client, move: Move): Promise<FolderDetails> {
  const { folder, name, parent } = move;
  const { id, version } = folder;
  if (name === undefined) {
    return parent ? client.folders.move(id, parent.id, { expectedVersion: version }) : folder;
  }
  if (parent === undefined) return client.folders.update(id, { name, expectedVersion: version });

  const rename = (to: string) => (expectedVersion: number) =>
    client.folders.update(id, { name: to, expectedVersion });
  const moveTo = (to: string) => (expectedVersion: number) =>
    client.folders.move(id, to, { expectedVersion });
  const renaming = { run: rename(name), undo: rename(folder.name) };
  const moving = { run: moveTo(parent.id), undo: moveTo(folder.parentId!) };
  // Between the steps it has the new name in the old parent, or the old name in the new parent. That name must be free.
  if (!(await isTaken(client, folder, { name }))) return inTwoSteps(renaming, moving, version);
  if (!(await isTaken(client, folder, { parent }))) return inTwoSteps(moving, renaming, version);
  throw new EspalierError(
    'CONFLICT',
    `The current parent contains another ${name}, and the new parent contains another ${folder.name}. Rename the folder to a third name first.`,
  );
}

async function isTaken(
  client: Client,
  folder: FolderDetails,
  { name = folder.name, parent }: { name?: string; parent?: FolderDetails },
): Promise<boolean> {
  const parentPath = parent?.path ?? splitPath(folder.path).parentPath;
  return (await client.folders.byPath(childPath(parentPath, name))) !== undefined;
}

interface Step {
  readonly run: (expectedVersion: number) => Promise<FolderDetails>;
  readonly undo: (expectedVersion: number) => Promise<FolderDetails>;
}

async function inTwoSteps(first: Step, second: Step, version: number): Promise<FolderDetails> {
  const between = await first.run(version);
  try {
    return await second.run(between.version);
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error;
    try {
      await first.undo(between.version);
    } catch {
      throw new ExitError(
        exitCodes.failed.code,
        `${escapeControls(error.message)} The folder is now at ${escapeControls(between.path)} and could not be moved back.`,
      );
    }
    throw error;
  }
}
