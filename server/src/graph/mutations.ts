/**
 * Executes mutations. Each root field makes its change through the domain. Its response is what the change itself has read, if
 * nothing else is selected. Otherwise it is read from a snapshot that is opened after the commit, with the rights in it.
 */

import type { DocumentNode, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { manageGroups, type Groups } from '../accounts/group-management.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Snapshot } from '../database/database.ts';
import { stepsOf } from '../folders/first-read.ts';
import { manageFolders, type Folders, type SeenFolder } from '../folders/manage-folders.ts';
import { manageGrants, type Grants } from '../folders/folder-access.ts';
import { Changes, type Caller, type Changed } from '../journal/changes.ts';
import { identifyChange } from '../journal/idempotency.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import type { JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  managePasswords,
  manageUsers,
  type PasswordChanges,
  type Users,
} from '../sessions/user-management.ts';
import { manageSessions, type SessionRevocations } from '../sessions/revocation.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import type { Budget } from './cost/budget.ts';
import { createFieldCheck, isListField } from './document-fields.ts';
import { tryExecute, type Results } from './graph-results.ts';
import type { GraphResult } from './graph-stream.ts';
import { requireMayBegin, type Operation } from './operation.ts';
import type { ViewerReads } from './viewer-reads.ts';
import type { Scheduler, Task } from '../concurrency/fair-scheduler.ts';
import { noSnapshot, type LongSnapshot, type ViewerSnapshot } from './viewer-snapshots.ts';

export interface Domain {
  readonly folders: Folders;
  readonly grants: Grants;
  readonly groups: Groups;
  readonly users: Users;
  readonly passwords: PasswordChanges;
  readonly sessions: SessionRevocations;
}

export function createDomain(services: GraphServices): Domain {
  const { database, clock, accessCache, limits } = services;
  const changes = new Changes({ database, clock, rights: accessCache });
  return {
    folders: manageFolders(changes, limits),
    grants: manageGrants(changes),
    groups: manageGroups(changes),
    users: manageUsers(changes, services),
    passwords: managePasswords(changes, services),
    sessions: manageSessions(changes),
  };
}

export interface MutationServices extends Pick<GraphServices, 'database' | 'accessCache' | 'feed'> {
  readonly domain: Domain;
  readonly reads: ViewerReads;
  readonly results: Results;
  readonly selectsList: (document: DocumentNode) => boolean;
  /** The document selects more than the change itself has read. */
  readonly needsRead: (document: DocumentNode) => boolean;
}

export interface MutationOptions extends Pick<MutationServices, 'reads' | 'results' | 'needsRead'> {
  readonly schema: GraphQLSchema;
  readonly services: GraphServices;
  readonly scheduler: Scheduler;
}

/** Returns a function that executes an operation with mutations. */
export function createMutations({ schema, services, scheduler, ...others }: MutationOptions) {
  const mutationServices: MutationServices = {
    ...services,
    ...others,
    domain: createDomain(services),
    selectsList: createFieldCheck(schema, isListField),
  };
  return (operation: Operation): PromiseOrValue<GraphResult> => {
    const execute = (task: Task) => {
      requireMayBegin(operation);
      return new MutationRun(mutationServices, operation, task).execute();
    };
    return scheduler.runWrite(operation.viewer.userId, execute, { signal: operation.signal });
  };
}

/** Other nodes and subscribers learn of a change within this time. */
const maxFeedWaitMs = 1_000;

/**
 * One request with mutations. graphql-js passes it to every field as the context, and the schema replaces it: a root field gets
 * a `MutationField`, and every field below gets the context of its root field's response.
 */
export class MutationRun {
  readonly services: MutationServices;
  readonly operation: Operation;
  readonly task: Task;
  /** Shared by the responses of all root fields. */
  readonly #budget: Budget;
  /** By the root field's key in the response. */
  readonly #contexts = new Map<string | number, GraphContext>();
  #snapshot: Snapshot | undefined;
  /** A change was committed without an idempotency key: the client must not retry. */
  isChanged = false;

  constructor(services: MutationServices, operation: Operation, task: Task) {
    this.services = services;
    this.operation = operation;
    this.task = task;
    this.#budget = services.reads.createBudget();
  }

  /** First refuses a viewer who can no longer log in, and a database that is older than before. */
  async execute(): Promise<GraphResult> {
    const { accessCache, results } = this.services;
    const { query, viewer, request } = this.operation;
    await accessCache.accessOf(viewer.userId);
    try {
      return results.toResult(await tryExecute({ ...request, contextValue: this }), query, this);
    } finally {
      this.#endSnapshot();
    }
  }

  /** Called before each root field: graphql-js runs one after the other. */
  beginField({ path, fieldName }: GraphQLResolveInfo, input: unknown): MutationField {
    // A change must not wait for its turn while the response of an earlier field holds a connection.
    this.#endSnapshot();
    this.task.pause();
    const { viewer, signal, idempotencyKey: key } = this.operation;
    const { userId, sessionId } = viewer;
    const identity =
      key === undefined
        ? undefined
        : identifyChange(userId, key, { path: String(path.key), name: fieldName, input });
    return new MutationField(this, path.key, { userId, sessionId, signal, identity });
  }

