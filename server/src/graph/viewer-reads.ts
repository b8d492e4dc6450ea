/**
 * Reads responses for a viewer: opens a snapshot with the viewer's rights in it, creates the context, and ends the snapshot with the
 * response.
 */

import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { AccessCache, LatestAccess } from '../access/access-cache.ts';
import type { Scheduler, Task } from '../concurrency/fair-scheduler.ts';
import {
  isPromise,
  whenDone,
  whenFailed,
  whenSettled,
  type PromiseOrValue,
} from '../concurrency/promise-or-value.ts';
import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import type { Database, Snapshot } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { AccessChanges } from '../folders/change-feed/access-changes.ts';
import { readFirst } from '../folders/first-read.ts';
import { viewTree, type FirstRead } from '../folders/tree-view.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import type { JournalHead, RightsHolder } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { rightsHolderOf, type Viewer } from '../sessions/auth-token.ts';
import { viewEnded } from '../sessions/view-as.ts';
import { Budget, ElementFields } from './cost/budget.ts';
import { createFieldCheck, isLongField } from './field-marks.ts';
import type { Operation } from './operation.ts';
import type { ReadyPlan } from './plan/query-plans.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { SingleSlice, yieldingSnapshot } from './time-slices.ts';

/** Rights and data of one moment. Everything in one response comes from this snapshot. */
export interface ViewerSnapshot extends LatestAccess {
  readonly reader: Snapshot;
  /** The folder that was read together with the head of the journal. */
  readonly first?: FirstRead | undefined;
}

/** A snapshot that may stay open while the response waits for its next time slice. */
export interface LongSnapshot extends ViewerSnapshot {
  readonly task: Task;
}

export interface OpenOptions {
  /** The first folder of this plan is read together with the head of the journal. */
  readonly plan?: ReadyPlan | undefined;
  /** Reads a response that needs only one statement without a snapshot. A second read throws a `SecondReadError`. */
  readonly trySingleStatement?: boolean | undefined;
}

interface ContextOptions {
  readonly viewer: Viewer;
  readonly task: Task;
  /** The journal entry that a subscription reports; without it, the head of the snapshot. */
  readonly position?: JournalPosition | undefined;
  /** Shared by the responses of one request with several mutations. */
  readonly budget?: Budget;
}

/** Limited, because each long read holds a database connection. */
const maxLongReadsPerUser = 2;

type Work<T> = (context: GraphContext, snapshot: ViewerSnapshot) => PromiseOrValue<T>;

/** Thrown when a response that is read without a snapshot needs a second statement. The response is then read again in a snapshot. */
export class SecondReadError extends Error {}

/** The snapshot of a response that needs no further read. */
export const noSnapshot: Snapshot = {
  isConsistent: true,
  isEmbedded: false,
  all: () => Promise.reject(new SecondReadError()),
  get: () => Promise.reject(new SecondReadError()),
  end: () => undefined,
};

export class ViewerReads {
  readonly schema: GraphQLSchema;
  readonly services: GraphServices;
  readonly scheduler: Scheduler;
  readonly selectsLongField: (document: DocumentNode) => boolean;
  readonly #elementFields = new ElementFields();
  readonly #accessChanges: AccessChanges;
  readonly #tookLong = new WeakSet<DocumentNode>();
  /** The permits for long reads of each user. */
  readonly #longReads = new Map<string, Semaphore>();

  constructor(schema: GraphQLSchema, services: GraphServices, scheduler: Scheduler) {
    this.schema = schema;
    this.services = services;
    this.scheduler = scheduler;
    this.selectsLongField = createFieldCheck(schema, isLongField);
    this.#accessChanges = new AccessChanges(services);
  }

  /** True if the document took more than one slice the last time, or if it selects a long field and has no plan. */
  mayTakeLong(document: DocumentNode, hasPlan = false): boolean {
    // A plan reads a page of a long list as fast as any other page.
    return this.#tookLong.has(document) || (!hasPlan && this.selectsLongField(document));
  }

  read<T>(viewer: Viewer, task: Task, work: Work<T>): PromiseOrValue<T> {
    return this.#withContext(this.#open(viewer), { viewer, task }, work);
  }

  /**
   * Returns null if the response takes more than one slice. The caller must then read it again with `readLong()`. Later calls
   * with the same document must use `readLong()` as well.
   */
  readInOneSlice<T>(
    { viewer, request: { document } }: Operation,
    { task, position, plan, trySingleStatement }: OpenOptions & Pick<ContextOptions, 'task' | 'position'>,
    work: Work<T>,
  ): PromiseOrValue<T | null> {
    const slice = new SingleSlice(task);
    const giveUp = (): null => {
      this.#tookLong.add(document);
      return null;
    };
    const orNull = (result: T) => (slice.isExceeded ? giveUp() : result);
    const recover = (error: unknown) => {
      if (!slice.isExceeded) throw error;
      return giveUp();
    };
    try {
      const opened = this.#open(viewer, { plan, trySingleStatement });
      const done = this.#withContext(opened, { viewer, task: slice, position }, work);
      // A single `then` with both functions, because each promise delays a query on a remote database.
      return isPromise(done) ? done.then(orNull, recover) : orNull(done);
    } catch (error) {
      return recover(error);
    }
  }

  /** Waits for a permit of the user, and between slices for the user's next slice. */
  async readLong<T>(
    operation: Operation,
    work: (context: GraphContext) => Promise<T>,
    position?: JournalPosition,
  ): Promise<T> {
    const { viewer, request } = operation;
    const opened = await this.openLong(operation);
    const { task } = opened;
    const result = await this.#withContext(opened, { viewer, task, position }, work);
    if (task.yields === 0) this.#tookLong.delete(request.document);
    return result;
  }

