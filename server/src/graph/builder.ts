/** The schema builder, and what every resolver is handed. */

import SchemaBuilder from '@pothos/core';
import type { Reader } from '../database/database.ts';
import type { FolderBudget } from './folder-budget.ts';
import type { Viewer } from './viewer.ts';

export interface GraphContext {
  readonly reader: Reader;
  readonly viewer: Viewer;
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
