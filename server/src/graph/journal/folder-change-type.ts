/** The graph's type FolderChange: what happened to a folder that the viewer sees, wherever it is told. */

import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import type { FolderChange, FolderChangeKind } from '../../folders/folder-changes.ts';
import { ancestorIds, type TreeView } from '../../folders/folders.ts';
import { toJournalCursor } from '../../journal/journal-cursor.ts';
import type { Builder } from '../builder.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import type { FolderNode } from '../tree/folder-level.ts';
import type { FolderTypes } from '../tree/folder-type.ts';
import { Named } from './named.ts';

/** A change, with what the changes that are told together with it name. */
export interface ChangeNode {
  readonly change: FolderChange;
  /** The folder as it is now; null if it is outside of where the viewer looks: what becomes of it there is not told. */
  readonly folder: () => PromiseOrValue<FolderNode | null>;
  readonly named: Named;
}

/** The changes inside the folder `under`, or anywhere. */
export function toChangeNodes(
  view: TreeView,
  changes: readonly FolderChange[],
  under: string | undefined,
): readonly ChangeNode[] {
  const named = new Named(view, {
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
      whenDone(named.folderOf(change.folderId), (folder) => (folder && isInside(folder) ? folder : null)),
    named,
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

export function defineFolderChange(
  builder: Builder,
  { Folder }: Pick<FolderTypes, 'Folder'>,
  { User }: Pick<PeopleTypes, 'User'>,
) {
  const Kind = builder.enumType('FolderChangeKind', {
    description:
      'What a change means for the viewer. Whoever applies one twice, or after having read its result, is none the worse.',
    values: Object.fromEntries(
      Object.entries(kinds).map(([name, description]) => [name, { description }]),
    ) as Record<FolderChangeKind, { description: string }>,
  });

  return builder.objectRef<ChangeNode>('FolderChange').implement({
    description: 'What happened to a folder that you see.',
    fields: (t) => ({
      kind: t.field({ type: Kind, resolve: ({ change }) => change.kind }),
      cursor: t.string({
        description:
          'For `after`: whoever knows this change, and those before it, misses nothing from here on.',
        resolve: ({ change }) => toJournalCursor(change.place),
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
      oldParent: t.field({
        type: Folder,
        nullable: true,
        description:
          'For MOVE, to be shown: where the folder was then; null if you do not see that any more.',
        resolve: ({ change, named }) => named.folderOf(change.oldParentId),
      }),
      newParent: t.field({
        type: Folder,
        nullable: true,
        description:
          'For MOVE, to be shown: where the folder went then; null if you do not see that any more.',
        resolve: ({ change, named }) => named.folderOf(change.newParentId),
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
        resolve: ({ change, named }, _, { access }) => {
          const userId = change.entry?.byUserId;
          return access.managesSomething || userId === access.userId ? named.userOf(userId) : null;
        },
      }),
    }),
  });
}