  /**
   * For responses that may take long: searches, exports, everything below a folder. Resolves when the user has a permit. The
   * snapshot is opened only then, so no response waits with old rights. Ending the snapshot releases the permit.
   */
  openLong({ viewer, signal }: Operation): Promise<LongSnapshot> {
    const { userId } = viewer;
    const { database, accessCache } = this.services;
    const opened = Promise.withResolvers<LongSnapshot>();
    const holdSnapshot = (task: Task) => {
      // The user is not charged until the response begins to read.
      task.pause();
      return database.snapshot(async (snapshot) => {
        const latest = await accessInSnapshot(accessCache, snapshot, viewer);
        const ended = Promise.withResolvers<void>();
        const end = () => {
          snapshot.end();
          ended.resolve();
        };
        task.resume();
        opened.resolve({ ...latest, reader: { ...snapshot, end }, task });
        await ended.promise;
      });
    };
    const semaphore = this.#longReads.get(userId) ?? createSemaphore(maxLongReadsPerUser);
    this.#longReads.set(userId, semaphore);
    semaphore
      .run(() => this.scheduler.schedule(userId, holdSnapshot, { signal }))
      .finally(() => semaphore.running === 0 && this.#longReads.delete(userId))
      .catch(opened.reject);
    return opened.promise;
  }

  createBudget(): Budget {
    return new Budget(this.services.limits, this.#elementFields);
  }

  createContext(
    { viewer, position, task, budget = this.createBudget() }: ContextOptions,
    { reader: snapshot, access, position: head, first }: ViewerSnapshot,
  ): GraphContext {
    const reader = yieldingSnapshot(snapshot, task);
    return {
      ...this.services,
      viewer,
      reader,
      access,
      view: viewTree(reader, access, first),
      position: position ?? head,
      budget,
      task,
      scheduler: this.scheduler,
      accessChanges: this.#accessChanges,
    };
  }

  #withContext<T>(
    opened: PromiseOrValue<ViewerSnapshot>,
    options: ContextOptions,
    work: Work<T>,
  ): PromiseOrValue<T> {
    return whenDone(withoutCharge(opened, options.task), (snapshot) => {
      const context = this.createContext(options, snapshot);
      return whenSettled(
        () => work(context, snapshot),
        () => context.reader.end(),
      );
    });
  }

  #open(
    viewer: Viewer,
    { plan, trySingleStatement = false }: OpenOptions = {},
  ): PromiseOrValue<ViewerSnapshot> {
    const { database, accessCache } = this.services;
    const isOneStatement = trySingleStatement && !database.isEmbedded && plan?.firstRead?.isOnly === true;
    const reader = isOneStatement ? noSnapshot : database.openSnapshot();
    const fail = (error: unknown): never => {
      reader.end();
      throw error;
    };
    try {
      const firstRead = this.#readFirst(viewer, plan, isOneStatement ? database : reader);
      if (isOneStatement && !firstRead) throw new SecondReadError();
      const opened = whenDone(firstRead, (first) =>
        whenDone(accessInSnapshot(accessCache, reader, viewer, first?.head), (latest) => ({
          ...latest,
          reader,
          first,
        })),
      );
      return isPromise(opened) ? opened.catch(fail) : opened;
    } catch (error) {
      return fail(error);
    }
  }

  /** Undefined if the plan reads no folder by its id, or if it reads the root and the viewer's rights are not cached. */
  #readFirst(
    viewer: Viewer,
    plan: ReadyPlan | undefined,
    reader: Database | Snapshot,
  ): PromiseOrValue<FirstRead> | undefined {
    if (!plan?.firstRead) return undefined;
    const { firstRead, variables } = plan;
    const access = this.services.accessCache.peek(rightsHolderOf(viewer))?.access;
    const folderId = firstRead.folder(variables);
    const id = folderId === null ? access?.rootId : folderId;
    if (id === undefined || !isRowId(id)) return undefined;
    const page = access && !reader.isEmbedded ? firstRead.page(variables, id, access) : undefined;
    return readFirst(reader, id, { rootId: access?.rootId, withAncestors: firstRead.withAncestors, page });
  }
}

/** The user is not charged while the database opens the snapshot. */
function withoutCharge<T>(pending: PromiseOrValue<T>, task: Task): PromiseOrValue<T> {
  if (!isPromise(pending)) return pending;
  task.pause();
  return pending.finally(() => task.resume());
}

/**
 * The latest rights. Refuses a viewer who can no longer log in, and a view that has ended. In a view, returns the rights of the
 * viewed user, as long as the viewer is an administrator.
 */
export function accessOfViewer(accessCache: AccessCache, viewer: Viewer): PromiseOrValue<LatestAccess> {
  return checkView(viewer, (holder) => accessCache.accessOf(holder));
}

/** Like `accessOfViewer()`, with the rights in a snapshot. In a view, both users are read from the snapshot. */
function accessInSnapshot(
  accessCache: AccessCache,
  snapshot: Snapshot,
  viewer: Viewer,
  knownHead?: JournalHead,
): PromiseOrValue<LatestAccess> {
  return checkView(viewer, (holder) => accessCache.accessFor(snapshot, holder, knownHead));
}

function checkView(
  viewer: Viewer,
  read: (holder: RightsHolder) => PromiseOrValue<LatestAccess>,
): PromiseOrValue<LatestAccess> {
  if (!viewer.view) return read(viewer);
  return whenDone(read(viewer), ({ access: { isAdministrator } }) => {
    if (!isAdministrator) throw viewEnded();
    return whenFailed(
      () => read(rightsHolderOf(viewer)),
      (error): never => {
        // The viewed user was disabled or deleted. The auth token of the administrator is still valid.
        throw error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN' ? viewEnded() : error;
      },
    );
  });
}