  contextFor({ path }: GraphQLResolveInfo): GraphContext {
    let root = path;
    while (root.prev) root = root.prev;
    return this.#contexts.get(root.key)!;
  }

  createContext(
    key: string | number,
    snapshot: ViewerSnapshot,
    { task, position }: { readonly task: Task; readonly position: JournalPosition },
  ): GraphContext {
    const { viewer } = this.operation;
    const context = this.services.reads.createContext(
      { viewer, task, position, budget: this.#budget },
      snapshot,
    );
    this.#contexts.set(key, context);
    return context;
  }

  /** The snapshot ends with the request, or when the next root field begins. */
  holdSnapshot(snapshot: Snapshot): Snapshot {
    return (this.#snapshot = snapshot);
  }

  /** Fields of an earlier response that still run cannot read after this. */
  #endSnapshot(): void {
    this.#snapshot?.end();
    this.#snapshot = undefined;
  }
}

/** What happened between the commit of a change and the snapshot of its response. */
export interface SinceCommit {
  /** No other change. */
  readonly isLatest: boolean;
  /** No change of access, and no folder was moved, deleted or restored. */
  readonly isAccessSame: boolean;
}

/** One root field of a mutation. */
class MutationField {
  readonly #run: MutationRun;
  readonly #key: string | number;
  readonly caller: Caller;

  constructor(run: MutationRun, key: string | number, caller: Caller) {
    this.#run = run;
    this.#key = key;
    this.caller = caller;
  }

  get domain(): Domain {
    return this.#run.services.domain;
  }

  get task(): Task {
    return this.#run.task;
  }

  /** Opens the snapshot that the response is read from. None is needed if the change has read the whole response: `seen`. */
  async openResponse(
    { position, accessNumber }: Omit<Changed<unknown>, 'result'>,
    seen: SeenFolder | undefined,
  ): Promise<{ readonly context: GraphContext; readonly since: SinceCommit }> {
    const { number } = position;
    const { services, operation, task } = this.#run;
    // With a key, the client may retry.
    if (!this.caller.identity) this.#run.isChanged = true;
    const { feed } = services;
    // A client that ended a session must not find it alive afterwards. No snapshot is open while this waits.
    if (feed.last < number) await feed.waitFor(number - 1, AbortSignal.timeout(maxFeedWaitMs));
    if (seen && accessNumber !== undefined && !services.needsRead(operation.request.document)) {
      const snapshot = snapshotOfChange(seen, { ...position, accessNumber });
      const context = this.#run.createContext(this.#key, snapshot, { task, position });
      return { context, since: nothingSince };
    }
    const opened = await this.#openSnapshot(number);
    const context = this.#run.createContext(this.#key, opened, { task: opened.task, position });
    const since = {
      isLatest: opened.position.number === number,
      isAccessSame: opened.position.accessNumber === accessNumber,
    };
    return { context, since };
  }

  async #openSnapshot(number: number): Promise<LongSnapshot> {
    const { database, accessCache, reads, selectsList } = this.#run.services;
    const { viewer, signal, request } = this.#run.operation;
    // A mutation cannot be executed again, so a list is always a long read.
    const isLong = reads.selectsLongField(request.document) || selectsList(request.document);
    try {
      const opened = isLong ? await reads.longReads.open(viewer.userId, { signal }) : undefined;
      const reader = this.#run.holdSnapshot(opened?.reader ?? database.openSnapshot());
      const latest = opened ?? (await accessCache.accessFor(reader, viewer.userId));
      // The connection leads to a replica that does not have the change yet.
      if (latest.position.number < number) throw database.reportOutdated();
      return { task: this.#run.task, ...latest, reader };
    } catch (cause) {
      if (!(cause instanceof Refusal && cause.code === 'UNAVAILABLE')) throw cause;
      const { retryAfterSeconds } = cause.details;
      throw new Refusal('UNAVAILABLE', 'The change has been made, but cannot be shown right now.', {
        cause,
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      });
    }
  }
}

const nothingSince: SinceCommit = { isLatest: true, isAccessSame: true };

/** The state that the change itself has read. */
function snapshotOfChange({ access, rows }: SeenFolder, head: JournalHead): ViewerSnapshot {
  return { reader: noSnapshot, access, position: head, first: { head, rows, steps: stepsOf(rows) } };
}

/** The resolver of a root field: makes the change, then creates the payload in the context of the response. */
export async function change<T, Payload>(
  rootContext: GraphContext,
  make: (domain: Domain, caller: Caller, task: Task) => Promise<Changed<T>>,
  toPayload: (result: T, context: GraphContext, since: SinceCommit) => PromiseOrValue<Payload>,
  seenIn: (result: T) => SeenFolder | undefined = () => undefined,
): Promise<Payload> {
  // The resolvers have one type of context; the schema passes this one to the root fields of mutations.
  const field = rootContext as unknown as MutationField;
  const { result, ...made } = await make(field.domain, field.caller, field.task);
  const { context, since } = await field.openResponse(made, seenIn(result));
  return toPayload(result, context, since);
}
