/** Checks folders before they are imported, with the rules of the server. The server checks them again. */

import { checkFolderName, checkFolderTexts, escapeControls, InvalidFolderText } from '@espalier/contract';
import type { PathToImport } from '../folder.ts';

/** A folder at a position of a file, or the problem there. */
export type FileRow = { readonly where: string } & (
  | { readonly folder: PathToImport }
  | { readonly problem: string }
);

export interface FolderProblem {
  /** The position in the file, for example `Line 3`. Empty if the folder is not from a file. */
  readonly where: string;
  /** The path of the folder without control characters, shortened. Empty if the row has no path. */
  readonly path: string;
  readonly message: string;
}

export interface CheckedFolders {
  /** In the order of the file. */
  readonly folders: readonly PathToImport[];
  /** The number of folders on all paths, including missing parents. */
  readonly folderCount: number;
  /** The first problems. */
  readonly problems: readonly FolderProblem[];
  readonly problemCount: number;
}

const maxListed = 100;
const maxDisplayedPath = 200;

export function checkFolders(rows: Iterable<FileRow>): CheckedFolders {
  const folders: PathToImport[] = [];
  const seen = new Set<string>();
  const onPaths = new Set<string>();
  const problems: FolderProblem[] = [];
  let problemCount = 0;
  for (const row of rows) {
    const message = 'problem' in row ? row.problem : findProblem(row.folder, seen, onPaths);
    if ('folder' in row) folders.push(row.folder);
    if (message === undefined) continue;
    problemCount++;
    const path = 'folder' in row ? displayPath(row.folder.path) : '';
    if (problems.length < maxListed) problems.push({ where: row.where, path, message });
  }
  return { folders, folderCount: onPaths.size, problems, problemCount };
}

function findProblem(folder: PathToImport, seen: Set<string>, onPaths: Set<string>): string | undefined {
  try {
    const names = namesIn(folder.path).map(checkFolderName);
    checkFolderTexts(folder);
    const path = names.join('/');
    if (seen.has(path)) return 'It appears twice.';
    seen.add(path);
    // Up to the last known parent.
    for (
      let ancestor = path;
      ancestor !== '' && !onPaths.has(ancestor);
      ancestor = ancestor.slice(0, Math.max(0, ancestor.lastIndexOf('/')))
    ) {
      onPaths.add(ancestor);
    }
    return undefined;
  } catch (error) {
    if (error instanceof InvalidFolderText) return error.message;
    throw error;
  }
}

/** Ignores a slash at either end, like the server. */
function namesIn(path: string): string[] {
  return path.replace(/^\/|\/$/g, '').split('/');
}

function displayPath(path: string): string {
  const text = path.length > maxDisplayedPath ? `${path.slice(0, maxDisplayedPath)}…` : path;
  return escapeControls(text) || '(an empty path)';
}
