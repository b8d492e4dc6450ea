/**
 * Snapshots for answers that may take long to read: searches, exports, everything below a folder. Each user has a few
 * permits. The snapshot and its rights are read after the permit is acquired, so no answer waits with old rights.
 */

import {
  getNullableType,
  isListType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import type { AccessCache, LatestAccess } from '../access/access-cache.ts';
import type { Database, Snapshot } from '../database/database.ts';
import type { FirstRead } from '../folders/folders.ts';
import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import type { Scheduler, TaskOptions } from '../concurrency/fair-scheduler.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';

export interface LongReads {
  /** Resolves when the user has a permit. Ending the snapshot releases it. */
  open(userId: string, options?: TaskOptions): Promise<LongSnapshot>;
}

/** Rights and data of one moment: everything that one answer reads comes from here. */
export interface ViewerSnapshot extends LatestAccess {
  readonly reader: Snapshot;
  /** What was read of the tree together with the head of the journal. */
  readonly first?: FirstRead | undefined;
}

/** It may be held while the answer waits for its next turn. */
export interface LongSnapshot extends ViewerSnapshot {
  readonly task: Task;
}

const maxPerUser = 2;

/** Marks a field of the schema as one that may take long. */
export const longField = { isLong: true } as const;

type Field = GraphQLField<unknown, unknown>;

/** An answer that selects such a field is read as a long read. */
export const isLongField = ({ extensions }: Field): boolean => extensions['isLong'] === true;

/** The answer of a mutation that selects a list is read as a long read, because a mutation cannot run twice. */
export const isListField = ({ type }: Field): boolean => isListType(getNullableType(type));

/** Returns a function that checks whether a document selects a matching field. */
export function createFieldCheck(
  schema: GraphQLSchema,
  isSuch: (field: Field, node: FieldNode) => boolean,
): (document: DocumentNode) => boolean {
  const known = new WeakMap<DocumentNode, boolean>();
  return (document) => {
    let found = known.get(document);
    if (found === undefined) {
      found = false;
      const typeInfo = new TypeInfo(schema);
      const enterField = (node: FieldNode) => {
        const field = typeInfo.getFieldDef();
        found ||= !!field && isSuch(field, node);
      };
      visit(document, visitWithTypeInfo(typeInfo, { Field: { enter: enterField } }));
      known.set(document, found);
    }
    return found;
  };
}

export function createLongReads(
  database: Database,
  accessCache: AccessCache,
  turns: Pick<Scheduler, 'schedule'>,
): LongReads {
  const byUser = new Map<string, Semaphore>();

  return {
    open(userId, options) {
      const opened = Promise.withResolvers<LongSnapshot>();
      run(userId, options, async (snapshot, task) => {
        const standing = await accessCache.accessFor(snapshot, userId);
        const ended = Promise.withResolvers<void>();
        const end = () => {
          snapshot.end();
          ended.resolve();
        };
        task.resume();
        opened.resolve({ ...standing, reader: { ...snapshot, end }, task });
        await ended.promise;
      }).catch(opened.reject);
      return opened.promise;
    },
  };

  async function run(
    userId: string,
    options: TaskOptions | undefined,
    work: (snapshot: Snapshot, task: Task) => Promise<void>,
  ): Promise<void> {
    const permits = byUser.get(userId) ?? createSemaphore(maxPerUser);
    byUser.set(userId, permits);
    try {
      await permits.run(() =>
        turns.schedule(
          userId,
          (task) => {
            // Until the answer begins to read.
            task.pause();
            return database.snapshot((snapshot) => work(snapshot, task));
          },
          options,
        ),
      );
    } finally {
      if (permits.running === 0) byUser.delete(userId);
    }
  }
}
