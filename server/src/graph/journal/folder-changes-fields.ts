/** Reading what has changed since a place of the journal, and following it from there on. */

import type { WatchedPlace } from '../../folders/folder-watch.ts';
import { requireFolder } from '../../folders/folders.ts';
import { readChanges, watchFolders, type ChangePage as Page } from '../../folders/watch-folders.ts';
import { fromJournalCursor, toJournalCursor } from '../../journal/journal-cursor.ts';
import type { Builder, GraphContext, ObjectRefOf } from '../builder.ts';
import { eventCharge } from '../fair-turns.ts';
import { longField } from '../long-reads.ts';
import { inPortions } from '../pace.ts';
import { startArgument } from '../shared-answers.ts';
import { pageSize } from '../tree/folder-connection.ts';
import { toChangeNodes, type ChangeNode } from './folder-change-type.ts';

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
        resolve: ({ changes, under }, _, context, info) =>
          inPortions(context.budget.spend(toChangeNodes(context.view, changes, under), info), context, info),
      }),
      cursor: t.string({
        description: 'For `after`, to go on from here.',
        resolve: ({ place }) => toJournalCursor(place),
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there may be more by now.' }),
    }),
  });

  builder.queryFields((t) => ({
    cursor: t.string({
      description:
        "The journal's place before anything of this answer was read. Read, then follow `folderChanges` after this cursor: nothing is missed in between.",
      resolve: (_, __, { place }) => toJournalCursor(place),
    }),
    changes: t.field({
      type: ChangePage,
      description: 'What happened to the folders that you see, in order.',
      args: {
        after: t.arg.string({
          description:
            'Only what follows this cursor. Without it, all that is kept; or only RESYNC with the cursor of now, if your access has changed in that time, as any grant to you does: begin with `cursor`.',
        }),
        under: t.arg.id({ description: 'Only this folder and what is inside.' }),
        first: t.arg.int({ description: `At most so many; ${defaultPage} unless told.` }),
      },
      extensions: longField,
      resolve: async (_, { after, under, first }, context, info): Promise<Page> => {
        const limit = pageSize({ first }, context.budget, info).limit ?? defaultPage;
        const { view, place } = context;
        return readChanges(view, place, await toPlace(context, after, under), limit);
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
          extensions: startArgument,
          description: 'What followed this cursor comes first; without it, from now on.',
        }),
      },
      subscribe: async (_, { after, under }, context) => {
        const { database, accessChanges, feed, fairTurns, viewer, limits, view, place: head } = context;
        const from = await toPlace(context, after, under);
        const { maxBacklog } = limits;
        const inTurn = async <T>(work: () => Promise<T>, signal: Pick<AbortSignal, 'aborted'>) =>
          fairTurns.take(viewer.userId, work, { signal, charge: eventCharge });
        const services = { database, accessChanges, feed, inTurn };
        return watchFolders(services, view, { after: head, ...from, head, maxBacklog });
      },
      resolve: (change, { under }, { view }) => toChangeNodes(view, [change], under ?? undefined)[0]!,
    }),
  );
}

/** Where the changes begin, if it is said. What the viewer does not see cannot be watched. */
async function toPlace(
  { view }: GraphContext,
  after: string | null | undefined,
  under: string | null | undefined,
): Promise<Pick<WatchedPlace, 'under'> & Partial<WatchedPlace>> {
  if (typeof under === 'string') await requireFolder(view, under);
  return {
    under: under ?? undefined,
    ...(typeof after === 'string' && { after: fromJournalCursor(after, 'after') }),
  };
}
