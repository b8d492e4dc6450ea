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
import type { AccessBook, Latest } from '../access/access-book.ts';
import type { Database, Snapshot } from '../database/database.ts';
import type { FirstRead } from '../folders/folders.ts';
import { createPlaces, type Places } from '../places.ts';
import type { FairTurns, TurnOptions } from './fair-turns.ts';
import type { Pace } from './pace.ts';

export interface LongReads {
  /** Resolves when the user has a permit. Ending the snapshot releases it. */
  open(userId: string, options?: TurnOptions): Promise<LongSnapshot>;
}

/** Rights and data of one moment: everything that one answer reads comes from here. */
export interface ViewerSnapshot extends Latest {
  readonly reader: Snapshot;
  /** What was read of the tree together with the head of the journal. */
  readonly first?: FirstRead | undefined;
}

/** It may be held while the answer waits for its next turn. */
export interface LongSnapshot extends ViewerSnapshot {
  readonly pace: Pace;
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
  accessBook: AccessBook,
  turns: Pick<FairTurns, 'wait'>,
): LongReads {
  const byUser = new Map<string, Places>();

  return {
    open(userId, options) {
      const opened = Promise.withResolvers<LongSnapshot>();
      run(userId, options, async (snapshot, pace) => {
        const standing = await accessBook.accessFor(snapshot, userId);
        const ended = Promise.withResolvers<void>();
        const end = () => {
          snapshot.end();
          ended.resolve();
        };
        pace.restart();
        opened.resolve({ ...standing, reader: { ...snapshot, end }, pace });
        await ended.promise;
      }).catch(opened.reject);
      return opened.promise;
    },
  };

  async function run(
    userId: string,
    options: TurnOptions | undefined,
    work: (snapshot: Snapshot, pace: Pace) => Promise<void>,
  ): Promise<void> {
    const permits = byUser.get(userId) ?? createPlaces(maxPerUser);
    byUser.set(userId, permits);
    try {
      await permits.use(() =>
        turns.wait(
          userId,
          (pace) => {
            // Until the answer begins to read.
            pace.pause();
            return database.snapshot((snapshot) => work(snapshot, pace));
          },
          options,
        ),
      );
    } finally {
      if (permits.taken === 0) byUser.delete(userId);
    }
  }
}
