/**
 * Notifies when any process has changed the file. While nothing changes, it keeps a read transaction open on a spare connection.
 * SQLite takes a lock for each statement that reads, which costs more than finding a row, unless another connection of the
 * process holds the same lock already.
 */

import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions } from '../database.ts';

/** How often the file is checked for changes by other processes. */
const pollMs = 200;

export interface CommitWatcher {
  /** Called after a commit of this process. */
  notify(): void;
  watch(onCommit: () => void): void;
  /** Must be called before the connection is used, and before this process writes. */
  releaseReadLock(): void;
  stop(): void;
}

interface WatchOptions {
  readonly onAnnounced: DatabaseOptions['onAnnounced'];
  /** The connection may be used at any moment. */
  readonly isNeeded: () => boolean;
}

/** The open read transaction sees an old state, so nothing else may read with the spare connection meanwhile. */
export function watchCommits(spare: Connection, { onAnnounced, isNeeded }: WatchOptions): CommitWatcher {
  const receivers: (() => void)[] = [];
  const wake = () => receivers.forEach((onCommit) => onCommit());
  const begin = spare.prepare('begin');
  const end = spare.prepare('commit');
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const readVersion = spare.prepare('pragma data_version').pluck();
  let version = readVersion.get();
  let timer: NodeJS.Timeout | undefined;

  const releaseReadLock = () => {
    if (spare.inTransaction) end.run();
  };

  /** Undefined if the file cannot be read: the next read fails with the same error, and reports it. */
  const readIfPossible = () => {
    try {
      releaseReadLock();
      if (!isNeeded()) begin.run();
      return readVersion.get();
    } catch {
      return undefined;
    }
  };

  const poll = () => {
    const now = readIfPossible();
    const isChanged = now === undefined || now !== version;
    version = now;
    if (!isChanged) return;
    // A reader keeps writers from restarting the write-ahead log, so the lock is released while others write.
    releaseReadLock();
    wake();
  };

  return {
    notify: () => {
      wake();
      onAnnounced?.();
    },
    watch: (onCommit) => {
      receivers.push(onCommit);
      timer ??= setInterval(poll, pollMs).unref();
    },
    releaseReadLock,
    stop: () => {
      receivers.length = 0;
      clearInterval(timer);
    },
  };
}
