/** A part of the tree in memory that is always what the server has: it reads, then follows without a gap. */

import { createChangeFeed } from './change-feed.ts';
import { EspalierError } from './errors.ts';
import type { Folder } from './folder.ts';
import { followChanges, type TreeChange, type WatchingClient } from './follow-changes.ts';
import { readTree } from './read-tree.ts';

export type { TreeChange };

export interface WatchOptions {
  /** The id of the folder to watch; the root, unless told. */
  readonly under?: string | undefined;
  /** Closes the tree. */
  readonly signal?: AbortSignal | undefined;
  /** How many folders are read at a time, or fewer where so many cost too much; 2,000 unless told. */
  readonly pageSize?: number | undefined;
}

/**
 * Iterate over it for the changes from then on, which are in the tree when they are told of. It is kept up to date
 * whether somebody iterates or not.
 */
export interface WatchedTree extends AsyncIterable<TreeChange> {
  /** The watched folder; undefined while it is not there any more. */
  readonly root: Folder | undefined;
  /** How many folders are in it. */
  readonly size: number;
  /** Undefined for what is not in it. */
  get(id: string): Folder | undefined;
  /** In the order of the server. */
  children(id: string): readonly Folder[];
  /** The names from below the watched folder to here, each after a slash; "/" for itself. */
  path(id: string): string | undefined;
  /** For `after` of `folderChanges`: all up to here is in the tree. */
  readonly cursor: string;
  /** Answers with how to stop. */
  onChange(listener: (change: TreeChange) => void): () => void;
  /** Fulfilled when the tree was closed; rejected when it cannot be kept up to date any more, as after a logout. */
  readonly closed: Promise<void>;
  /** The tree stays as it is, and iterators end. */
  close(): void;
  [Symbol.asyncIterator](): AsyncIterableIterator<TreeChange>;
}

const pageSize = 2_000;

/** Refused with NOT_FOUND if there is no such folder. */
export async function watchTree(client: WatchingClient, options: WatchOptions = {}): Promise<WatchedTree> {
  const { under, signal } = options;
  signal?.throwIfAborted();
  client.closing?.throwIfAborted();
  const stopping = new AbortController();
  const feed = createChangeFeed<TreeChange>();
  let settle: (error?: Error) => void;
  const closed = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Who does not ask for it is not troubled by it: iterators throw it, too.
  closed.catch(() => undefined);
  const end = (error?: unknown) => {
    stopping.abort(signal?.reason);
    signal?.removeEventListener('abort', close);
    client.closing?.removeEventListener('abort', close);
    feed.end(error);
    settle(error as Error | undefined);
  };
  const close = () => end();
  signal?.addEventListener('abort', close);
  client.closing?.addEventListener('abort', close);

  const reading = { pageSize: options.pageSize ?? pageSize, signal: stopping.signal };
  const read = (id: string | undefined) => readTree(client, id, reading);
  let first;
  try {
    first = await read(under);
    if (!first) throw new EspalierError('NOT_FOUND', `There is no folder ${under}.`);
    stopping.signal.throwIfAborted();
  } catch (error) {
    end();
    throw error;
  }

  const watched = { cursor: first.cursor, tree: first.tree };
  const { signal: stop } = stopping;
  followChanges({ client, under, watched, read, tell: feed.tell, fail: end, signal: stop }).catch(end);
  return {
    get root() {
      return watched.tree.get(watched.tree.rootId);
    },
    get size() {
      return watched.tree.size;
    },
    get cursor() {
      return watched.cursor;
    },
    get: (id) => watched.tree.get(id),
    children: (id) => watched.tree.children(id),
    path: (id) => watched.tree.path(id),
    onChange: feed.listen,
    closed,
    close,
    [Symbol.asyncIterator]: feed[Symbol.asyncIterator],
  };
}
