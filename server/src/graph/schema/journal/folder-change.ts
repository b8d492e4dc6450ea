/** The type FolderChange, the query `changes` and the subscription `folderChanges`. */

import { eventCharge } from '../../../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import {
  readChanges,
  type ChangePage as Page,
  type FolderChange as Change,
  type FolderChangeKind,
  type FollowedFolders,
} from '../../../folders/change-feed/folder-changes.ts';
import { followFolders } from '../../../folders/change-feed/folder-subscription.ts';
import { ancestorIds, requireFolder, type TreeView } from '../../../folders/tree-view.ts';
import { fromJournalCursor, toJournalCursor } from '../../../journal/journal-entry.ts';
import { longField, startArgument } from '../../field-marks.ts';
import { builder, Folder, User, type GraphContext } from '../builder.ts';
import { chargeLongList } from '../charges.ts';
import { pageSize } from '../folders/child-connection.ts';
import { readFolderNodes, type FolderNode } from '../folders/folder-batch.ts';
import { readTogether, readUserNodes, type UserNode } from '../people/people-batch.ts';

/** A change, with functions that read what all changes of the same response refer to. */
interface ChangeNode {
  readonly change: Change;
  /** The current folder; null if it is now outside of the folder that the client follows. */
  readonly folder: () => PromiseOrValue<FolderNode | null>;
  readonly folderOf: (id: string | null | undefined) => PromiseOrValue<FolderNode | null>;
  readonly userOf: (id: string | null | undefined) => PromiseOrValue<UserNode | null>;
}

/** `under` limits the changes to this folder and the folders inside it. */
function toChangeNodes(
  view: TreeView,
  changes: readonly Change[],
  under: string | undefined,
): readonly ChangeNode[] {
  const folderOf = readTogether(
    changes.flatMap(({ folderId, oldParentId, newParentId }) => [folderId, oldParentId, newParentId]),
    (ids) => readFolderNodes(view, ids),
  );
  const userOf = readTogether(
    changes.map(({ entry }) => entry?.byUserId),
    (ids) => readUserNodes(view.reader, ids),
  );
  const isInside = ({ id }: FolderNode) => !under || id === under || ancestorIds(view, id).includes(under);
  return changes.map((change) => ({
    change,
    folder: () =>
      whenDone(folderOf(change.folderId), (folder) => (folder && isInside(folder) ? folder : null)),
    folderOf,
    userOf,
  }));
}

const Kind = builder.enumType('FolderChangeKind', {
  description:
    'The kind of a change, as it affects the folders that you see. You can safely apply a change twice, or after you have read its result.',
  values: {
    CREATE: {
      description:
        'The folder is now visible to you: it was created, restored, moved to where you see it, or made visible by a grant. Replace your copy of the folder, if you have one. It may have subfolders that you have not read.',
    },
    UPDATE: {
      description:
        'The name, the texts or your access level has changed. If you do not have the folder, treat the change like CREATE. If the `accessLevel` differs from your copy, or if `at` is null, the access levels inside may have changed as well.',
    },
    MOVE: {
      description:
        'The folder has another parent. Move it, with everything inside, to its current `folder.parent`. Read the folders inside in three cases: you do not have the folder, its `accessLevel` differs from your copy, or you have read or dropped folders inside since you read the folder.',
    },
    DELETE: { description: 'The folder, with everything inside, is no longer visible to you.' },
    IMPORT: { description: 'Many folders were created inside this folder at once. Read them.' },
    RESYNC: {
      description:
        'The server cannot list the changes: there were too many, they are too old, or your access was changed while you were disconnected. Read all folders of your copy again, and continue after `cursor`.',
    },
  } satisfies Record<FolderChangeKind, { description: string }>,
});

