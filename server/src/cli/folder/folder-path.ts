/** Resolves folders named on the command line: by a path, `/Places/Floor 2`, or by an id, `id:…`. */

import type { Client, FolderDetails } from '@espalier/client';
import { failure, type ExitError } from '../failures.ts';
import { UsageError } from '../../config/start-error.ts';
import { idHint, idIn, requirePath } from '../api/resolve-names.ts';
import { escapeControls } from '../terminal/output.ts';

/** Returns the names below the root. Extra slashes are ignored. */
export function namesOf(path: string): string[] {
  requirePath(path);
  const names = path.split('/').filter(Boolean);
  if (names.some((name) => /^\.\.?$/.test(name))) {
    throw new UsageError(
      'Paths start at the root, so . and .. have no meaning. For a folder with such a name, use id:<id>.',
    );
  }
  return names;
}

export function pathOf(names: readonly string[]): string {
  return `/${names.join('/')}`;
}

/** Undefined if the folder does not exist or the user may not see it. */
export function readFolder(client: Client, input: string): Promise<FolderDetails | undefined> {
  const id = idIn(input);
  return id === undefined ? client.folders.byPath(pathOf(namesOf(input))) : client.folders.byId(id);
}

export async function findFolder(client: Client, input = '/'): Promise<FolderDetails> {
  const found = await readFolder(client, input);
  if (!found) throw folderNotFoundError(input);
  return found;
}

export function folderNotFoundError(input: string): ExitError {
  const name = idIn(input) === undefined ? pathOf(namesOf(input)) : input;
  return failure(
    'NOT_FOUND',
    `There is no folder ${name}, or you do not have access to it.${idHint('folder', name)}`,
  );
}

/** Splits the path of a new folder into the path of its parent and its name. */
export function splitPath(input: string): { parentPath: string; name: string } {
  if (idIn(input) !== undefined)
    throw new UsageError(`A new folder needs a path, not ${escapeControls(input)}.`);
  const names = namesOf(input);
  const name = names.pop();
  if (name === undefined) throw new UsageError('The root cannot be created, moved or renamed.');
  return { parentPath: pathOf(names), name };
}

export function childPath(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

/** Finds the deepest existing folder of a path, and the names that are missing below it. */
export async function findNearest(
  client: Client,
  path: string,
): Promise<{ nearest: FolderDetails; missing: readonly string[] }> {
  const names = namesOf(path);
  for (let count = names.length; count > 0; count--) {
    const nearest = await client.folders.byPath(pathOf(names.slice(0, count)));
    if (nearest) return { nearest, missing: names.slice(count) };
  }
  return { nearest: await client.folders.root(), missing: names };
}
