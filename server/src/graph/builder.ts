/** The schema builder, and what every resolver is handed. */

import SchemaBuilder, { type ImplementableObjectRef, type ObjectRef } from '@pothos/core';
import { GraphQLError } from 'graphql';
import type { AccessBook } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import type { Passwords } from '../accounts/passwords.ts';
import type { Clock } from '../clock.ts';
import type { Database, Snapshot } from '../database/database.ts';
import type { AccessChanges } from '../folders/access-changes.ts';
import type { TreeView } from '../folders/folders.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import type { LoginThrottle } from '../sessions/login-throttle.ts';
import type { FairTurns } from './fair-turns.ts';
import type { Pace } from './pace.ts';
import type { Budget } from './price/budget.ts';
import type { Limits } from './price/limits.ts';
import type { ServerFacts } from './server/server-facts.ts';
import type { Viewer } from './viewer.ts';

/** What the graph works with, for every request the same. */
export interface GraphServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly accessBook: AccessBook;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly feed: JournalFeed;
  readonly limits: Limits;
  readonly server: ServerFacts;
}

export interface GraphContext extends GraphServices {
  readonly viewer: Viewer;
  /** The snapshot that the answer is read from. */
  readonly reader: Snapshot;
  /** The viewer's rights in that snapshot, and the tree as they see it there. */
  readonly access: Access;
  readonly view: TreeView;
  /** Where the journal had got to before anything of the answer was read; after a mutation, its entry. */
  readonly place: JournalPlace;
  readonly budget: Budget;
  /** At which the answer is read and completed. */
  readonly pace: Pace;
  readonly fairTurns: FairTurns;
  /** Shared by the subscriptions of each viewer. */
  readonly accessChanges: AccessChanges;
}

export interface GraphTypes {
  Context: GraphContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: number };
    /** Out of the database it comes as text. */
    JSON: { Input: NonNullable<unknown> | null; Output: string };
  };
  DefaultFieldNullability: false;
}

export type Builder = ReturnType<typeof createBuilder>;

type ExtendedTypes = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;
/** An object type of the schema; `Shape` is what stands for it in the code. */
export type ObjectRefOf<Shape> = ObjectRef<ExtendedTypes, Shape>;
/** One that has a name and waits for its fields: types that refer to each other need one of them to. */
export type NamedRefOf<Shape> = ImplementableObjectRef<ExtendedTypes, Shape>;

export function createBuilder() {
  const builder = new SchemaBuilder<GraphTypes>({ defaultFieldNullability: false });
  builder.scalarType('DateTime', {
    description: 'An instant as RFC 3339 writes it, in UTC: 2026-01-31T12:00:00.000Z',
    serialize: (milliseconds) => new Date(milliseconds).toISOString(),
    parseValue: toMilliseconds,
  });
  builder.scalarType('JSON', {
    description: 'Any JSON value.',
    serialize: (text) => JSON.parse(text) as unknown,
    parseValue: (value) => value as NonNullable<unknown> | null,
  });
  return builder;
}

function toMilliseconds(value: unknown): number {
  const isInstant =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(value);
  const milliseconds = isInstant ? Date.parse(value) : NaN;
  if (Number.isNaN(milliseconds)) {
    throw new GraphQLError('An instant is written as RFC 3339 has it, for example 2026-01-31T12:00:00Z.');
  }
  return milliseconds;
}
