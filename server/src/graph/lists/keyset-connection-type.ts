/** The graph's types of a list in the order of a key: its connection and its edge. */

import { whenDone } from '../../database/database.ts';
import type { Builder, ObjectRefOf } from '../builder.ts';
import {
  defaultPageSize,
  mostPageSize,
  type KeysetConnection,
  type KeysetEdge,
} from './keyset-connection.ts';
import { inPortions } from '../pace.ts';
import type { PageInfoRef } from '../page-info.ts';

export function defineKeysetConnection<Node>(
  builder: Builder,
  { PageInfo, Node, plural }: { PageInfo: PageInfoRef; Node: ObjectRefOf<Node>; plural: string },
) {
  const Edge = builder.objectRef<KeysetEdge<Node>>(`${Node.name}Edge`);
  const nodeRef = Node as ObjectRefOf<unknown>;

  Edge.implement({
    description: `One of a list of ${plural}, and its place there.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor'),
      node: t.field({ type: nodeRef, resolve: ({ node }) => node }),
    }),
  });

  return builder.objectRef<KeysetConnection<Node>>(`${Node.name}Connection`).implement({
    description: `A list of ${plural}, or a page of it.`,
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        resolve: ({ edges }, _, context, info) =>
          whenDone(edges, (all) => inPortions(context.budget.spend(all, info), context, info)),
      }),
      items: t.field({
        type: [nodeRef],
        description: 'The nodes of the edges.',
        resolve: ({ items }, _, context, info) =>
          whenDone(items, (all) => inPortions(context.budget.spend(all, info), context, info)),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: (connection) => connection }),
      totalCount: t.int({
        description: `How many ${plural} the whole list has.`,
        resolve: (connection) => connection.totalCount,
      }),
    }),
  });
}

export const pageDescriptions = {
  first: `At most so many from the start: ${defaultPageSize} unless told, and no more than ${mostPageSize}.`,
  after: 'Only what follows this cursor.',
};
