/** Reads a directory of this machine as folders. Does not follow symbolic links, and fails if a directory cannot be read. */

import { checkFolders, type CheckedFolders } from '@espalier/client/files';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { StartError, describeFileError } from '../../../config/start-error.ts';
import { escapeControls, formatNumber } from '../../terminal/output.ts';

/** The folders to import. */
export interface Source extends CheckedFolders {
  /** A description of the skipped entries. */
  readonly skipped: readonly string[];
}

export interface DirectoryOptions {
  /** Also create a folder for each file. */
  readonly withFiles: boolean;
  /** Include names that start with a dot. */
  readonly withHidden: boolean;
  readonly onRead: (count: number) => void;
  readonly signal: AbortSignal;
}

const separator = Buffer.from('/');
const dot = '.'.charCodeAt(0);

/** How many directories are read at the same time. Reading mostly waits for the disk. */
const maxConcurrentReads = 16;

interface Directory {
  /** The path as bytes, because a name may be invalid UTF-8. */
  readonly directory: Buffer;
  /** The prefix of the paths inside this directory. */
  readonly below: string;
}

/** Reads the contents of the directory, without the directory itself. */
export async function readDirectory(top: string, options: DirectoryOptions): Promise<Source> {
  const paths: string[] = [];
  const skipped = { links: 0, others: 0 };
  const waiting: Directory[] = [{ directory: Buffer.from(top), below: '' }];
  while (waiting.length > 0) {
    options.signal.throwIfAborted();
    const some = waiting.splice(-maxConcurrentReads);
    const found = await Promise.all(some.map(({ directory }) => list(directory)));
    for (const [index, { directory, below }] of some.entries()) {
      for (const each of found[index]!) {
        if (each.name[0] === dot && !options.withHidden) continue;
        if (each.isSymbolicLink()) skipped.links++;
        else if (each.isDirectory() || (each.isFile() && options.withFiles)) {
          const path = below + nameOf(each.name, directory);
          paths.push(path);
          if (each.isDirectory()) {
            waiting.push({ directory: Buffer.concat([directory, separator, each.name]), below: `${path}/` });
          }
        } else if (!each.isFile()) skipped.others++;
      }
    }
    options.onRead(paths.length);
  }
  const counts = [
    { count: skipped.links, what: skipped.links === 1 ? 'symbolic link' : 'symbolic links' },
    { count: skipped.others, what: skipped.others === 1 ? 'special file' : 'special files' },
  ];
  return {
    ...checkFolders(paths.map((path) => ({ where: '', folder: { path } }))),
    skipped: counts
      .filter((each) => each.count > 0)
      .map((each) => `${formatNumber(each.count)} ${each.what}`),
  };
}

async function list(directory: Buffer): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  } catch (cause) {
    throw new StartError(
      `Cannot read ${escapeControls(directory.toString())}: ${describeFileError(cause)}. Nothing was imported.`,
      { cause },
    );
  }
}

function nameOf(bytes: Buffer, directory: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new StartError(
      `A name in ${escapeControls(directory.toString())} is not valid UTF-8: ${escapeControls(JSON.stringify(bytes.toString('latin1')))}. Nothing was imported.`,
      { cause },
    );
  }
}
