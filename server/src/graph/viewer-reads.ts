/** Reads responses for a viewer: opens a snapshot, creates the context for it, and ends the snapshot with the response. */

import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Scheduler, Task } from '../concurrency/fair-scheduler.ts';
import {
  isPromise,
  whenDone,
  whenFailed,
  whenSettled,
  type PromiseOrValue,
} from '../concurrency/promise-or-value.ts';
import { AccessChanges } from '../folders/changes/access-changes.ts';
import { viewTree } from '../folders/folders.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import type { Viewer } from '../sessions/viewer.ts';
import { Budget } from './cost/budget.ts';
import { ElementFields } from './cost/element-fields.ts';
import { createFieldCheck, isLongField } from './document-fields.ts';
import type { Operation } from './operation.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { SingleSlice, yieldingSnapshot } from './time-slices.ts';
import { LongReads, ViewerSnapshots, type OpenOptions, type ViewerSnapshot } from './viewer-snapshots.ts';

interface ContextOptions {
  readonly viewer: Viewer;
  readonly task: Task;
  /** Shared by the responses of one request with several mutations. */
  readonly budget?: Budget;
  /** The journal entry that a subscription reports; without it, the head of the snapshot. */
  readonly position?: JournalPosition;
}

export type ReadOptions = Pick<ContextOptions, 'position'>;

interface SliceOptions extends ReadOptions, OpenOptions {
  readonly task: Task;
}

type Work<T> = (context: GraphContext, snapshot: ViewerSnapshot) => PromiseOrValue<T>;

export class ViewerReads {
  readonly #services: GraphServices;
  readonly #scheduler: Scheduler;
  readonly #snapshots: ViewerSnapshots;
  readonly #elementFields = new ElementFields();
  readonly #accessChanges: AccessChanges;
  readonly #tookLong = new WeakSet<DocumentNode>();
  readonly selectsLongField: (document: DocumentNode) => boolean;
  readonly longReads: LongReads;

  constructor(schema: GraphQLSchema, services: GraphServices, scheduler: Scheduler) {
    this.#services = services;
    this.#scheduler = scheduler;
    this.#snapshots = new ViewerSnapshots(services);
    this.#accessChanges = new AccessChanges(services);
    this.selectsLongField = createFieldCheck(schema, isLongField);
    this.longReads = new LongReads(services, scheduler);
  }

  /** The document took more than one slice the last time, or it selects a long field and has no plan. */
  mayTakeLong(document: DocumentNode, hasPlan = false): boolean {
    // A plan reads a page of a long list as fast as any other page.
    return this.#tookLong.has(document) || (!hasPlan && this.selectsLongField(document));
  }

  read<T>(viewer: Viewer, task: Task, work: Work<T>): PromiseOrValue<T> {
    return this.#withContext(this.#snapshots.open(viewer), { viewer, task }, work);
  }

  /** Null if the response takes more than one slice: then it must be read again with `readLong`, also the next time. */
  readInOneSlice<T>(
    { viewer, request: { document } }: Operation,
    { task, plan, mayReadOnce, ...options }: SliceOptions,
    work: Work<T>,
  ): PromiseOrValue<T | null> {
    const slice = new SingleSlice(task);
    const giveUp = (): null => {
      this.#tookLong.add(document);
      return null;
    };
    return whenFailed(
      () => {
        const opened = this.#snapshots.open(viewer, { plan, mayReadOnce });
        const done = this.#withContext(opened, { ...options, viewer, task: slice }, work);
        return whenDone(done, (result) => (slice.isExceeded ? giveUp() : result));
      },
      (error) => {
        if (!slice.isExceeded) throw error;
        return giveUp();
      },
    );
  }

  /** Waits for a permit of the user, and for the user's turn between two slices. */
  async readLong<T>(
    { viewer, request, signal }: Operation,
    options: ReadOptions,
    work: (context: GraphContext) => Promise<T>,
  ): Promise<T> {
    const opened = await this.longReads.open(viewer.userId, { signal });
    const { task } = opened;
    const result = await this.#withContext(opened, { ...options, viewer, task }, work);
    if (task.yields === 0) this.#tookLong.delete(request.document);
    return result;
  }

  createBudget(): Budget {
    return new Budget(this.#services.limits, this.#elementFields);
  }

  createContext(
    { viewer, position, task, budget = this.createBudget() }: ContextOptions,
    { reader: snapshot, access, position: head, first }: ViewerSnapshot,
  ): GraphContext {
    const reader = yieldingSnapshot(snapshot, task);
    return {
      ...this.#services,
      viewer,
      reader,
      access,
      view: viewTree(reader, access, first),
      position: position ?? head,
      budget,
      task,
      scheduler: this.#scheduler,
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
}

/** The user is not charged while the database opens the snapshot. */
function withoutCharge<T>(waited: PromiseOrValue<T>, task: Task): PromiseOrValue<T> {
  if (!isPromise(waited)) return waited;
  task.pause();
  return waited.finally(() => task.resume());
}
