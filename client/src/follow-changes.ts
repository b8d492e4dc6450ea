/** Follows what happens to a tree that was read, across lost connections, and applies it in order. */

import type { RunsDocuments } from './calls.ts';
import { EspalierError, isPassing } from './errors.ts';
import type { SubscribeOptions } from './graph-socket.ts';
import { folderFields, toFolder, type Answered, type Folder } from './folder.ts';
import type { FolderChange, FolderChangeKind } from './live-tree.ts';
import type { ReadTree } from './read-tree.ts';
import { backOffMs, wait } from './waiting.ts';

export interface TreeChange {
  readonly kind: FolderChangeKind;
  /** For IMPORT, the folder that the new folders are in. Null for RESYNC: everything has been read anew. */
  readonly folderId: string | null;
  /** Below the watched folder, as of `WatchedTree.path`: where it is, or where it was if it is gone. Null if it never was here. */
  readonly path: string | null;
  /** When it happened and who did it, as far as it is told. */
  readonly at: string | null;
  readonly by: string | null;
}

/** What watching needs of a client. */
export interface WatchingClient extends Pick<RunsDocuments, 'query'> {
  /** `variables` is asked whenever it subscribes, also after a lost connection. */
  subscribe<Result, Variables>(
    document: string,
    variables: () => Variables,
    options: SubscribeOptions,
  ): AsyncIterable<Result>;
  /** Given when the client is closed. */
  readonly closing?: AbortSignal | undefined;
}

export interface Following {
  readonly client: Pick<WatchingClient, 'subscribe'>;
  readonly under: string | undefined;
  /** Whose tree and cursor are always those of the last change that was applied. */
  readonly watched: { -readonly [Key in 'cursor' | 'tree']: ReadTree[Key] };
  readonly read: (id: string | undefined) => Promise<ReadTree | undefined>;
  readonly tell: (change: TreeChange) => void;
  /** Ends it with what waiting does not mend. */
  readonly fail: (error: unknown) => void;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly folderChanges: Omit<TreeChange, 'by' | 'path'> & {
    readonly cursor: string;
    readonly folder: Answered<Folder> | null;
    readonly by: { readonly username: string } | null;
  };
}

/** Exported for the benchmark, which sends the same. */
export const changesSubscription = `subscription($under:ID,$after:String){folderChanges(under:$under,after:$after){kind folderId cursor at by{username}folder{${folderFields}}}}`;
const longestPauseMs = 15_000;

/** Until the signal is given, or it fails. */
export async function followChanges(given: Following): Promise<void> {
  const { client, under, watched, read, tell, fail, signal } = given;
  /** Of the last change that has come, applied or not: after a lost connection it goes on from there. */
  let received = watched.cursor;
  let applying = Promise.resolve();
  let tries = 0;

  const pathTo = (id: string | null) => (id === null ? undefined : watched.tree.path(id)) ?? null;

  /** Each after those before it, however long these take to read what they need. */
  const apply = async ({ kind, folderId, at, by, cursor, folder }: Answer['folderChanges']) => {
    if (signal.aborted) return;
    const before = pathTo(folderId);
    if (kind === 'RESYNC') {
      const found = await persist(() => read(under));
      if (found) watched.tree = found.tree;
      else watched.tree.drop(watched.tree.rootId);
    } else {
      const change: FolderChange = { kind, folderId: folderId!, folder: folder && toFolder(folder) };
      if (watched.tree.apply(change)) {
        watched.tree.take(folderId!, await persist(() => read(folderId!)));
      }
    }
    watched.cursor = cursor;
    tell({ kind, folderId, path: pathTo(folderId) ?? before, at, by: by && by.username });
  };

  /** However often the server cannot be reached. */
  const persist = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error;
        await pause(attempt);
      }
    }
  };

  /** Until it is told to stop. */
  const pause = (attempt: number) =>
    wait(backOffMs(attempt + 3, longestPauseMs), signal).catch(() => undefined);

  const subscribe = async () => {
    const variables = () => ({ under, after: received });
    const onGoingAway = (cursor: string) => void (received = cursor);
    const options = { signal, onGoingAway };
    for await (const { folderChanges: change } of client.subscribe<Answer, object>(
      changesSubscription,
      variables,
      options,
    )) {
      tries = 0;
      received = change.cursor;
      applying = applying.then(() => apply(change)).catch(fail);
    }
  };

  /** The watched folder is not there: it is looked for until it is. */
  const awaitReturn = async () => {
    if (watched.tree.size > 0) {
      watched.tree.drop(watched.tree.rootId);
      tell({ kind: 'DELETE', folderId: under!, path: '/', at: null, by: null });
    }
    for (let attempt = 0; !signal.aborted; attempt++) {
      await pause(attempt);
      const found = await persist(() => read(under));
      if (!found) continue;
      watched.cursor = found.cursor;
      watched.tree = found.tree;
      tell({ kind: 'CREATE', folderId: under!, path: '/', at: null, by: null });
      return;
    }
  };

  while (!signal.aborted) {
    const error: unknown = await subscribe().catch((caught: unknown) => caught);
    await applying;
    if (signal.aborted) return;
    const isGone = error instanceof EspalierError && error.code === 'NOT_FOUND';
    if (under && isGone) await awaitReturn();
    else if (error && !isPassing(error)) throw error as Error;
    else await pause(tries++);
    received = watched.cursor;
  }
}