const FolderChange = builder.objectRef<ChangeNode>('FolderChange').implement({
  description: 'A change of a folder that you see.',
  fields: (t) => ({
    kind: t.field({
      type: Kind,
      description: 'The kind of the change, which determines how to update your copy.',
      resolve: ({ change }) => change.kind,
    }),
    cursor: t.string({
      description:
        'The position of the change. Store it when you have applied the change, and pass it as `after` to continue.',
      resolve: ({ change }) => toJournalCursor(change.position),
    }),
    folderId: t.id({
      nullable: true,
      description:
        'The id of the folder. For IMPORT, the folder that contains the new folders. Null for RESYNC.',
      resolve: ({ change }) => change.folderId,
    }),
    folder: t.field({
      type: Folder,
      nullable: true,
      description:
        'The current state of the folder. Null for DELETE. If it is null for another kind, you no longer see the folder: remove it with everything inside.',
      resolve: ({ change, folder }) => (change.kind === 'DELETE' ? null : folder()),
    }),
    oldParent: t.field({
      type: Folder,
      nullable: true,
      description: 'For MOVE: the parent before the move, for display. Null if you do not see it now.',
      resolve: ({ change, folderOf }) => folderOf(change.oldParentId),
    }),
    newParent: t.field({
      type: Folder,
      nullable: true,
      description: 'For MOVE: the parent after the move, for display. Null if you do not see it now.',
      resolve: ({ change, folderOf }) => folderOf(change.newParentId),
    }),
    folderCount: t.int({
      nullable: true,
      description: 'For IMPORT: the number of new folders.',
      resolve: ({ change }) => change.count,
    }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time of the change. Null if only your access has changed.',
      resolve: ({ change }) => change.entry?.at,
    }),
    by: t.field({
      type: User,
      nullable: true,
      description:
        'The user who made the change. Null unless you are an administrator, have MANAGE on a folder, or made the change yourself.',
      resolve: ({ change, userOf }, _, { access }) => {
        const userId = change.entry?.byUserId;
        return access.managesSomething || userId === access.userId ? userOf(userId) : null;
      },
    }),
  }),
});

const ChangePage = builder.objectRef<Page>('ChangePage').implement({
  description: 'A page of changes.',
  fields: (t) => ({
    items: t.field({
      type: [FolderChange],
      description: 'The changes, in order.',
      resolve: chargeLongList(({ changes, under }, { view }) => toChangeNodes(view, changes, under)),
    }),
    cursor: t.string({
      description: 'The cursor of the next page, for the argument `after`.',
      resolve: ({ position }) => toJournalCursor(position),
    }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there may be more changes.' }),
  }),
});

const defaultPage = 50;

builder.queryFields((t) => ({
  cursor: t.string({
    description:
      'The position in the journal at which the server read this response. To miss no change, request this cursor together with your data. Then subscribe to `folderChanges` after this cursor.',
    resolve: (_, __, { position }) => toJournalCursor(position),
  }),
  changes: t.field({
    type: ChangePage,
    description: 'The changes of the folders that you see, in order.',
    args: {
      after: t.arg.string({
        description:
          'Return only the changes after this cursor. By default, returns all stored changes. If your access changed during that time, for example by a grant, returns only RESYNC with the current cursor. To start from now, use the query `cursor`.',
      }),
      under: t.arg.id({ description: 'Return only the changes of this folder and the folders inside it.' }),
      first: t.arg.int({ description: `The maximum number of results: ${defaultPage} by default.` }),
    },
    extensions: longField,
    resolve: async (_, { after, under, first }, context, info): Promise<Page> => {
      const limit = pageSize({ first }, context.budget, info).limit ?? defaultPage;
      const { view, position } = context;
      return readChanges(view, position, await toFollowed(context, after, under), limit);
    },
  }),
}));

builder.subscriptionField('folderChanges', (t) =>
  t.field({
    type: FolderChange,
    description:
      'Receive the changes of the folders that you see, as they happen. For each change, your access at that moment decides whether you receive it. After a reconnect, pass the cursor of your last change: you then miss nothing, or receive RESYNC.',
    args: {
      under: t.arg.id({
        description:
          'Return only the changes of this folder and the folders inside it. NOT_FOUND if you do not see it.',
      }),
      after: t.arg.string({
        extensions: startArgument,
        description: 'Start with the changes after this cursor. By default, only new changes.',
      }),
    },
    subscribe: async (_, { after, under }, context) => {
      const { database, accessChanges, feed, scheduler, viewer, limits, view, position: head } = context;
      const from = await toFollowed(context, after, under);
      const { maxBacklog } = limits;
      const runFairly = async <T>(work: () => Promise<T>, signal: Pick<AbortSignal, 'aborted'>) =>
        scheduler.run(viewer.userId, work, { signal, charge: eventCharge });
      const services = { database, accessChanges, feed, runFairly };
      return followFolders(services, view, { after: head, ...from, head, maxBacklog });
    },
    resolve: (change, { under }, { view }) => toChangeNodes(view, [change], under ?? undefined)[0]!,
  }),
);

/** Refuses a folder that the viewer does not see. Without `after`, the caller chooses the start. */
async function toFollowed(
  { view }: GraphContext,
  after: string | null | undefined,
  under: string | null | undefined,
): Promise<Pick<FollowedFolders, 'under'> & Partial<FollowedFolders>> {
  if (typeof under === 'string') await requireFolder(view, under);
  return {
    under: under ?? undefined,
    ...(typeof after === 'string' && { after: fromJournalCursor(after, 'after') }),
  };
}
