/** A directory of this machine as folders. Symbolic links are not followed, and what cannot be read is an error. */

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { StartError } from '../../config/start-error.ts';
import { count } from '../progress.ts';
import { escapeControls } from '../escape-text.ts';
import type { Entry } from './import-call.ts';

/** The folders to import. */
export interface Source {
  readonly entries: readonly Entry[];
  /** A description of the skipped entries. */
  readonly skipped: readonly string[];
}

export interface DirectoryOptions {
  /** Files become folders, too. */
  readonly withFiles: boolean;
  /** Also those whose name begins with a dot. */
  readonly withHidden: boolean;
  readonly onRead: (count: number) => void;
  readonly signal: AbortSignal;
}

const separator = Buffer.from('/');
const dot = '.'.charCodeAt(0);

/** Reading one is mostly waiting for the disk. */
const readAtOnce = 16;

interface Directory {
  /** As bytes: a name need not be a text. */
  readonly place: Buffer;
  /** The prefix of the paths inside this directory. */
  readonly below: string;
}

/** Reads the contents of the directory, without the directory itself. */
export async function readDirectory(top: string, options: DirectoryOptions): Promise<Source> {
  const entries: Entry[] = [];
  const skipped = { links: 0, others: 0 };
  const waiting: Directory[] = [{ place: Buffer.from(top), below: '' }];
  while (waiting.length > 0) {
    options.signal.throwIfAborted();
    const some = waiting.splice(-readAtOnce);
    const found = await Promise.all(some.map(({ place }) => list(place)));
    for (const [index, { place, below }] of some.entries()) {
      for (const each of found[index]!) {
        if (each.name[0] === dot && !options.withHidden) continue;
        if (each.isSymbolicLink()) skipped.links++;
        else if (each.isDirectory() || (each.isFile() && options.withFiles)) {
          const path = below + nameOf(each.name, place);
          entries.push({ path });
          if (each.isDirectory()) {
            waiting.push({ place: Buffer.concat([place, separator, each.name]), below: `${path}/` });
          }
        } else if (!each.isFile()) skipped.others++;
      }
    }
    options.onRead(entries.length);
  }
  const counts = [
    { count: skipped.links, what: skipped.links === 1 ? 'symbolic link' : 'symbolic links' },
    { count: skipped.others, what: 'of no kind that becomes a folder' },
  ];
  return {
    entries,
    skipped: counts.filter((each) => each.count > 0).map((each) => `${count(each.count)} ${each.what}`),
  };
}

async function list(place: Buffer): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(place, { withFileTypes: true, encoding: 'buffer' });
  } catch (cause) {
    throw new StartError(
      `${escapeControls(place.toString())} cannot be read: ${(cause as Error).message}. Nothing was imported.`,
      { cause },
    );
  }
}

function nameOf(bytes: Buffer, place: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new StartError(
      `A name in ${escapeControls(place.toString())} is not written in UTF-8: ${escapeControls(JSON.stringify(bytes.toString('latin1')))}. Nothing was imported.`,
      { cause },
    );
  }
}
