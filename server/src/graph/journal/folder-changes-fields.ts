/** Reading what has changed since a place of the journal, and following it from there on. */

import { requireFolder } from '../../folders/folders.ts';
import {
  readChanges,
  watchFolders,
  type ChangePage as Page,
  type WatchedPlace,
} from '../../folders/watch-folders.ts';
import { readOldest } from '../../journal/journal-entry.ts';
import type { Builder, GraphContext, ObjectRefOf } from '../builder.ts';
import { pageSize } from '../tree/folder-connection.ts';
import { ChangeLevel, type ChangeNode } from './folder-change-type.ts';

const defaultPage = 50;

export function defineFolderChanges(
  builder: Builder,
  { FolderChange }: { readonly FolderChange: ObjectRefOf<ChangeNode> },
): void {
  const ChangePage = builder.objectRef<Page>('ChangePage').implement({
    fields: (t) => ({
      items: t.field({
        type: [FolderChange],
        description: 'In the order in which they happened.',
        resolve: ({ changes }, _, { view, budget }, info) =>
          budget.spend(new ChangeLevel(view, changes).nodes, info),
      }),
      cursor: t.string({
        description: 'For `after`, to go on from here.',
        resolve: ({ number }, _, { journalCursors }) => journalCursors.toCursor(number),
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there may be more by now.' }),
    }),
  });

  builder.queryFields((t) => ({
    cursor: t.string({
      description:
        "The journal's place before anything of this answer was read. Read, then follow `folderChanges` after this cursor: nothing is missed in between.",
      resolve: (_, __, { journalCursors, place }) => journalCursors.toCursor(place),
    }),
    changes: t.field({
      type: ChangePage,
      description: 'What happened to the folders that you see, in order.',
      args: {
        after: t.arg.string({ description: 'Only what follows this cursor; without it, all that is kept.' }),
        under: t.arg.id({ description: 'Only this folder and what is inside.' }),
        first: t.arg.int({ description: `At most so many; ${defaultPage} unless told.` }),
      },
      resolve: async (_, { after, under, first }, context, info): Promise<Page> => {
        const limit = pageSize({ first }, context.budget, info).limit ?? defaultPage;
        const { database, access, place } = context;
        const from = await toPlace(context, after, under, await oldestPlace(context));
        return readChanges(database, { access, place }, from, limit);
      },
    }),
  }));

  builder.subscriptionType({
    description: 'Over a WebSocket, or as server-sent events.',
  });

  builder.subscriptionField('folderChanges', (t) =>
    t.field({
      type: FolderChange,
      description:
        'What happens to the folders that you see, as it happens. Each change is judged by your access of that moment. Whoever comes back with the cursor of the last change they know misses nothing, or is told RESYNC.',
      args: {
        under: t.arg.id({
          description: 'Only this folder and what is inside. NOT_FOUND if you do not see it.',
        }),
        after: t.arg.string({
          description: 'What followed this cursor comes first; without it, from now on.',
        }),
      },
      subscribe: async (_, { after, under }, context) => {
        const { database, accessBook, feed, limits, access, place } = context;
        const from = await toPlace(context, after, under, place);
        const { maxBacklog } = limits;
        return watchFolders(
          { database, accessBook, feed },
          { ...from, standing: { access, place }, maxBacklog },
        );
      },
      resolve: (seen, _, { view }) => new ChangeLevel(view, [seen.change]).nodes[0]!,
    }),
  );
}

/** Where the changes begin: after a cursor, or else there. What the viewer does not see cannot be watched. */
async function toPlace(
  { view, journalCursors }: GraphContext,
  after: string | null | undefined,
  under: string | null | undefined,
  otherwise: number,
): Promise<WatchedPlace> {
  if (typeof under === 'string') await requireFolder(view, under);
  return {
    after: typeof after === 'string' ? journalCursors.toNumber(after, 'after') : otherwise,
    under: under ?? undefined,
  };
}

/** Before the first entry that is kept. */
async function oldestPlace({ database, place }: GraphContext): Promise<number> {
  const oldest = await readOldest(database);
  return oldest === undefined ? place : oldest - 1;
}
