/** The types of deleted folders, the query `trash`, and the mutations `restoreFolder`, `purgeFolder` and `emptyTrash`. */

import { decodeCursor, encodeCursor } from '../../../database/cursor-encoding.ts';
import type { Reader } from '../../../database/database.ts';
import {
  idBytes,
  notACursor,
  decryptPosition,
  encryptPosition,
  timeKey,
  timeOfKey,
} from '../../../folders/folder-slice.ts';
import { toFolderId, toIdBytes } from '../../../folders/new-folder-rows.ts';
import {
  maxExamined,
  purgeCutoff,
  purgeTime,
  readTrash,
  type RestorableFolder as TrashedRow,
  type TrashPosition,
} from '../../../folders/trash.ts';
import { longField } from '../../field-marks.ts';
import { AccessLevel, builder, Folder, PageInfo } from '../builder.ts';
import { chargeLongList } from '../charges.ts';
import { pageArguments } from '../connections/relay-connection-types.ts';
import type { PageInfo as PageInfoShape } from '../connections/relay-connection.ts';
import { changeCursor, defineMutation } from '../mutation.ts';
import { pageSize } from './child-connection.ts';
import { findFolderNode } from './folder-batch.ts';
import { expectedVersion, folderPayload, nodeOfChanged } from './folder-mutations.ts';

interface Page {
  readonly items: readonly TrashedRow[];
  readonly pageInfo: PageInfoShape;
}

const defaultPage = 50;
const list = 'trash';

const TrashedFolder = builder.objectRef<TrashedRow>('TrashedFolder').implement({
  description: 'A deleted folder, with everything that was inside.',
  fields: (t) => ({
    folderId: t.exposeID('id', { description: 'The id of the folder, for `restoreFolder`.' }),
    name: t.exposeString('name', { description: 'The name of the folder.' }),
    title: t.string({
      description: 'The name for display. If no title is set, this is the name.',
      resolve: ({ title, name }) => title ?? name,
    }),
    version: t.exposeInt('version', {
      description: 'The version of the folder, for the `expectedVersion` of `restoreFolder`.',
    }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', description: 'When the folder was deleted.' }),
    purgedAt: t.field({
      type: 'DateTime',
      description: 'When the server may purge the folder. Until then, you can restore it.',
      resolve: ({ deletedAt }, _, { trashDays }) => purgeTime(deletedAt, trashDays),
    }),
    accessLevel: t.expose('accessLevel', {
      type: AccessLevel,
      description:
        'The lower of your access levels on the folder and on its former parent. At most WRITE, unless you have MANAGE on all folders inside. You need WRITE to restore the folder, and MANAGE to purge it.',
    }),
    formerParent: t.field({
      type: Folder,
      nullable: true,
      description: 'The former parent. Null if it was deleted or if you do not see it.',
      resolve: ({ formerParentId }, _, { view }) => findFolderNode(view, formerParentId),
    }),
  }),
});

const TrashPage = builder.objectRef<Page>('TrashPage').implement({
  description: 'A page of the trash.',
  fields: (t) => ({
    items: t.field({
      type: [TrashedFolder],
      description: 'The deleted folders, newest first.',
      resolve: chargeLongList(({ items }) => items),
    }),
    pageInfo: t.expose('pageInfo', {
      type: PageInfo,
      description: 'Whether there are more pages, and the cursors to continue from.',
    }),
  }),
});

builder.queryField('trash', (t) =>
  t.field({
    type: TrashPage,
    description:
      'The deleted folders that you may restore, newest first. A page can hold fewer folders than `first`, or none, while `hasNextPage` is true: continue after its `endCursor`.',
    args: pageArguments(t.arg, `${defaultPage} by default`),
    extensions: longField,
    resolve: async (_, args, { view, reader, budget, clock, trashDays }, info): Promise<Page> => {
      const first = pageSize(args, budget, info).limit ?? defaultPage;
      const after = typeof args.after === 'string' ? await toPosition(reader, args.after) : undefined;
      const cutoff = purgeCutoff(clock.now(), trashDays);
      // The charge is the same for every page, so that it does not reveal how many hidden folders were examined.
      budget.scan(maxExamined, info);
      const { folders, next } = await readTrash(view, { after, first, cutoff });
      const last = next ?? folders.at(-1);
      return {
        items: folders,
        pageInfo: {
          hasNextPage: next !== undefined,
          hasPreviousPage: after !== undefined,
          startCursor: folders[0] ? await cursorOf(reader, folders[0]) : null,
          endCursor: last ? await cursorOf(reader, last) : null,
        },
      };
    },
  }),
);

defineMutation('restoreFolder', {
  description:
    'Restore a deleted folder with everything that was inside. Requires WRITE on the folder and on its new parent.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder in the trash.' }),
    parentId: t.id({ description: 'The id of the new parent: the former parent by default.' }),
    name: t.string({ description: 'A new name, for example if the old name is already in use.' }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
  change: ({ folders }, caller, input) => folders.restore(caller, input),
  toPayload: (restored, { context }) => nodeOfChanged(restored, context),
  payload: folderPayload,
  last: ['input'],
});

