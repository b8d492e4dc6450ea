/** Keeps a copy of a part of the tree in memory up to date: reads it once, then follows its changes without a gap. */

import { ChangeEmitter } from './change-emitter.ts';
import { folderNotFound } from '../errors.ts';
import type { Folder } from '../folder.ts';
import { ChangeFollower, type TreeChange, type WatchingClient } from './follow-changes.ts';
import { readTree } from './read-tree.ts';

export type { TreeChange };

/** Options of `watch`. */
export interface WatchOptions {
  /** The id of the folder to watch. Default: the root. */
  readonly under?: string | undefined;
  /** Closes the tree when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Page size of the first read. Default: 2,000. Halved while the server rejects a page as TOO_EXPENSIVE. */
  readonly pageSize?: number | undefined;
}

/**
 * A live copy of a part of the tree. Iterate over it to receive each change after it was applied. It stays current even if
 * you do not iterate.
 *
 * @example
 * const tree = await client.watch({ under: places.id });
 * tree.onChange(({ kind, path }) => console.log(kind, path));
 * for (const { id, name } of tree.children(places.id)) console.log(name, tree.children(id).length);
 */
export interface WatchedTree extends AsyncIterable<TreeChange> {
  /** The watched folder. Undefined while it does not exist or you cannot see it. */
  readonly root: Folder | undefined;
  /** Number of folders in the tree. */
  readonly size: number;
  /** Returns a folder, or undefined if the tree does not contain it. */
  get(id: string): Folder | undefined;
  /** Returns the subfolders in the server's order. */
  children(id: string): readonly Folder[];
  /**
   * Returns the path below the watched folder, for example `/Places/Floor 2`, and `/` for the watched folder itself. Returns
   * undefined if the tree does not contain the folder.
   */
  path(id: string): string | undefined;
  /** The cursor of the last applied change. You can pass it as `after` to `folderChanges`. */
  readonly cursor: string;
  /** Calls the listener after each applied change. Returns a function that removes the listener. */
  onChange(listener: (change: TreeChange) => void): () => void;
  /** Resolves when the tree is closed. Rejects when it can no longer be updated, for example after a logout. */
  readonly closed: Promise<void>;
  /** Stops the updates and ends all iterators. The folders stay readable. */
  close(): void;
  [Symbol.asyncIterator](): AsyncIterableIterator<TreeChange>;
}

const defaultPageSize = 2_000;

/** Rejects with NOT_FOUND if the folder does not exist or is not visible. */
export async function watchTree(client: WatchingClient, options: WatchOptions = {}): Promise<WatchedTree> {
  const { under, signal } = options;
  signal?.throwIfAborted();
  client.closing?.throwIfAborted();
  const controller = new AbortController();
  const emitter = new ChangeEmitter<TreeChange>();
  let settle: (error?: Error) => void;
  const closed = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Without this handler, a program that never reads `closed` would end with an unhandled rejection.
  closed.catch(() => undefined);
  const end = (error?: unknown) => {
    controller.abort(signal?.reason);
    signal?.removeEventListener('abort', close);
    client.closing?.removeEventListener('abort', close);
    emitter.end(error);
    settle(error as Error | undefined);
  };
  const close = () => end();
  signal?.addEventListener('abort', close);
  client.closing?.addEventListener('abort', close);

  const readOptions = { pageSize: options.pageSize ?? defaultPageSize, signal: controller.signal };
  const read = (id: string | undefined) => readTree(client, id, readOptions);
  let first;
  try {
    first = await read(under);
    if (!first) throw folderNotFound(under);
    controller.signal.throwIfAborted();
  } catch (error) {
    end();
    throw error;
  }

  const watched = { cursor: first.cursor, tree: first.tree };
  const publish = (change: TreeChange) => emitter.publish(change);
  const { signal: stopSignal } = controller;
  new ChangeFollower({ client, under, watched, read, publish, fail: end, signal: stopSignal })
    .run()
    .catch(end);
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
    onChange: (listener) => emitter.listen(listener),
    closed,
    close,
    [Symbol.asyncIterator]: () => emitter[Symbol.asyncIterator](),
  };
}
