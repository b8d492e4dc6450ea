/**
 * Runs mutations. Each root field makes its change through the domain. Then it answers with what the change has read, if that is all
 * that is selected, or reads its answer from a snapshot that is opened after the commit, with the rights of that snapshot.
 */

import type { GraphQLResolveInfo } from 'graphql';
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
import { managePasswords, type PasswordChanges } from '../sessions/user-management.ts';
import { manageSessions, type SessionRevocations } from '../sessions/revocation.ts';
import { manageUsers, type Users } from '../sessions/user-management.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import type { LongReads, ViewerSnapshot } from './document-fields.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { noSnapshot } from './viewer-snapshots.ts';
import type { Viewer } from '../sessions/viewer.ts';

/** What can be changed. */
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

/** What every mutation request needs. */
export interface MutationServices extends Pick<GraphServices, 'database' | 'accessCache' | 'feed'> {
  readonly domain: Domain;
  readonly longReads: LongReads;
}

export interface MutationRequest {
  readonly viewer: Viewer;
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey: string | undefined;
  /** The document selects a long field or a list: each answer waits for a permit of `longReads`. */
  readonly isLong: boolean;
  /** The document selects only what the change itself has read. */
  readonly needsNoRead: boolean;
  readonly task: Task;
  /** The context in which an answer is read. */
  readonly createContext: (snapshot: ViewerSnapshot, task: Task, position: JournalPosition) => GraphContext;
}

/** Other nodes and subscribers learn of a change within this time. */
const maxFeedWaitMs = 1_000;

/**
 * One request with mutations. graphql-js passes it to every field as the context; the schema exchanges it: a root field gets a
 * `MutationField`, and every field below gets the context of its root field's answer.
 */
export class MutationRun {
  readonly services: MutationServices;
  readonly request: MutationRequest;
  /** By the root field's key in the response. */
  readonly #answers = new Map<string | number, GraphContext>();
  #snapshot: Snapshot | undefined;
  /** A change has been made and committed without an idempotency key: the client must not try again. */
  isChanged = false;

  constructor(services: MutationServices, request: MutationRequest) {
    this.services = services;
    this.request = request;
  }

  /** Called before each root field: graphql-js runs one after the other. */
  beginField({ path, fieldName }: GraphQLResolveInfo, input: unknown): MutationField {
    // A change must not wait for its turn while an earlier answer holds a connection.
    this.end();
    const { viewer, signal, idempotencyKey: key, task } = this.request;
    task.pause();
    const requested = { path: String(path.key), name: fieldName, input };
    const identity = key === undefined ? undefined : identifyChange(viewer.userId, key, requested);
    const { userId, sessionId } = viewer;
    return new MutationField(this, path.key, { userId, sessionId, signal, identity });
  }

  contextFor({ path }: GraphQLResolveInfo): GraphContext {
    let root = path;
    while (root.prev) root = root.prev;
    return this.#answers.get(root.key)!;
  }

  setAnswer(key: string | number, context: GraphContext): void {
    this.#answers.set(key, context);
  }

  /** The snapshot ends with the request, or when the next root field begins. */
  holdSnapshot(snapshot: Snapshot): Snapshot {
    return (this.#snapshot = snapshot);
  }

  /** Fields of an earlier answer that still run cannot read any more. */
  end(): void {
    this.#snapshot?.end();
    this.#snapshot = undefined;
  }
}

/**
 * First refuses a viewer who can no longer log in, and a database that is older than before. Ends the last snapshot when the
 * response is there.
 */
export async function runMutation<T>(run: MutationRun, work: () => PromiseOrValue<T>): Promise<T> {
  await run.services.accessCache.accessOf(run.request.viewer.userId);
  try {
    return await work();
  } finally {
    run.end();
  }
}

/** What happened between the commit of a change and the snapshot of its answer. */
export interface Since {
  /** No other change. */
  readonly isLatest: boolean;
  /** No change of access, and no folder was moved, deleted or restored. */
  readonly isAccessSame: boolean;
}

interface OpenedAnswer {
  readonly answer: GraphContext;
  readonly since: Since;
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
    return this.#run.request.task;
  }

  /** Opens the snapshot that the answer is read from. None is needed if the change has read the whole answer: `seen`. */
  async openAnswer(
    { position, accessNumber }: Omit<Changed<unknown>, 'result'>,
    seen: SeenFolder | undefined,
  ): Promise<OpenedAnswer> {
    const { number } = position;
    const { services, request } = this.#run;
    // With a key, the client may try again.
    if (!this.caller.identity) this.#run.isChanged = true;
    const { feed } = services;
    // A client that ended a session must not find it alive afterwards. No snapshot is open while this waits.
    if (feed.last < number) await feed.waitFor(number - 1, AbortSignal.timeout(maxFeedWaitMs));
    if (seen && accessNumber !== undefined && request.needsNoRead) {
      const snapshot = momentOf(seen, { ...position, accessNumber });
      const answer = request.createContext(snapshot, request.task, position);
      this.#run.setAnswer(this.#key, answer);
      return { answer, since: nothingSince };
    }
    const { task, ...snapshot } = await this.#openSnapshot(number);
    const answer = request.createContext(snapshot, task, position);
    this.#run.setAnswer(this.#key, answer);
    const since = {
      isLatest: snapshot.position.number === number,
      isAccessSame: snapshot.position.accessNumber === accessNumber,
    };
    return { answer, since };
  }

  async #openSnapshot(number: number): Promise<ViewerSnapshot & { readonly task: Task }> {
    const { database, accessCache, longReads } = this.#run.services;
    const { isLong, viewer, signal, task } = this.#run.request;
    try {
      const opened = isLong ? await longReads.open(viewer.userId, { signal }) : undefined;
      const reader = this.#run.holdSnapshot(opened?.reader ?? database.openSnapshot());
      const latest = opened ?? (await accessCache.accessFor(reader, viewer.userId));
      // The connection leads to a copy that does not have the change yet.
      if (latest.position.number < number) throw database.reportOutdated();
      return { task, ...latest, reader };
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

const nothingSince: Since = { isLatest: true, isAccessSame: true };

/** The moment of the change itself. */
function momentOf({ access, rows }: SeenFolder, head: JournalHead): ViewerSnapshot {
  return { reader: noSnapshot, access, position: head, first: { head, rows, steps: stepsOf(rows) } };
}

/** The resolver of a root field: makes the change, then the payload from the context of the answer. */
export async function change<T, Payload>(
  context: GraphContext,
  make: (domain: Domain, caller: Caller, task: Task) => Promise<Changed<T>>,
  toPayload: (result: T, answer: GraphContext, since: Since) => PromiseOrValue<Payload>,
  seenIn: (result: T) => SeenFolder | undefined = () => undefined,
): Promise<Payload> {
  // The resolvers have one type of context; the schema passes this one to the root fields of mutations.
  const field = context as unknown as MutationField;
  const { result, ...made } = await make(field.domain, field.caller, field.task);
  const { answer, since } = await field.openAnswer(made, seenIn(result));
  return toPayload(result, answer, since);
}
