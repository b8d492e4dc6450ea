/**
 * Creates a fresh clone of this repository: the files that git tracks or would add, in their current state. Nothing
 * else is copied unless `isInstalled` is set.
 */

import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface CloneOptions {
  /** Links to the installed packages and the built console, because `npm install` and a build take half a minute. */
  readonly isInstalled: boolean;
}

export function createClone(folder: string, { isInstalled }: CloneOptions): void {
  // In a container another user may own the folder, and git would refuse to read it.
  const listing = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', listing, { cwd: root, encoding: 'utf8' });
  for (const path of listed.split('\0')) {
    // git still lists files that were deleted without a commit.
    if (!path || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  if (!isInstalled) return;
  linkPackages('node_modules', folder);
  // Copied after its sources, because a build that is older than its sources is repeated.
  if (existsSync(join(root, 'console/dist'))) {
    cpSync(join(root, 'console/dist'), join(folder, 'console/dist'), { recursive: true });
  }
}

/**
 * Copies the symbolic links of npm, so that the workspaces are those of the clone. Links everything else to the
 * packages here.
 */
function linkPackages(path: string, folder: string): void {
  mkdirSync(join(folder, path));
  for (const name of readdirSync(join(root, path))) {
    const below = join(path, name);
    if (name === '.cache') continue;
    if (lstatSync(join(root, below)).isSymbolicLink()) {
      symlinkSync(readlinkSync(join(root, below)), join(folder, below));
    } else if (name === '.bin' || name === '@espalier') linkPackages(below, folder);
    else symlinkSync(join(root, below), join(folder, below));
  }
}
