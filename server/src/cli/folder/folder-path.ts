/** How folders are named on the command line: by a path, `/Places/Floor 2`, or by an id, `id:…`. */

import { EspalierError, type Client, type FolderDetails } from '@espalier/client';
import { UsageError } from '../../config/start-error.ts';
import { idIn } from '../resolve-names.ts';
import { escapeControls } from '../escape-text.ts';

/** The names from below the root; a slash more or less makes no difference. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter(Boolean);
  if (names.some((name) => /^\.\.?$/.test(name))) {
    throw new UsageError(
      'Paths begin at the root here: . and .. have no meaning. A folder of that name is told by id:<id>.',
    );
  }
  return names;
}

export function pathOf(names: readonly string[]): string {
  return `/${names.join('/')}`;
}

/** Undefined if there is none that you may see. */
export function lookUp(client: Client, given: string): Promise<FolderDetails | undefined> {
  const id = idIn(given);
  return id === undefined ? client.folders.byPath(pathOf(namesOf(given))) : client.folders.byId(id);
}

export async function findFolder(client: Client, given = '/'): Promise<FolderDetails> {
  const found = await lookUp(client, given);
  if (!found) throw noSuchFolder(given);
  return found;
}

export function noSuchFolder(given: string): EspalierError {
  const name = idIn(given) === undefined ? pathOf(namesOf(given)) : given;
  return new EspalierError('NOT_FOUND', `There is no folder ${name} that you may see.`);
}

/** Where a folder that is to be made goes, and its name. */
export function splitPath(given: string): { parentPath: string; name: string } {
  if (idIn(given) !== undefined)
    throw new UsageError(`A new folder has a path, and not ${escapeControls(given)}.`);
  const names = namesOf(given);
  const name = names.pop();
  if (name === undefined) throw new UsageError('The root is there already, and cannot be made or moved.');
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
