/** Where a page of a list lies in it: https://relay.dev/graphql/connections.htm#sec-undefined.PageInfo */

import { whenDone, type PromiseOrValue } from '../database/database.ts';
import type { Builder } from './builder.ts';

export interface PageInfo {
  readonly hasNextPage: PromiseOrValue<boolean>;
  readonly hasPreviousPage: PromiseOrValue<boolean>;
  readonly startCursor: PromiseOrValue<string | null>;
  readonly endCursor: PromiseOrValue<string | null>;
}

export type PageInfoRef = ReturnType<typeof definePageInfo>;

export function definePageInfo(builder: Builder) {
  return builder.objectRef<PageInfo>('PageInfo').implement({
    description: 'Whether there is more, and where to go on.',
    fields: (t) => ({
      hasNextPage: t.boolean({ resolve: (page) => page.hasNextPage }),
      hasPreviousPage: t.boolean({ resolve: (page) => page.hasPreviousPage }),
      startCursor: t.string({
        nullable: true,
        resolve: ({ startCursor }, _, { budget }, info) =>
          whenDone(startCursor, (cursor) => budget.spendText(cursor, info)),
      }),
      endCursor: t.string({
        nullable: true,
        resolve: ({ endCursor }, _, { budget }, info) =>
          whenDone(endCursor, (cursor) => budget.spendText(cursor, info)),
      }),
    }),
  });
}
