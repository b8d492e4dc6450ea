/**
 * The Pothos schema builder, the types that several files refer to, and the context that every resolver receives. The other files
 * of this folder add their types to the builder when `schema.ts` imports them.
 */

import SchemaBuilder, { type ImplementableObjectRef, type ObjectRef } from '@pothos/core';
import { GraphQLError } from 'graphql';
import type { AccessCache } from '../../access/access-cache.ts';
import { accessLevels, type Access, type AccessLevel as AccessLevelValue } from '../../access/access.ts';
import type { Group as GroupRow } from '../../accounts/groups.ts';
import type { Passwords } from '../../accounts/passwords.ts';
import type { Clock } from '../../clock.ts';
import type { DisplayedSetting } from '../../config/setting.ts';
import type { Database, Snapshot } from '../../database/database.ts';
import type { AccessChanges } from '../../folders/change-feed/access-changes.ts';
import type { TreeView } from '../../folders/tree-view.ts';
import type { JournalPosition } from '../../journal/journal-entry.ts';
import type { JournalFeed } from '../../journal/journal-feed.ts';
import type { Activity } from '../../observability/activity.ts';
import type { Gauges } from '../../observability/gauges.ts';
import type { HealthCheck } from '../../observability/health.ts';
import type { LoginThrottle } from '../../sessions/login-throttle.ts';
import type { SingleSignOn } from '../../sessions/single-sign-on/single-sign-on.ts';
import type { SecondFactorServices } from '../../sessions/second-factors/second-factor-services.ts';
import type { ViewTokens } from '../../sessions/view-as.ts';
import type { Scheduler, Task } from '../../concurrency/fair-scheduler.ts';
import type { Budget } from '../cost/budget.ts';
import type { Limits } from '../cost/limits.ts';
import type { Connection, PageInfo as PageInfoShape } from './connections/relay-connection.ts';
import type { FolderNode } from './folders/folder-batch.ts';
import type { ApiKeyNode } from './people/api-key-batch.ts';
import type { SessionNode, UserNode } from './people/people-batch.ts';
import type { Viewer } from '../../sessions/auth-token.ts';

/** The state of the node that responds, for administrators. */
export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  /** The name of the machine. */
  readonly node: string;
  readonly databaseKind: 'SQLITE' | 'POSTGRESQL';
  readonly settings: readonly DisplayedSetting[];
  readonly refreshTokenSeconds: number;
  readonly activity: Activity;
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
  readonly readGauges: () => Promise<Gauges>;
}

/** The services that all requests share. */
export interface GraphServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly accessCache: AccessCache;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly secondFactors: SecondFactorServices;
  readonly viewTokens: Pick<ViewTokens, 'issue'>;
  /** Undefined if single sign-on is not configured. */
  readonly singleSignOn?: Pick<SingleSignOn, 'readCode'> | undefined;
  readonly feed: JournalFeed;
  readonly limits: Limits;
  /** How long a deleted folder can be restored. */
  readonly trashDays: number;
  readonly server: ServerFacts;
}

export interface GraphContext extends GraphServices {
  readonly viewer: Viewer;
  /** The snapshot that the response is read from. */
  readonly reader: Snapshot;
  /** The viewer's rights in that snapshot, and the part of the tree that the viewer may see. */
  readonly access: Access;
  readonly view: TreeView;
  /** The last journal entry before the response was read; after a mutation, the entry of that mutation. */
  readonly position: JournalPosition;
  readonly budget: Budget;
  /** The task that reads and completes the response. */
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

export type ExtendedTypes = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;
/** An object type of the schema. `Shape` is its TypeScript type. */
export type ObjectRefOf<Shape> = ObjectRef<ExtendedTypes, Shape>;
/** An object type whose fields are defined later, for types that refer to each other. */
export type NamedRefOf<Shape> = ImplementableObjectRef<ExtendedTypes, Shape>;

export const builder = new SchemaBuilder<GraphTypes>({ defaultFieldNullability: false });

builder.scalarType('DateTime', {
  description:
    'A date and time in the format of RFC 3339. For example: 2026-01-31T12:00:00.000Z. The server returns UTC, and accepts any offset.',
  serialize: (milliseconds) => new Date(milliseconds).toISOString(),
  parseValue: toMilliseconds,
});
builder.scalarType('JSON', {
  description: 'Any JSON value. For example: {"area": 120, "tags": ["north"]}.',
  serialize: (text) => JSON.parse(text) as unknown,
  parseValue: (value) => value as NonNullable<unknown> | null,
});

builder.queryType({
  description: 'Each query reads one consistent state of the tree, with your rights at that moment.',
});
builder.mutationType({
  description: 'Each mutation runs in its own transaction. Several mutations in one request run in order.',
});
builder.subscriptionType({ description: 'Subscriptions run over a WebSocket or as server-sent events.' });

export const AccessLevel = builder.enumType('AccessLevel', {
  description: 'The access level of a user on a folder. Each level includes the levels before it.',
  values: {
    NONE: {
      value: accessLevels.NONE,
      description:
        'No access. You may still see the name of the folder, if it is an ancestor of a folder that you may read.',
    },
    READ: { value: accessLevels.READ, description: 'See the folder and the folders inside it.' },
    WRITE: { value: accessLevels.WRITE, description: 'Change the folder and the folders inside it.' },
    MANAGE: { value: accessLevels.MANAGE, description: 'Grant and revoke access.' },
  } satisfies Record<string, { value: AccessLevelValue; description: string }>,
});

// These types refer to each other, so they exist before their fields are defined.
export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo');
export const Node = builder.interfaceRef<FolderNode>('Node');
export const Folder = builder.objectRef<FolderNode>('Folder');
export const FolderConnection = builder.objectRef<Connection<FolderNode>>('FolderConnection');
export const User = builder.objectRef<UserNode>('User');
export const UserConnection = builder.objectRef<Connection<UserNode>>('UserConnection');
export const Group = builder.objectRef<GroupRow>('Group');
export const GroupConnection = builder.objectRef<Connection<GroupRow>>('GroupConnection');
export const Session = builder.objectRef<SessionNode>('Session');
export const ApiKey = builder.objectRef<ApiKeyNode>('ApiKey');
export const ApiKeyConnection = builder.objectRef<Connection<ApiKeyNode>>('ApiKeyConnection');
export const SessionConnection = builder.objectRef<Connection<SessionNode>>('SessionConnection');

function toMilliseconds(value: unknown): number {
  const isInstant =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(value);
  const milliseconds = isInstant ? Date.parse(value) : NaN;
  if (Number.isNaN(milliseconds)) {
    throw new GraphQLError('A DateTime must have the format of RFC 3339, for example 2026-01-31T12:00:00Z.');
  }
  return milliseconds;
}
