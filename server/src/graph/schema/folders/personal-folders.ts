/**
 * The folders of one viewer: shared folders, favorites and recent folders. Also the mutations that change favorites and recent
 * folders.
 */

import type { ObjectFieldBuilder } from '@pothos/core';
import { isRowId } from '../../../database/statement.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { maxFolderNameLength } from '@espalier/contract';
import {
  indexAfter,
  maxFavorites,
  maxRecentFolders,
  readFavoriteIds,
  readRecentFolders,
  readSortedByName,
  type NamePosition,
} from '../../../folders/personal-folders.ts';
import type { Folder as FolderRow } from '../../../folders/tree-view.ts';
import { Refusal } from '../../../refusal.ts';
import { builder, Folder, FolderConnection, type ExtendedTypes, type GraphContext } from '../builder.ts';
import { pageArguments } from '../connections/relay-connection-types.ts';
import {
  KeysetConnection,
  listCursorRefusal,
  type Charge,
  type KeysetList,
} from '../connections/relay-connection.ts';
import { defineMutation } from '../mutation.ts';
import { Viewer } from '../people/people-types.ts';
import { FolderBatch, findFolderNode, type FolderNode } from './folder-batch.ts';

builder.objectFields(Viewer, (t) => ({
  sharedFolders: t.field({
    type: FolderConnection,
    description:
      'The topmost folders that you may read through grants to you or to your groups, in natural order of their names. Empty for administrators, because they need no grants.',
    args: pageArguments(t.arg),
    resolve: (_, page, context, info) => {
      const readIds = () => context.access.topmostReadableIds;
      const list = { name: 'shared folders', readIds };
      return new KeysetConnection(namedFolders(list, context, { budget: context.budget, info }), page);
    },
  }),
  favorites: t.field({
    type: FolderConnection,
    description:
      'Your favorites, in natural order of their names, without folders that you do not see. A deleted folder is missing until it is restored. Empty in a view.',
    args: pageArguments(t.arg),
    resolve: ({ userId, view }, page, context, info) => {
      const readIds = () => (view ? [] : readFavoriteIds(context.reader, userId));
      const list = { name: 'favorites', readIds };
      return new KeysetConnection(namedFolders(list, context, { budget: context.budget, info }), page);
    },
  }),
  recentFolders: t.field({
    type: [Folder],
    description: `The folders that you visited last, latest first, without folders that you do not see. The server keeps the last ${maxRecentFolders} visits of each user. Empty in a view.`,
    args: {
      first: t.arg.int({
        required: true,
        defaultValue: maxRecentFolders,
        description: `The maximum number of results: 0 to ${maxRecentFolders}.`,
      }),
    },
    resolve: (viewer, { first }, context, info) => {
      if (first < 0 || first > maxRecentFolders) {
        throw new Refusal('BAD_INPUT', `\`first\` must be from 0 to ${maxRecentFolders}.`);
      }
      if (viewer.view) return [];
      const { view, budget } = context;
      return whenDone(readRecentFolders(view, first), (folders) =>
        budget.spend(new FolderBatch(view, folders).nodes, info),
      );
    },
  }),
}));

/** Reads all folders of the list for each page, because their order depends on their names. */
function namedFolders(
  { name, readIds }: { readonly name: string; readonly readIds: () => PromiseOrValue<readonly string[]> },
  { view }: GraphContext,
  { budget, info }: Charge,
): KeysetList<FolderNode> {
  let sorted: PromiseOrValue<readonly FolderRow[]> | undefined;
  const readAll = () =>
    (sorted ??= whenDone(readIds(), (ids) => {
      budget.scan(ids.length, info);
      return readSortedByName(view, ids);
    }));
  return {
    name,
    keyOf: ({ folder }) => `${folder.id} ${folder.name}`,
    read: ({ after, limit }) =>
      whenDone(readAll(), (folders) => {
        const start = after === undefined ? 0 : indexAfter(folders, toPosition(after));
        return new FolderBatch(view, folders.slice(start, start + limit)).nodes;
      }),
    count: () => whenDone(readAll(), ({ length }) => length),
  };
}

function toPosition(key: string): NamePosition {
  const [id, name] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];
  if (!isRowId(id) || name.length > 2 * maxFolderNameLength) throw listCursorRefusal();
  return { id, name };
}

const folderPayload = (t: ObjectFieldBuilder<ExtendedTypes, { readonly folderId: string }>) => ({
  folder: t.field({
    type: Folder,
    nullable: true,
    description: 'The folder. Null if you do not see it.',
    resolve: ({ folderId }, _, { view }) => findFolderNode(view, folderId),
  }),
});

const notRecordedText =
  'Only you see this list, and the journal does not contain the change. You can safely send the mutation again without an `Idempotency-Key`.';

defineMutation('setFavorite', {
  description: `Add a folder to your favorites, or remove it. ${notRecordedText} CONFLICT if you have ${maxFavorites} favorites.`,
  input: (t) => ({
    folderId: t.id({ required: true, description: 'The id of the folder.' }),
    isFavorite: t.boolean({
      required: true,
      description: 'True to add the folder, false to remove it.',
    }),
  }),
  change: ({ personalFolders }, caller, input) => personalFolders.setFavorite(caller, input),
  toPayload: (_, __, { folderId }) => ({ folderId }),
  payload: folderPayload,
});

defineMutation('visitFolder', {
  description: `Put a folder first in your recent folders. ${notRecordedText}`,
  input: (t) => ({ folderId: t.id({ required: true, description: 'The id of the folder.' }) }),
  change: ({ personalFolders }, caller, input) => personalFolders.visit(caller, input),
  toPayload: (_, __, { folderId }) => ({ folderId }),
  payload: folderPayload,
});
