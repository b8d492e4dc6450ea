/** The Pothos schema builder and the context that every resolver receives. */

import SchemaBuilder, {
  type ImplementableObjectRef,
  type InputObjectRef,
  type ObjectRef,
} from '@pothos/core';
import { GraphQLError } from 'graphql';
import type { AccessCache } from '../../access/access-cache.ts';
import type { Access } from '../../access/access.ts';
import type { Passwords } from '../../accounts/passwords.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Snapshot } from '../../database/database.ts';
import type { AccessChanges } from '../../folders/changes/access-changes.ts';
import type { TreeView } from '../../folders/folders.ts';
import type { JournalPosition } from '../../journal/journal-entry.ts';
import type { JournalFeed } from '../../journal/journal-feed.ts';
import type { LoginThrottle } from '../../sessions/login-throttle.ts';
import type { Scheduler, Task } from '../../concurrency/fair-scheduler.ts';
import type { Budget } from '../cost/budget.ts';
import type { Limits } from '../cost/limits.ts';
import type { ServerFacts } from './server/server-info.ts';
import type { Viewer } from '../../sessions/viewer.ts';

/** The services that all requests share. */
export interface GraphServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly accessCache: AccessCache;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly feed: JournalFeed;
  readonly limits: Limits;
  readonly server: ServerFacts;
}

export interface GraphContext extends GraphServices {
  readonly viewer: Viewer;
  /** The snapshot that the response is read from. */
  readonly reader: Snapshot;
  /** The viewer's rights in that snapshot, and the part of the tree that they may see. */
  readonly access: Access;
  readonly view: TreeView;
  /** The last journal entry before the response was read; after a mutation, the entry of that mutation. */
  readonly position: JournalPosition;
  readonly budget: Budget;
  /** At which the answer is read and completed. */
  readonly task: Task;
  readonly scheduler: Scheduler;
  /** Shared by the subscriptions of each viewer. */
  readonly accessChanges: AccessChanges;
}

export interface GraphTypes {
  Context: GraphContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: number };
    /** The database returns JSON as text. */
    JSON: { Input: NonNullable<unknown> | null; Output: string };
  };
  DefaultFieldNullability: false;
}

export type Builder = ReturnType<typeof createBuilder>;

export type ExtendedTypes = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;
/** An object type of the schema. `Shape` is its TypeScript type. */
export type ObjectRefOf<Shape> = ObjectRef<ExtendedTypes, Shape>;
/** An object type whose fields are defined later, for types that refer to each other. */
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

/** A function for `type` or `input` puts the type after all others of its kind in the schema text. */
interface Mutation<Input extends object, Payload> {
  readonly type: ObjectRefOf<Payload> | (() => ObjectRefOf<Payload>);
  readonly input: InputObjectRef<ExtendedTypes, Input> | (() => InputObjectRef<ExtendedTypes, Input>);
  readonly description: string;
  readonly resolve: (input: Input, context: GraphContext) => Promise<Payload>;
}

/**
 * Adds a field to Mutation. It takes one argument, `input`. It can be null: an error in one mutation must not remove the results
 * of the mutations before it.
 */
export function defineMutation<Input extends object, Payload>(
  builder: Builder,
  name: string,
  { type, input, description, resolve }: Mutation<Input, Payload>,
): void {
  builder.mutationField(name, (t) => {
    // Pothos cannot resolve the types of a generic payload and a generic input.
    const payload: ObjectRefOf<unknown> = typeof type === 'function' ? type() : type;
    return t.field({
      type: payload,
      nullable: true,
      description,
      args: { input: t.arg({ type: typeof input === 'function' ? input() : input, required: true }) },
      resolve: (_, args, context) => resolve((args as unknown as { input: Input }).input, context),
    });
  });
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
