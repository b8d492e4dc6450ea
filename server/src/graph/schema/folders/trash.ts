/** What was deleted and can still be restored. */

import { openCursor, sealCursor } from '../../../database/cursor-checksum.ts';
import type { Reader } from '../../../database/database.ts';
import { idBytes, notACursor, timeKey, timeOfKey } from '../../../folders/cursor.ts';
import { toIdBytes, toFolderId } from '../../../folders/folder-rows.ts';
import { openPosition, sealPosition } from '../../../folders/cursor.ts';
import { readFolder } from '../../../folders/folders.ts';
import {
  purgeCutoff,
  maxExamined,
  purgeTime,
  readTrash,
  type TrashedFolder,
  type TrashPosition,
} from '../../../folders/trash.ts';
import type { Builder } from '../builder.ts';
import { longField } from '../../long-reads.ts';
import { changeCursor } from '../journal/references.ts';
import { change } from '../../run-mutation.ts';
import { pageSize } from './folder-connection.ts';
import { toFolderNode, type FolderNode } from './folder-batch.ts';
import { nodeOfChanged } from './folder-queries.ts';
import type { FolderTypes } from './folder.ts';
import { completeInSlices } from '../../time-slices.ts';
import type { PageInfo, PageInfoRef } from '../connections/keyset-connection.ts';

interface TrashPage {
  readonly items: readonly TrashedFolder[];
  readonly pageInfo: PageInfo;
}

const defaultPage = 50;
const list = 'trash';

export function defineTrash(
  builder: Builder,
  { Folder }: Pick<FolderTypes, 'Folder'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
): void {
  const Trashed = builder.objectRef<TrashedFolder>('TrashedFolder').implement({
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
        resolve: async ({ formerParentId }, _, { view }) => {
          const folder = await readFolder(view, formerParentId);
          return folder ? toFolderNode(view, folder) : null;
        },
      }),
    }),
  });

  const Page = builder.objectRef<TrashPage>('TrashPage').implement({
    fields: (t) => ({
      items: t.field({
        type: [Trashed],
        resolve: ({ items }, _, context, info) =>
          completeInSlices(context.budget.spend(items, info), context, info),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: ({ pageInfo }) => pageInfo }),
    }),
  });

  builder.queryField('trash', (t) =>
    t.field({
      type: Page,
      description:
        'The deleted folders that you may restore, the latest first. A page can hold fewer than `first`, or none, although `hasNextPage` is true: continue after its `endCursor`.',
      args: {
        first: t.arg.int({ description: `At most so many; ${defaultPage} unless told.` }),
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
      },
      extensions: longField,
      resolve: async (_, args, { view, reader, budget, clock, limits }, info): Promise<TrashPage> => {
        const first = pageSize(args, budget, info).limit ?? defaultPage;
        const after = typeof args.after === 'string' ? await toPosition(reader, args.after) : undefined;
        const cutoff = purgeCutoff(clock.now(), limits.trashDays);
        // The same for every page: how many deleted folders the viewer may not see does not show.
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

  const RestorePayload = builder.objectRef<FolderNode>('RestoreFolderPayload').implement({
    fields: (t) => ({
      folder: t.field({ type: Folder, resolve: (node) => node }),
      cursor: t.string(changeCursor),
    }),
  });

  builder.mutationField('restoreFolder', (t) =>
    t.field({
      type: RestorePayload,
      nullable: true,
      description:
        'Puts a deleted folder back, with all that was inside. Needs WRITE on it, and where it goes.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('RestoreFolderInput', {
            fields: (f) => ({
              id: f.id({ required: true }),
              parentId: f.id({ description: 'Where it shall go; where it was, unless told.' }),
              name: f.string({ description: 'A new name, if its own is not free any more.' }),
              expectedVersion: f.int({ description: 'Refuses with CONFLICT if it has another version.' }),
            }),
          }),
        }),
      },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ folders }, caller) => folders.restore(caller, input),
          (restored, answer) => nodeOfChanged(restored, answer),
        ),
    }),
  );
}

async function cursorOf(reader: Reader, { id, deletedAt }: TrashPosition): Promise<string> {
  const position = Buffer.concat([toIdBytes(id), timeKey(deletedAt)]);
  return sealCursor(list, await sealPosition(reader, list, position));
}

async function toPosition(reader: Reader, cursor: string): Promise<TrashPosition> {
  const sealed = openCursor(list, cursor);
  const position = sealed && (await openPosition(reader, list, sealed));
  if (!position) throw notACursor('after');
  return {
    id: toFolderId(position.subarray(0, idBytes)),
    deletedAt: timeOfKey(position.subarray(idBytes)),
  };
}
