/** The types of deleted folders, the query `trash` and the mutation `restoreFolder`. */

import { decodeCursor, encodeCursor } from '../../../database/cursor-encoding.ts';
import type { Reader } from '../../../database/database.ts';
import {
  idBytes,
  notACursor,
  openPosition,
  sealPosition,
  timeKey,
  timeOfKey,
} from '../../../folders/cursor.ts';
import { toFolderId, toIdBytes } from '../../../folders/folder-rows.ts';
import {
  maxExamined,
  purgeCutoff,
  purgeTime,
  readTrash,
  type TrashedFolder as TrashedRow,
  type TrashPosition,
} from '../../../folders/trash.ts';
import { longField } from '../../document-fields.ts';
import { change } from '../../mutations.ts';
import { completeInSlices } from '../../time-slices.ts';
import { defineMutation, type Builder } from '../builder.ts';
import type { PageInfo as PageInfoShape, PageInfoRef } from '../connections/keyset-connection.ts';
import { changeCursor } from '../journal/references.ts';
import { findFolderNode, type FolderNode } from './folder-batch.ts';
import { pageSize } from './folder-connection.ts';
import { nodeOfChanged } from './folder-queries.ts';
import type { FolderTypes } from './folder.ts';

interface Page {
  readonly items: readonly TrashedRow[];
  readonly pageInfo: PageInfoShape;
}

const defaultPage = 50;
const list = 'trash';

export function defineTrash(
  builder: Builder,
  { Folder }: Pick<FolderTypes, 'Folder'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
): void {
  const TrashedFolder = defineTrashedFolder(builder, { Folder });
  const TrashPage = builder.objectRef<Page>('TrashPage').implement({
    fields: (t) => ({
      items: t.field({
        type: [TrashedFolder],
        resolve: ({ items }, _, context, info) =>
          completeInSlices(context.budget.spend(items, info), context, info),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: ({ pageInfo }) => pageInfo }),
    }),
  });

  builder.queryField('trash', (t) =>
    t.field({
      type: TrashPage,
      description:
        'The deleted folders that you may restore, the latest first. A page can hold fewer than `first`, or none, although `hasNextPage` is true: continue after its `endCursor`.',
      args: {
        first: t.arg.int({ description: `At most so many; ${defaultPage} unless told.` }),
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
      },
      extensions: longField,
      resolve: async (_, args, { view, reader, budget, clock, limits }, info): Promise<Page> => {
        const first = pageSize(args, budget, info).limit ?? defaultPage;
        const after = typeof args.after === 'string' ? await toPosition(reader, args.after) : undefined;
        const cutoff = purgeCutoff(clock.now(), limits.trashDays);
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
}

function defineTrashedFolder(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>) {
  return builder.objectRef<TrashedRow>('TrashedFolder').implement({
    description: 'A deleted folder, with all that was inside.',
    fields: (t) => ({
      folderId: t.exposeID('id', { description: 'The id that the folder had, for `restoreFolder`.' }),
      name: t.exposeString('name'),
      title: t.string({ resolve: ({ title, name }) => title ?? name }),
      version: t.exposeInt('version'),
      deletedAt: t.expose('deletedAt', { type: 'DateTime' }),
      purgedAt: t.field({
        type: 'DateTime',
        description: 'From then on it cannot be restored.',
        resolve: ({ deletedAt }, _, { limits }) => purgeTime(deletedAt, limits.trashDays),
      }),
      formerParent: t.field({
        type: Folder,
        nullable: true,
        description: 'Where it was; null if that is not there any more.',
        resolve: ({ formerParentId }, _, { view }) => findFolderNode(view, formerParentId),
      }),
    }),
  });
}

export function defineRestore(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>): void {
  defineMutation(builder, 'restoreFolder', {
    type: builder.objectRef<FolderNode>('RestoreFolderPayload').implement({
      fields: (t) => ({
        folder: t.field({ type: Folder, resolve: (node) => node }),
        cursor: t.string(changeCursor),
      }),
    }),
    description:
      'Puts a deleted folder back, with all that was inside. Needs WRITE on it, and where it goes.',
    input: () =>
      builder.inputType('RestoreFolderInput', {
        fields: (f) => ({
          id: f.id({ required: true }),
          parentId: f.id({ description: 'Where it shall go; where it was, unless told.' }),
          name: f.string({ description: 'A new name, if its own is not free any more.' }),
          expectedVersion: f.int({ description: 'Refuses with CONFLICT if it has another version.' }),
        }),
      }),
    resolve: (input, context) =>
      change(
        context,
        ({ folders }, caller) => folders.restore(caller, input),
        (restored, response) => nodeOfChanged(restored, response),
      ),
  });
}

async function cursorOf(reader: Reader, { id, deletedAt }: TrashPosition): Promise<string> {
  const position = Buffer.concat([toIdBytes(id), timeKey(deletedAt)]);
  return encodeCursor(list, await sealPosition(reader, list, position));
}

async function toPosition(reader: Reader, cursor: string): Promise<TrashPosition> {
  const sealed = decodeCursor(list, cursor);
  const position = sealed && (await openPosition(reader, list, sealed));
  if (!position) throw notACursor('after');
  return {
    id: toFolderId(position.subarray(0, idBytes)),
    deletedAt: timeOfKey(position.subarray(idBytes)),
  };
}
