/**
 * Executes mutations. Each root field makes its change through the domain. If the response needs only data that the change
 * itself has read, nothing more is read. Otherwise, the response is read from a snapshot that is opened after the commit, with
 * the rights in that snapshot.
 */

import {
  Kind,
  TypeNameMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import type { Task } from '../concurrency/fair-scheduler.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Snapshot } from '../database/database.ts';
import type { SeenFolder } from '../folders/folder-writes.ts';
import type { Changed } from '../journal/change-runner.ts';
import { identifyChange } from '../journal/idempotency.ts';
import type { JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import type { Budget } from './cost/budget.ts';
import { createFieldCheck, isListField } from './field-marks.ts';
import { tryExecute, type Results } from './graph-results.ts';
import { throwIfStopped, type GraphResult, type Operation } from './operation.ts';
import { ownFields } from './plan/plan-first-read.ts';
import type { GraphContext } from './schema/builder.ts';
import {
  createDomain,
  MutationContext,
  type Domain,
  type MutationField,
  type MutationResponse,
} from './schema/mutation.ts';
import { noSnapshot, type LongSnapshot, type ViewerReads, type ViewerSnapshot } from './viewer-reads.ts';

export class Mutations {
  readonly reads: ViewerReads;
  readonly results: Results;
  readonly domain: Domain;
  readonly selectsList: (document: DocumentNode) => boolean;
  /** Whether the document selects more than the change itself has read. */
  readonly needsRead: (document: DocumentNode) => boolean;

  constructor(reads: ViewerReads, results: Results) {
    this.reads = reads;
    this.results = results;
    this.domain = createDomain(reads.services);
    this.selectsList = createFieldCheck(reads.schema, isListField);
    this.needsRead = createFieldCheck(reads.schema, createReadCheck(reads.schema));
  }

  run(operation: Operation): PromiseOrValue<GraphResult> {
    const execute = (task: Task) => {
      throwIfStopped(operation);
      return new MutationRun(this, operation, task).execute();
    };
    return this.reads.scheduler.runWrite(operation.viewer.userId, execute, { signal: operation.signal });
  }
}

/** Other nodes and subscribers learn of a change within this time. */
const maxFeedWaitMs = 1_000;

/**
 * One request with mutations. graphql-js passes this object to every field as the context. The schema replaces it: a root field
 * gets a `MutationField`, and every field below gets the context of its root field's response.
 */
class MutationRun extends MutationContext {
  readonly #mutations: Mutations;
  readonly #operation: Operation;
  readonly #task: Task;
  /** Shared by the responses of all root fields. */
  readonly #budget: Budget;
  /** By the root field's key in the response. */
  readonly #contexts = new Map<string | number, GraphContext>();
  /** Ends with the request, or when the next root field begins. */
  #snapshot: Snapshot | undefined;
  /** A change was committed without an idempotency key: the client must not retry. */
  #isChanged = false;

  constructor(mutations: Mutations, operation: Operation, task: Task) {
    super();
    this.#mutations = mutations;
    this.#operation = operation;
    this.#task = task;
    this.#budget = mutations.reads.createBudget();
  }

  /** First refuses a viewer who can no longer log in, and a database that is older than before. */
  async execute(): Promise<GraphResult> {
    const { reads, results } = this.#mutations;
    const { viewer, request } = this.#operation;
    await reads.services.accessCache.accessOf(viewer);
    try {
      const done = await tryExecute({ ...request, contextValue: this });
      return results.toResult(done, this.#operation, this.#isChanged);
    } finally {
      this.#endSnapshot();
    }
  }

  /** Called before each root field. graphql-js runs the root fields one after another. */
  beginField({ path, fieldName }: GraphQLResolveInfo, input: unknown): MutationField {
    // A change must not wait for the write lock while the response of an earlier field holds a connection.
    this.#endSnapshot();
    this.#task.pause();
    const { viewer, signal, idempotencyKey: key } = this.#operation;
    const { userId, sessionId, apiKeyId } = viewer;
    const identity =
      key === undefined
        ? undefined
        : identifyChange(viewer, key, { path: String(path.key), name: fieldName, input });
    return {
      domain: this.#mutations.domain,
      caller: { userId, sessionId, apiKeyId, signal, identity },
      task: this.#task,
      openResponse: async (commitInfo, seen) => {
        // With a key, the client may retry.
        if (!identity) this.#isChanged = true;
        const response = await this.#openResponse(commitInfo, seen);
        this.#contexts.set(path.key, response.context);
        return response;
      },
    };
  }

  contextFor({ path }: GraphQLResolveInfo): GraphContext {
    let root = path;
    while (root.prev) root = root.prev;
    return this.#contexts.get(root.key)!;
  }

  async #openResponse(
    { position, accessNumber }: Omit<Changed<unknown>, 'result'>,
    seen: SeenFolder | undefined,
  ): Promise<MutationResponse> {
    const { reads, needsRead } = this.#mutations;
    const { viewer, request } = this.#operation;
    const { number } = position;
    const { feed } = reads.services;
    // A client that ended a session must not find it active afterwards. No snapshot is open during this wait.
    if (feed.last < number) await feed.waitForEntry(number - 1, AbortSignal.timeout(maxFeedWaitMs));
    const isSeen = seen && accessNumber !== undefined && !needsRead(request.document);
    const opened = isSeen
      ? { task: this.#task, ...snapshotOfChange(seen, { ...position, accessNumber }) }
      : await this.#openSnapshot(number);
    const options = { viewer, task: opened.task, position, budget: this.#budget };
    return {
      context: reads.createContext(options, opened),
      isLatest: opened.position.number === number,
      isAccessSame: opened.position.accessNumber === accessNumber,
    };
  }

  async #openSnapshot(number: number): Promise<LongSnapshot> {
    const { reads, selectsList } = this.#mutations;
    const { database, accessCache } = reads.services;
    const { viewer, request } = this.#operation;
    // A mutation cannot be executed again, so a list is always a long read.
    const isLong = reads.selectsLongField(request.document) || selectsList(request.document);
    try {
      const opened = isLong ? await reads.openLong(this.#operation) : undefined;
      const reader = (this.#snapshot = opened?.reader ?? database.openSnapshot());
      const latest = opened ?? (await accessCache.accessFor(reader, viewer));
      // The snapshot is on a replica that does not have the change yet.
      if (latest.position.number < number) throw database.reportStale();
      return { task: this.#task, ...latest, reader };
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      // For example, because an API key has revoked itself.
      if (cause.code === 'INVALID_AUTH_TOKEN') {
        throw new Refusal(
          cause.code,
          `The change was made, but you cannot read its result. ${cause.message}`,
        );
      }
      if (cause.code !== 'UNAVAILABLE') throw cause;
      const { retryAfterSeconds } = cause.details;
      throw new Refusal(
        'UNAVAILABLE',
        'The change was made, but the server cannot read its result now. Read it with a query.',
        {
          cause,
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        },
      );
    }
  }

  /** After this, unfinished fields of an earlier response can no longer read. */
  #endSnapshot(): void {
    this.#snapshot?.end();
    this.#snapshot = undefined;
  }
}

/** The state that the change itself has read. */
function snapshotOfChange({ access, rows }: SeenFolder, head: JournalHead): ViewerSnapshot {
  return { reader: noSnapshot, access, position: head, first: { head, rows, parents: rows } };
}

/** The fields that `createFolder` and `updateFolder` have read during the change, by type. */
const fieldsReadByChange: Readonly<Record<string, readonly string[]>> = {
  Mutation: ['createFolder', 'updateFolder'],
  CreateFolderPayload: ['folder', 'cursor'],
  UpdateFolderPayload: ['folder', 'cursor'],
  Folder: ownFields,
};

/** Returns a function that checks whether a mutation has to read a field after the change. */
function createReadCheck(
  schema: GraphQLSchema,
): (field: GraphQLField<unknown, unknown>, node: FieldNode) => boolean {
  const readFields = new Set<GraphQLField<unknown, unknown>>([TypeNameMetaFieldDef]);
  for (const [type, names] of Object.entries(fieldsReadByChange)) {
    const fields = (schema.getType(type) as GraphQLObjectType).getFields();
    for (const name of names) readFields.add(fields[name]!);
  }
  return (field, node) => !readFields.has(field) || (field.name === 'parent' && !selectsOnlyId(node));
}

function selectsOnlyId({ selectionSet }: FieldNode): boolean {
  return selectionSet!.selections.every(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === 'id',
  );
}
