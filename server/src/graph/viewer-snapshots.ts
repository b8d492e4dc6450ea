/** Opens the snapshots that responses are read from, with the viewer's rights in the same snapshot. */

import type { AccessCache, LatestAccess } from '../access/access-cache.ts';
import type { Scheduler, Task, TaskOptions } from '../concurrency/fair-scheduler.ts';
import { whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import type { Database, Snapshot } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { readFirst } from '../folders/first-read.ts';
import type { FirstRead } from '../folders/folders.ts';
import type { Viewer } from '../sessions/viewer.ts';
import type { ReadyPlan } from './plan/query-plans.ts';

/** Rights and data of one moment: everything in one response comes from here. */
export interface ViewerSnapshot extends LatestAccess {
  readonly reader: Snapshot;
  /** The folder that was read together with the head of the journal. */
  readonly first?: FirstRead | undefined;
}

/** It may be held while the response waits for its next turn. */
export interface LongSnapshot extends ViewerSnapshot {
  readonly task: Task;
}

export interface OpenOptions {
  /** The first folder of this plan is read together with the head of the journal. */
  readonly plan?: ReadyPlan | undefined;
  /** A response that needs only one statement is read without a transaction. A further read throws a `SecondRead`. */
  readonly mayReadOnce?: boolean | undefined;
}

/** Thrown when a response that was expected to need one statement needs another one. It is then read again in a snapshot. */
export class SecondRead extends Error {}

/** For a response that needs no further read. */
export const noSnapshot: Snapshot = {
  isConsistent: true,
  isEmbedded: false,
  all: () => Promise.reject(new SecondRead()),
  get: () => Promise.reject(new SecondRead()),
  end: () => undefined,
};

export interface SnapshotServices {
  readonly database: Database;
  readonly accessCache: AccessCache;
}

/** For responses that are read in one time slice. */
export class ViewerSnapshots {
  readonly #database: Database;
  readonly #accessCache: AccessCache;

  constructor({ database, accessCache }: SnapshotServices) {
    this.#database = database;
    this.#accessCache = accessCache;
  }

  open({ userId }: Viewer, { plan, mayReadOnce = false }: OpenOptions = {}): PromiseOrValue<ViewerSnapshot> {
    const isOneStatement = mayReadOnce && !this.#database.isEmbedded && plan?.firstRead?.isOnly === true;
    const reader = isOneStatement ? noSnapshot : this.#database.openSnapshot();
    return whenFailed(
      () => {
        const firstRead = this.#readFirst(userId, plan, isOneStatement ? this.#database : reader);
        if (isOneStatement && !firstRead) throw new SecondRead();
        return whenDone(firstRead, (first) =>
          whenDone(this.#accessCache.accessFor(reader, userId, first?.head), (latest) => ({
            ...latest,
            reader,
            first,
          })),
        );
      },
      (error): never => {
        reader.end();
        throw error;
      },
    );
  }

  /** Undefined if the plan reads no folder by its id, or the root of a viewer whose rights are not cached. */
  #readFirst(
    userId: string,
    plan: ReadyPlan | undefined,
    reader: Database | Snapshot,
  ): PromiseOrValue<FirstRead> | undefined {
    if (!plan?.firstRead) return undefined;
    const { firstRead, variables } = plan;
    const access = this.#accessCache.peek(userId)?.access;
    const folderId = firstRead.folder(variables);
    const id = folderId === null ? access?.rootId : folderId;
    if (id === undefined || !isRowId(id)) return undefined;
    const page = access && !reader.isEmbedded ? firstRead.page(variables, id, access) : undefined;
    return readFirst(reader, id, { rootId: access?.rootId, withAncestors: firstRead.withAncestors, page });
  }
}

const maxLongReadsPerUser = 2;

/**
 * For responses that may take long: searches, exports, everything below a folder. Each user has a few permits. The
 * snapshot is opened after a permit is acquired, so no response waits with old rights.
 */
export class LongReads {
  readonly #services: SnapshotServices;
  readonly #scheduler: Scheduler;
  readonly #semaphores = new Map<string, Semaphore>();

  constructor(services: SnapshotServices, scheduler: Scheduler) {
    this.#services = services;
    this.#scheduler = scheduler;
  }

  /** Resolves when the user has a permit. Ending the snapshot releases it. */
  open(userId: string, options?: TaskOptions): Promise<LongSnapshot> {
    const opened = Promise.withResolvers<LongSnapshot>();
    this.#hold(userId, options, opened.resolve).catch(opened.reject);
    return opened.promise;
  }

  async #hold(
    userId: string,
    options: TaskOptions | undefined,
    onOpen: (snapshot: LongSnapshot) => void,
  ): Promise<void> {
    const semaphore = this.#semaphores.get(userId) ?? createSemaphore(maxLongReadsPerUser);
    this.#semaphores.set(userId, semaphore);
    const start = (task: Task) => {
      // The user is not charged until the response begins to read.
      task.pause();
      return this.#services.database.snapshot((snapshot) =>
        this.#holdSnapshot(userId, snapshot, task, onOpen),
      );
    };
    try {
      await semaphore.run(() => this.#scheduler.schedule(userId, start, options));
    } finally {
      if (semaphore.running === 0) this.#semaphores.delete(userId);
    }
  }

  /** Resolves when the receiver ends the snapshot. */
  async #holdSnapshot(
    userId: string,
    snapshot: Snapshot,
    task: Task,
    onOpen: (snapshot: LongSnapshot) => void,
  ): Promise<void> {
    const latest = await this.#services.accessCache.accessFor(snapshot, userId);
    const ended = Promise.withResolvers<void>();
    const end = () => {
      snapshot.end();
      ended.resolve();
    };
    task.resume();
    onOpen({ ...latest, reader: { ...snapshot, end }, task });
    await ended.promise;
  }
}
