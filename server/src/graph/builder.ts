/** The schema builder, and what every resolver is handed. */

import SchemaBuilder from '@pothos/core';
import type { AccessBook } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import type { Passwords } from '../accounts/passwords.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { FolderBudget } from './folder-budget.ts';
import type { Viewer } from './viewer.ts';

/** What the graph works with, for every request the same. */
export interface GraphServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly accessBook: AccessBook;
  readonly passwords: Passwords;
}

export interface GraphContext extends GraphServices {
  readonly viewer: Viewer;
  /** What the viewer may see and do; a mutation renews it. */
  access: Access;
  readonly budget: FolderBudget;
}

export interface GraphTypes {
  Context: GraphContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: number };
  };
  DefaultFieldNullability: false;
}

export type Builder = ReturnType<typeof createBuilder>;

export function createBuilder() {
  const builder = new SchemaBuilder<GraphTypes>({ defaultFieldNullability: false });
  builder.scalarType('DateTime', {
    description: 'An instant as RFC 3339 writes it, in UTC: 2026-01-31T12:00:00.000Z',
    serialize: (milliseconds) => new Date(milliseconds).toISOString(),
  });
  return builder;
}
