/** Subscribes to the changes of a tree, across lost connections, and applies them in order. */

import type { DocumentRunner } from '../calls.ts';
import { EspalierError, isTransient } from '../errors.ts';
import type { SubscribeOptions } from '../socket/graph-socket.ts';
import { folderFields, toFolder, type Folder, type FolderResult } from '../folder.ts';
import type { FolderChange, FolderChangeKind } from './tree-copy.ts';
import type { TreeSnapshot } from './read-tree.ts';
import { backoffMs, wait } from '../timers.ts';

/** A change that has been applied to a watched tree. */
export interface TreeChange {
  readonly kind: FolderChangeKind;
  /** The changed folder. For IMPORT, the parent of the new folders. Null for RESYNC, after which the tree was read again. */
  readonly folderId: string | null;
  /** The path below the watched folder. For a removed folder, its last path. Null if the folder was never in the tree. */
  readonly path: string | null;
  /** When the change happened. Null if the server does not report it. */
  readonly at: string | null;
  /** The username of the user who made the change. Null if the server does not report it. */
  readonly by: string | null;
}

/** The part of the client that watching a tree needs. */
export interface WatchingClient extends Pick<DocumentRunner, 'query'> {
  /** Calls `variables` each time it sends the subscription, also after a lost connection. */
  subscribe<Result, Variables>(
    document: string,
    variables: () => Variables,
    options: SubscribeOptions,
  ): AsyncIterable<Result>;
  /** Aborted when the client is closed. */
  readonly closing?: AbortSignal | undefined;
}

export interface FollowOptions {
  readonly client: Pick<WatchingClient, 'subscribe'>;
  readonly under: string | undefined;
  /** The tree, and the cursor of the last change that was applied to it. */
  readonly watched: { -readonly [Key in 'cursor' | 'tree']: TreeSnapshot[Key] };
  readonly read: (id: string | undefined) => Promise<TreeSnapshot | undefined>;
  readonly publish: (change: TreeChange) => void;
  /** Ends the tree with a permanent error. */
  readonly fail: (error: unknown) => void;
  readonly signal: AbortSignal;
}

interface ChangeResult {
  readonly folderChanges: Omit<TreeChange, 'by' | 'path'> & {
    readonly cursor: string;
    readonly folder: FolderResult<Folder> | null;
    readonly by: { readonly username: string } | null;
  };
}

/** Exported for the benchmark, which sends the same document. */
export const changesSubscription = `subscription($under:ID,$after:String){folderChanges(under:$under,after:$after){kind folderId cursor at by{username}folder{${folderFields}}}}`;
const maxPauseMs = 15_000;

export class ChangeFollower {
  readonly #options: FollowOptions;
  /** The cursor of the last received change, applied or not. A new connection continues there. */
  #receivedCursor: string;
  #lastApply = Promise.resolve();
  #attempts = 0;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#receivedCursor = options.watched.cursor;
  }

  /** Follows the changes until the signal is aborted. Rejects with a permanent error. */
  async run(): Promise<void> {
    const { under, watched, signal } = this.#options;
    while (!signal.aborted) {
      const error: unknown = await this.#subscribe().catch((caught: unknown) => caught);
      await this.#lastApply;
      if (signal.aborted) return;
      const isMissing = error instanceof EspalierError && error.code === 'NOT_FOUND';
      if (under && isMissing) await this.#awaitFolder(under);
      else if (error && !isTransient(error)) throw error as Error;
      else await this.#pause(this.#attempts++);
      this.#receivedCursor = watched.cursor;
    }
  }

  async #subscribe(): Promise<void> {
    const { client, under, signal, fail } = this.#options;
    const variables = () => ({ under, after: this.#receivedCursor });
    const onGoingAway = (cursor: string) => void (this.#receivedCursor = cursor);
    const options = { signal, onGoingAway };
    for await (const { folderChanges: change } of client.subscribe<ChangeResult, object>(
      changesSubscription,
      variables,
      options,
    )) {
      this.#attempts = 0;
      this.#receivedCursor = change.cursor;
      // Applying a change can take long, because it may read folders. Each change waits for the previous one.
      this.#lastApply = this.#lastApply.then(() => this.#apply(change)).catch(fail);
    }
  }

  async #apply({ kind, folderId, at, by, cursor, folder }: ChangeResult['folderChanges']): Promise<void> {
    const { under, watched, read, publish, signal } = this.#options;
    if (signal.aborted) return;
    const previousPath = this.#pathTo(folderId);
    if (kind === 'RESYNC') {
      const snapshot = await this.#retry(() => read(under));
      if (snapshot) watched.tree = snapshot.tree;
      else watched.tree.drop(watched.tree.rootId);
    } else {
      const change: FolderChange = { kind, folderId: folderId!, folder: folder && toFolder(folder) };
      if (watched.tree.apply(change)) {
        watched.tree.replaceSubtree(folderId!, await this.#retry(() => read(folderId!)));
      }
    }
    watched.cursor = cursor;
    publish({ kind, folderId, path: this.#pathTo(folderId) ?? previousPath, at, by: by && by.username });
  }

  /** Polls until the watched folder exists again. */
  async #awaitFolder(under: string): Promise<void> {
    const { watched, read, publish, signal } = this.#options;
    if (watched.tree.size > 0) {
      watched.tree.drop(watched.tree.rootId);
      publish({ kind: 'DELETE', folderId: under, path: '/', at: null, by: null });
    }
    for (let attempt = 0; !signal.aborted; attempt++) {
      await this.#pause(attempt);
      const snapshot = await this.#retry(() => read(under));
      if (!snapshot) continue;
      watched.cursor = snapshot.cursor;
      watched.tree = snapshot.tree;
      publish({ kind: 'CREATE', folderId: under, path: '/', at: null, by: null });
      return;
    }
  }

  #pathTo(id: string | null): string | null {
    return (id === null ? undefined : this.#options.watched.tree.path(id)) ?? null;
  }

  /** Retries without limit while the server is unreachable. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (this.#options.signal.aborted || !isTransient(error)) throw error;
        await this.#pause(attempt);
      }
    }
  }

  /** Waits for the backoff, or until the signal is aborted. */
  #pause(attempt: number): Promise<void> {
    return wait(backoffMs(attempt + 3, maxPauseMs), this.#options.signal).catch(() => undefined);
  }
}
