/**
 * A fresh clone of this repository for a reader of the documentation: the files that git knows or would take, as they are
 * now. Nothing else of this folder is there, unless it is said to be installed already.
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
  /** As after `npm install` and a first build of the console, which take half a minute: by links to what is here. */
  readonly isInstalled: boolean;
}

export function freshClone(folder: string, { isInstalled }: CloneOptions): void {
  // Somebody else may own the folder, as in a container: git would refuse to look at it.
  const listing = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', listing, { cwd: root, encoding: 'utf8' });
  for (const path of listed.split('\0')) {
    // What was deleted and not committed yet, git still lists.
    if (!path || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  if (!isInstalled) return;
  linkPackages('node_modules', folder);
  // Later than its sources, or it would be built.
  if (existsSync(join(root, 'console/dist'))) {
    cpSync(join(root, 'console/dist'), join(folder, 'console/dist'), { recursive: true });
  }
}

/** Links of npm stay as they are, so that the workspaces are those of the clone; all else leads to what is here. */
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
