/** The graph's type FolderChange: what happened to a folder that the viewer sees, wherever it is told. */

import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import type { FolderChange, FolderChangeKind } from '../../folders/folder-changes.ts';
import { ancestorIds, type TreeView } from '../../folders/folders.ts';
import { toJournalCursor } from '../../journal/journal-cursor.ts';
import type { Builder } from '../builder.ts';
import { readUserNodes, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import { readFolderNodes, type FolderNode } from '../tree/folder-level.ts';
import type { FolderTypes } from '../tree/folder-type.ts';

/** Changes that are told together: their folders, and who made them, are read at once. */
export class ChangeLevel {
  readonly nodes: readonly ChangeNode[];
  readonly #view: TreeView;
  readonly #under: string | undefined;
  #folders: PromiseOrValue<ReadonlyMap<string, FolderNode>> | undefined;
  #users: PromiseOrValue<ReadonlyMap<string, UserNode>> | undefined;

  /** The changes inside the folder `under`, or anywhere. */
  constructor(view: TreeView, changes: readonly FolderChange[], under: string | undefined) {
    this.#view = view;
    this.#under = under;
    this.nodes = changes.map((change) => new ChangeNode(change, this));
  }

  folderOf(id: string | null | undefined): PromiseOrValue<FolderNode | null> {
    if (!id) return null;
    this.#folders ??= readFolderNodes(this.#view, this.#idsOf(folderIdsOf));
    return whenDone(this.#folders, (folders) => folders.get(id) ?? null);
  }

  /** Null if by now it is outside of where the viewer looks: what becomes of it there is not told. */
  changedFolder({ folderId }: FolderChange): PromiseOrValue<FolderNode | null> {
    const under = this.#under;
    return whenDone(this.folderOf(folderId), (folder) => {
      const isInside =
        !folder || !under || folder.id === under || ancestorIds(this.#view, folder.id).includes(under);
      return isInside ? folder : null;
    });
  }

  userOf(id: string | null | undefined): PromiseOrValue<UserNode | null> {
    if (!id) return null;
    this.#users ??= readUserNodes(
      this.#view.reader,
      this.#idsOf(({ entry }) => [entry?.byUserId]),
    );
    return whenDone(this.#users, (users) => users.get(id) ?? null);
  }

  #idsOf(choose: (change: FolderChange) => readonly (string | null | undefined)[]): string[] {
    const ids = this.nodes.flatMap(({ change }) => choose(change)).filter((id) => typeof id === 'string');
    return [...new Set(ids)];
  }
}

export class ChangeNode {
  readonly change: FolderChange;
  readonly level: ChangeLevel;

  constructor(change: FolderChange, level: ChangeLevel) {
    this.change = change;
    this.level = level;
  }
}

function folderIdsOf({ folderId, oldParentId, newParentId }: FolderChange) {
  return [folderId, oldParentId, newParentId];
}

const kinds: Readonly<Record<FolderChangeKind, string>> = {
  CREATE:
    'The folder is there for you now: made, restored, moved to where you see it, or uncovered by a grant. Take it in place of whatever you had of it; there may be folders inside, for you to read.',
  UPDATE:
    'The folder has another name or other texts, or you may do other things with it. If you do not have it, it is as if created. If its accessLevel differs from what you had, so may those of what is inside.',
  MOVE: 'The folder has another parent: put it, with all that is inside, where `folder.parent` is now. If you do not have it, or its accessLevel differs from what you had, read what is inside.',
  DELETE: 'The folder is not there for you any more, with all that is inside.',
  IMPORT: 'Many folders were put into the folder at once: read what is inside it.',
  RESYNC:
    'What happened cannot be told in detail: too much, too long ago, or your access was changed while you were away. Read anew what you show; from `cursor` on you miss nothing.',
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
      id: t.id({
        nullable: true,
        description: 'Of the folder; of an import, where to. Null for RESYNC.',
        resolve: ({ change }) => change.folderId,
      }),
      folder: t.field({
        type: Folder,
        nullable: true,
        description:
          'The folder as it is now. Null for DELETE; if it is null otherwise, it is gone again by now: drop it with all that is inside.',
        resolve: ({ change, level }) => (change.kind === 'DELETE' ? null : level.changedFolder(change)),
      }),
      oldParent: t.field({
        type: Folder,
        nullable: true,
        description:
          'For MOVE, to be shown: where the folder was then; null if you do not see that any more.',
        resolve: ({ change, level }) => level.folderOf(change.oldParentId),
      }),
      newParent: t.field({
        type: Folder,
        nullable: true,
        description:
          'For MOVE, to be shown: where the folder went then; null if you do not see that any more.',
        resolve: ({ change, level }) => level.folderOf(change.newParentId),
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
        resolve: ({ change, level }, _, { access }) => {
          const userId = change.entry?.byUserId;
          return access.managesSomething || userId === access.userId ? level.userOf(userId) : null;
        },
      }),
    }),
  });
}
