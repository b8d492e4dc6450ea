/** The graph schema. Its text is kept in `contract/schema.graphql`, for clients and for review. */

import type { GraphQLSchema } from 'graphql';
import { whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { readFolder, readFolderByPath, readRoot, type Folder } from '../folders/folders.ts';
import { Refusal } from '../refusal.ts';
import { createBuilder } from './builder.ts';
import { levelOfOne, type FolderNode } from './folder-level.ts';
import { defineFolder } from './folder-type.ts';
import { defineViewer } from './viewer-type.ts';

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  const { Node, Folder } = defineFolder(builder);
  const Viewer = defineViewer(builder);

  builder.queryType({
    fields: (t) => ({
      folder: t.field({
        type: Folder,
        nullable: true,
        description: 'A folder by its id or by its path ("/Places/Harbour Campus"); with neither, the root.',
        args: { id: t.arg.id(), path: t.arg.string() },
        resolve: (_, { id, path }, { database }) => nodeOf(database, findFolder(database, id, path)),
      }),
      node: t.field({
        type: Node,
        nullable: true,
        description: 'Any object by its id.',
        args: { id: t.arg.id({ required: true }) },
        resolve: (_, { id }, { database }) => nodeOf(database, readFolder(database, id)),
      }),
      viewer: t.field({ type: Viewer, resolve: (_, __, { viewer }) => viewer }),
    }),
  });

  return builder.toSchema({ sortSchema: false });
}

function findFolder(
  reader: Reader,
  id: string | null | undefined,
  path: string | null | undefined,
): PromiseOrValue<Folder | undefined> {
  if (typeof id === 'string' && typeof path === 'string') {
    throw new Refusal('BAD_INPUT', 'Give `id` or `path`, not both.');
  }
  if (typeof id === 'string') return readFolder(reader, id);
  if (typeof path === 'string') return readFolderByPath(reader, namesOf(path));
  return readRoot(reader);
}

/** "/" is the root; a slash at the end says nothing. */
function namesOf(path: string): string[] {
  if (!path.startsWith('/')) throw new Refusal('BAD_INPUT', 'A `path` starts at the root, with a slash.');
  const trimmed = path.slice(1).replace(/\/$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
}

function nodeOf(
  reader: Reader,
  found: PromiseOrValue<Folder | undefined>,
): PromiseOrValue<FolderNode | null> {
  return whenDone(found, (folder) => (folder ? levelOfOne(reader, folder) : null));
}
