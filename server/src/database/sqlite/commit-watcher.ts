/**
 * Tells when the file was changed, by whichever process; and while nobody changes it, keeps it open for reading with the
 * connection that has nothing to do then. SQLite asks the system for a lock whenever a statement begins to read, and gives it back
 * in the end, unless another connection of the process has the same one: that costs more than to find a row.
 */

import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions } from '../database.ts';

/** How often it is looked whether another process has written. */
const lookEveryMs = 200;

export interface CommitWatcher {
  /** This process has committed something itself. */
  notify(): void;
  watch(onCommit: () => void): void;
  /** To be called before the connection is used, and before this process writes. */
  releaseReadLock(): void;
  stop(): void;
}

export interface CommitsOptions {
  readonly onAnnounced: DatabaseOptions['onAnnounced'];
  /** The connection may be used any moment. */
  readonly isNeeded: () => boolean;
}

/** What is kept open stays at its moment, so the connection must be one by which nobody reads meanwhile. */
export function watchCommits(spare: Connection, { onAnnounced, isNeeded }: CommitsOptions): CommitWatcher {
  const watching: (() => void)[] = [];
  const wake = () => watching.forEach((onCommit) => onCommit());
  const begin = spare.prepare('begin');
  const end = spare.prepare('commit');
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const readVersion = spare.prepare('pragma data_version').pluck();
  let version = readVersion.get();
  let timer: NodeJS.Timeout | undefined;

  const releaseReadLock = () => {
    if (spare.inTransaction) end.run();
  };

  /** Undefined if it cannot be read: whoever reads after this meets the same trouble, and can tell. */
  const readIfPossible = () => {
    try {
      releaseReadLock();
      if (!isNeeded()) begin.run();
      return readVersion.get();
    } catch {
      return undefined;
    }
  };

  const look = () => {
    const now = readIfPossible();
    const isChanged = now === undefined || now !== version;
    version = now;
    if (!isChanged) return;
    // Nobody can begin the file of what is written next anew while somebody reads in it: those who write are not in our way.
    releaseReadLock();
    wake();
  };

  return {
    notify: () => {
      wake();
      onAnnounced?.();
    },
    watch: (onCommit) => {
      watching.push(onCommit);
      timer ??= setInterval(look, lookEveryMs).unref();
    },
    releaseReadLock,
    stop: () => {
      watching.length = 0;
      clearInterval(timer);
    },
  };
}
