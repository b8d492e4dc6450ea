/** The graph's types of the tree: Node, Folder and its connection. */

import { whenDone } from '../database/database.ts';
import { toCursor } from '../folders/cursor.ts';
import type { Builder } from './builder.ts';
import { FolderConnection, type FolderEdge } from './folder-connection.ts';
import type { FolderNode } from './folder-level.ts';

export function defineFolder(builder: Builder) {
  const Node = builder.interfaceRef<FolderNode>('Node').implement({
    description: 'Anything with an id of its own.',
    resolveType: () => 'Folder',
    fields: (t) => ({ id: t.exposeID('id', { description: 'The same for as long as the object exists.' }) }),
  });

  const Folder = builder.objectRef<FolderNode>('Folder');
  const Connection = builder.objectRef<FolderConnection>('FolderConnection');
  const Edge = builder.objectRef<FolderEdge>('FolderEdge');
  const PageInfo = builder.objectRef<FolderConnection>('PageInfo');

  Folder.implement({
    description: 'A folder of the shared tree.',
    interfaces: [Node],
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Unique among its siblings.' }),
      folders: t.field({
        type: Connection,
        description:
          'The sub-folders in natural order ("Floor 2" before "Floor 10"); without arguments, all of them.',
        args: {
          first: t.arg.int({ description: 'At most so many from the start.' }),
          after: t.arg.string({ description: 'Only what follows this cursor.' }),
          last: t.arg.int({ description: 'At most so many from the end.' }),
          before: t.arg.string({ description: 'Only what precedes this cursor.' }),
        },
        resolve: (folder, args) => new FolderConnection(folder, args),
      }),
    }),
  });

  Connection.implement({
    description: 'A list of folders, or a page of it.',
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        resolve: ({ edges }, _, { budget }, info) => whenDone(edges, (all) => budget.spend(all, info)),
      }),
      items: t.field({
        type: [Folder],
        description: 'The nodes of the edges.',
        resolve: ({ items }, _, { budget }, info) => whenDone(items, (all) => budget.spend(all, info)),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: (connection) => connection }),
      totalCount: t.int({
        description: 'How many folders the whole list has.',
        resolve: (connection) => connection.totalCount,
      }),
    }),
  });

  Edge.implement({
    description: 'A folder and its place in a list.',
    fields: (t) => ({
      cursor: t.string({ resolve: ({ parent, node }) => toCursor(parent.id, node) }),
      node: t.field({ type: Folder, resolve: ({ node }) => node }),
    }),
  });

  PageInfo.implement({
    description: 'Whether there is more, and where to go on.',
    fields: (t) => ({
      hasNextPage: t.boolean({ resolve: (page) => page.hasNextPage }),
      hasPreviousPage: t.boolean({ resolve: (page) => page.hasPreviousPage }),
      startCursor: t.string({ nullable: true, resolve: (page) => page.startCursor }),
      endCursor: t.string({ nullable: true, resolve: (page) => page.endCursor }),
    }),
  });

  return { Node, Folder };
}