const folderCount = 'The number of folders purged from the trash, without the folders inside them.';

defineMutation('purgeFolder', {
  description:
    'Permanently delete a folder in the trash, with everything inside, before the server purges it. You cannot restore it afterwards. Requires MANAGE on the folder, on all folders inside and on its former parent. NOT_FOUND if you do not see the folder in the trash.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder in the trash.' }),
  }),
  change: ({ folders }, caller, input) => folders.purge(caller, input),
  toPayload: (count) => count,
  payload: (t) => ({
    folderCount: t.int({ description: folderCount, resolve: (count) => count }),
    cursor: t.string(changeCursor),
  }),
  last: ['input', 'payload'],
});

defineMutation('emptyTrash', {
  description:
    'Permanently delete all folders in the trash that you could purge with `purgeFolder`. You cannot restore them afterwards. The server empties a large trash in several steps: after an error, some folders may be purged and others not.',
  input: (t) => ({
    deletedBefore: t.field({
      type: 'DateTime',
      description: 'Purge only folders that were deleted before this time. By default, purges all folders.',
    }),
    dryRun: t.boolean({
      required: true,
      defaultValue: false,
      description: 'If true, purges nothing: only counts the folders that it would purge.',
    }),
  }),
  change: ({ folders }, caller, { dryRun: isDryRun, ...input }, task) =>
    folders.emptyTrash(caller, input, { isDryRun, beforeRows: (count) => task.yieldBefore(count) }),
  toPayload: (emptied, _, { dryRun: isDryRun }) => ({ ...emptied, isDryRun }),
  payload: (t) => ({
    isDryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run: nothing was purged.' }),
    folderCount: t.exposeInt('folderCount', { description: folderCount }),
    insideCount: t.exposeInt('insideCount', {
      nullable: true,
      description:
        'The number of folders inside the folders of `folderCount`. Null unless this was a dry run.',
    }),
    cursor: t.string(changeCursor),
  }),
  last: ['input', 'payload'],
});

async function cursorOf(reader: Reader, { id, deletedAt }: TrashPosition): Promise<string> {
  const position = Buffer.concat([toIdBytes(id), timeKey(deletedAt)]);
  return encodeCursor(list, await encryptPosition(reader, list, position));
}

async function toPosition(reader: Reader, cursor: string): Promise<TrashPosition> {
  const encrypted = decodeCursor(list, cursor);
  const position = encrypted && (await decryptPosition(reader, list, encrypted));
  if (!position) throw notACursor('after');
  return {
    id: toFolderId(position.subarray(0, idBytes)),
    deletedAt: timeOfKey(position.subarray(idBytes)),
  };
}
