/** A part of the tree in memory that is always what the server has: it reads, then follows without a gap. */

import type { Folder } from './folders.ts';

export interface WatchOptions {
  /** The id of the folder to watch; the root, unless told. */
  readonly under?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WatchedFolder extends Folder {
  /** Below the watched folder, by name; "" for itself. */
  readonly depth: number;
}

export interface TreeChange {
  readonly kind: 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';
  /** Null for RESYNC. */
  readonly id: string | null;
  /** When it happened and who did it, as far as it is told. */
  readonly at: string | null;
  readonly by: string | null;
}

/** Iterate over it for the changes, which are applied when they are told of. */
export interface WatchedTree extends AsyncIterable<TreeChange> {
  /** The watched folder; undefined when it is not there any more. */
  readonly root: Folder | undefined;
  readonly size: number;
  get(id: string): Folder | undefined;
  /** In the order of the server. */
  children(id: string): readonly Folder[];
  /** The names from below the watched folder to here, each after a slash; "/" for itself. */
  path(id: string): string | undefined;
  /** For `after` of `folderChanges`: all up to here is in the tree. */
  readonly cursor: string;
  close(): void;
}
