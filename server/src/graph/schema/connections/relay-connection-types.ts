/** The types of connections in the schema. */

import type { ArgBuilder } from '@pothos/core';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { completeInSlices } from '../../time-slices.ts';
import { builder, PageInfo, type ExtendedTypes, type ObjectRefOf } from '../builder.ts';
import { chargeLongList, chargeText } from '../charges.ts';
import { defaultPageSize, maxKeysetPageSize, type Connection, type Edge } from './relay-connection.ts';

PageInfo.implement({
  description: 'Whether a list has more pages, and the cursors to continue from.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether there are results after this page.',
      resolve: (page) => page.hasNextPage,
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether there are results before this page.',
      resolve: (page) => page.hasPreviousPage,
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first result, for the argument `before`. Null if the page is empty.',
      resolve: chargeText((page) => page.startCursor),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last result, for the argument `after`. Null if there is none.',
      resolve: chargeText((page) => page.endCursor),
    }),
  }),
});

export const edgeCursor = 'The position in the list, for the argument `after`.';
export const edgeNode = 'The result at this position.';

/** Defines the types of a connection and its edges. Descriptions use `plural` for the nodes, for example "folders". */
export function defineConnection<Node>(
  Node: ObjectRefOf<Node>,
  plural: string,
  {
    Connection = builder.objectRef<Connection<Node>>(`${Node.name}Connection`),
    Edge = defineEdge(Node, plural),
  } = {},
): ObjectRefOf<Connection<Node>> {
  return Connection.implement({
    description: `A page of a list of ${plural}.`,
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        description: 'The results with their cursors.',
        resolve: chargeLongList(({ edges }) => edges),
      }),
      items: t.field({
        // Pothos cannot resolve the type of a generic node.
        type: [Node as ObjectRefOf<unknown>],
        description: 'The results without their cursors: the nodes of the edges.',
        resolve: ({ edges }, _, context, info) =>
          whenDone(edges, (all) => {
            const nodes = context.budget.spend(all, info).map(({ node }) => node);
            return completeInSlices(nodes, context, info);
          }),
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Whether there are more pages, and the cursors to continue from.',
        resolve: (connection) => connection,
      }),
      totalCount: t.int({
        description: `The number of ${plural} in the whole list.`,
        resolve: ({ totalCount }) => totalCount,
      }),
    }),
  });
}

function defineEdge<Node>(Node: ObjectRefOf<Node>, plural: string) {
  // Pothos cannot resolve the type of a generic node.
  const nodeRef: ObjectRefOf<unknown> = Node;
  return builder.objectRef<Edge<Node>>(`${Node.name}Edge`).implement({
    description: `An element of a list of ${plural}, with its cursor.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: edgeCursor }),
      node: t.field({ type: nodeRef, description: edgeNode, resolve: ({ node }) => node }),
    }),
  });
}

const keysetLimits = `${defaultPageSize} by default, ${maxKeysetPageSize} at most`;

/** The arguments of a field that returns a list in pages. `limits` describes the page size. */
export function pageArguments(arg: ArgBuilder<ExtendedTypes>, limits = keysetLimits) {
  return {
    first: arg.int({ description: `The maximum number of results: ${limits}.` }),
    after: arg.string({ description: 'Return only the results after this cursor.' }),
  };
}
