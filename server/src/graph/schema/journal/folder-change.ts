/** The type FolderChange, the query `changes` and the subscription `folderChanges`. */

import { eventCharge } from '../../../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import {
  readChanges,
  type ChangePage as Page,
  type FolderChange as Change,
  type FolderChangeKind,
  type FollowedFolders,
} from '../../../folders/changes/folder-changes.ts';
import { followFolders } from '../../../folders/changes/folder-subscription.ts';
import { ancestorIds, requireFolder, type TreeView } from '../../../folders/folders.ts';
import { fromJournalCursor, toJournalCursor } from '../../../journal/journal-entry.ts';
import { longField, startArgument } from '../../document-fields.ts';
import { completeInSlices } from '../../time-slices.ts';
import type { Builder, GraphContext, ObjectRefOf } from '../builder.ts';
import type { FolderNode } from '../folders/folder-batch.ts';
import { pageSize } from '../folders/folder-connection.ts';
import type { FolderTypes } from '../folders/folder.ts';
import type { PeopleTypes } from '../people/people.ts';
import { References } from './references.ts';

/** A change, with the references of all changes in the same response. */
interface ChangeNode {
  readonly change: Change;
  /** The current folder; null if it is now outside of the folder that the client follows. */
  readonly folder: () => PromiseOrValue<FolderNode | null>;
  readonly references: References;
}

/** `under` limits the changes to this folder and the folders inside it. */
function toChangeNodes(
  view: TreeView,
  changes: readonly Change[],
  under: string | undefined,
): readonly ChangeNode[] {
  const references = new References(view, {
    folders: changes.flatMap(({ folderId, oldParentId, newParentId }) => [
      folderId,
      oldParentId,
      newParentId,
    ]),
    users: changes.map(({ entry }) => entry?.byUserId),
  });
  const isInside = ({ id }: FolderNode) => !under || id === under || ancestorIds(view, id).includes(under);
  return changes.map((change) => ({
    change,
    folder: () =>
      whenDone(references.folderOf(change.folderId), (folder) =>
        folder && isInside(folder) ? folder : null,
      ),
    references,
  }));
}

const kinds: Readonly<Record<FolderChangeKind, string>> = {
  CREATE:
    'The folder is there for you now: made, restored, moved to where you see it, or uncovered by a grant. Take it in place of whatever you had of it; there may be folders inside, for you to read.',
  UPDATE:
    'The folder has another name or other texts, or you may do other things with it. If you do not have it, it is as if created. If its accessLevel differs from what you had, or `at` is null, so may those of what is inside.',
  MOVE: 'The folder has another parent: put it, with all that is inside, where `folder.parent` is now. Read what is inside if you do not have it, if its accessLevel differs from what you had, or if you have read or dropped something inside since you read it.',
  DELETE: 'The folder is not there for you any more, with all that is inside.',
  IMPORT: 'Many folders were put into the folder at once: read what is inside it.',
  RESYNC:
    'What happened cannot be told in detail: too much, too long ago, or there was a change of your access while you were away, be it without effect. Read anew what you show; from `cursor` on you miss nothing.',
};

function defineFolderChangeKind(builder: Builder) {
  return builder.enumType('FolderChangeKind', {
    description:
      'What a change means for the viewer. Whoever applies one twice, or after having read its result, is none the worse.',
    values: Object.fromEntries(
      Object.entries(kinds).map(([name, description]) => [name, { description }]),
    ) as Record<FolderChangeKind, { description: string }>,
  });
}

export function defineFolderChange(
  builder: Builder,
  { Folder }: Pick<FolderTypes, 'Folder'>,
  { User }: Pick<PeopleTypes, 'User'>,
) {
  const Kind = defineFolderChangeKind(builder);
  const FolderChange = builder.objectRef<ChangeNode>('FolderChange').implement({
    description: 'What happened to a folder that you see.',
    fields: (t) => ({
      kind: t.field({ type: Kind, resolve: ({ change }) => change.kind }),
      cursor: t.string({
        description:
          'For `after`: whoever knows this change, and those before it, misses nothing from here on.',
        resolve: ({ change }) => toJournalCursor(change.position),
      }),
      folderId: t.id({
        nullable: true,
        description:
          'The id of the folder; for IMPORT, of the folder that the new folders are in. Null for RESYNC.',
        resolve: ({ change }) => change.folderId,
      }),
      folder: t.field({
        type: Folder,
        nullable: true,
        description:
          'The folder as it is now. Null for DELETE; if it is null otherwise, it is gone again by now: drop it with all that is inside.',
        resolve: ({ change, folder }) => (change.kind === 'DELETE' ? null : folder()),
      }),
    }),
  });
  defineDetailFields(builder, FolderChange, { Folder, User });
  return FolderChange;
}

function defineDetailFields(
  builder: Builder,
  FolderChange: ObjectRefOf<ChangeNode>,
  { Folder, User }: Pick<FolderTypes, 'Folder'> & Pick<PeopleTypes, 'User'>,
): void {
  builder.objectFields(FolderChange, (t) => ({
    oldParent: t.field({
      type: Folder,
      nullable: true,
      description: 'For MOVE, to be shown: where the folder was then; null if you do not see that any more.',
      resolve: ({ change, references }) => references.folderOf(change.oldParentId),
    }),
    newParent: t.field({
      type: Folder,
      nullable: true,
      description: 'For MOVE, to be shown: where the folder went then; null if you do not see that any more.',
      resolve: ({ change, references }) => references.folderOf(change.newParentId),
    }),
    folderCount: t.int({
      nullable: true,
      description: 'For IMPORT: how many folders were made.',
      resolve: ({ change }) => change.count,
    }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it happened; null where it is your access that has changed.',
      resolve: ({ change }) => change.entry?.at,
    }),
    by: t.field({
      type: User,
      nullable: true,
      description: 'Who did it: for administrators, whoever manages a folder, and what you did yourself.',
      resolve: ({ change, references }, _, { access }) => {
        const userId = change.entry?.byUserId;
        return access.managesSomething || userId === access.userId ? references.userOf(userId) : null;
      },
    }),
  }));
}

const defaultPage = 50;

export function defineChangesQuery(
  builder: Builder,
  { FolderChange }: { readonly FolderChange: ObjectRefOf<ChangeNode> },
): void {
  const ChangePage = builder.objectRef<Page>('ChangePage').implement({
    fields: (t) => ({
      items: t.field({
        type: [FolderChange],
        description: 'In the order in which they happened.',
        resolve: ({ changes, under }, _, context, info) =>
          completeInSlices(
            context.budget.spend(toChangeNodes(context.view, changes, under), info),
            context,
            info,
          ),
      }),
      cursor: t.string({
        description: 'For `after`, to go on from here.',
        resolve: ({ position }) => toJournalCursor(position),
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there may be more by now.' }),
    }),
  });

  builder.queryFields((t) => ({
    cursor: t.string({
      description:
        "The journal's place before anything of this answer was read. Read, then follow `folderChanges` after this cursor: nothing is missed in between.",
      resolve: (_, __, { position }) => toJournalCursor(position),
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
        const { view, position } = context;
        return readChanges(view, position, await toFollowed(context, after, under), limit);
      },
    }),
  }));
}

export function defineFolderSubscription(
  builder: Builder,
  { FolderChange }: { readonly FolderChange: ObjectRefOf<ChangeNode> },
): void {
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
}

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
