/** Checks folders before they are imported, with the rules of the server. The server checks them again. */

import {
  checkFolderName,
  checkFolderTexts,
  escapeControls,
  InvalidFolderTextError,
} from '@espalier/contract';
import type { PathToImport } from '../folder.ts';

/** A folder in a file or a problem, with its position (`where`). */
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
  /** At most the first 100 problems. */
  readonly problems: readonly FolderProblem[];
  readonly problemCount: number;
}

const maxListed = 100;
const maxDisplayedPath = 200;

export function checkFolders(rows: Iterable<FileRow>): CheckedFolders {
  const checker = new FolderChecker();
  for (const row of rows) checker.add(row);
  return checker.result();
}

/** Checks one row per call, so that a page can pause between the rows of a large file. */
export class FolderChecker {
  readonly #folders: PathToImport[] = [];
  readonly #problems: FolderProblem[] = [];
  #problemCount = 0;
  /** All paths and their parents. The value is false for a parent that the file does not contain itself. */
  readonly #paths = new Map<string, boolean>();

  result(): CheckedFolders {
    return {
      folders: this.#folders,
      folderCount: this.#paths.size,
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }

  add(row: FileRow): void {
    const message = 'problem' in row ? row.problem : this.#findProblem(row.folder);
    if ('folder' in row) this.#folders.push(row.folder);
    if (message === undefined) return;
    this.#problemCount++;
    const path = 'folder' in row ? displayPath(row.folder.path) : '';
    if (this.#problems.length < maxListed) this.#problems.push({ where: row.where, path, message });
  }

  #findProblem(folder: PathToImport): string | undefined {
    try {
      const path = this.#toPath(folder.path);
      checkFolderTexts(folder);
      if (this.#paths.get(path)) return 'It appears twice.';
      this.#addParents(path);
      this.#paths.set(path, true);
      return undefined;
    } catch (error) {
      if (error instanceof InvalidFolderTextError) return error.message;
      throw error;
    }
  }

  /** Returns the path as the server stores it, without a slash at either end. Does not check a parent again that an earlier path contained. */
  #toPath(input: string): string {
    const path = input.replace(/^\/|\/$/g, '');
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (parent && this.#paths.has(parent))
      return `${parent}/${checkFolderName(path.slice(parent.length + 1))}`;
    return path.split('/').map(checkFolderName).join('/');
  }

  /** Adds the parents of a path that are missing in `#paths`. */
  #addParents(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      if (this.#paths.has(parent)) return;
      this.#paths.set(parent, false);
    }
  }
}

function displayPath(path: string): string {
  const text = path.length > maxDisplayedPath ? `${path.slice(0, maxDisplayedPath)}…` : path;
  return escapeControls(text) || '(an empty path)';
}
