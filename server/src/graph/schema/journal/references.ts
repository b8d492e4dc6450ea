/** The folders, users and groups that journal entries or folder changes refer to. The first access reads those of all entries. */

import { readGroups, type Group } from '../../../accounts/groups.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { TreeView } from '../../../folders/folders.ts';
import { readUserNodes, type UserNode } from '../people/people-batch.ts';
import { readFolderNodes, type FolderNode } from '../folders/folder-batch.ts';
import { toJournalCursor } from '../../../journal/journal-entry.ts';
import type { GraphContext } from '../builder.ts';

type Id = string | null | undefined;
type ById<T> = PromiseOrValue<ReadonlyMap<string, T>>;

/** The ids in all entries. */
interface ReferencedIds {
  readonly folders: readonly Id[];
  readonly users: readonly Id[];
  readonly groups?: readonly Id[];
}

export class References {
  readonly #view: TreeView;
  readonly #ids: ReferencedIds;
  #folders: ById<FolderNode> | undefined;
  #users: ById<UserNode> | undefined;
  #groups: ById<Group> | undefined;

  constructor(view: TreeView, ids: ReferencedIds) {
    this.#view = view;
    this.#ids = ids;
  }

  /** Null if the viewer does not see the folder. */
  folderOf(id: Id): PromiseOrValue<FolderNode | null> {
    return pick(id, () => (this.#folders ??= readFolderNodes(this.#view, toUniqueIds(this.#ids.folders))));
  }

  userOf(id: Id): PromiseOrValue<UserNode | null> {
    return pick(id, () => (this.#users ??= readUserNodes(this.#view.reader, toUniqueIds(this.#ids.users))));
  }

  groupOf(id: Id): PromiseOrValue<Group | null> {
    return pick(
      id,
      () => (this.#groups ??= readGroups(this.#view.reader, toUniqueIds(this.#ids.groups ?? []))),
    );
  }
}

function pick<T>(id: Id, read: () => ById<T>): PromiseOrValue<T | null> {
  return id ? whenDone(read(), (found) => found.get(id) ?? null) : null;
}

function toUniqueIds(ids: readonly Id[]): string[] {
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** The field `cursor` of a mutation's payload. The position in the context is that of the mutation. */
export const changeCursor = {
  description:
    'The place of this change in the journal, for `after` of `changes` and `folderChanges`: from here on is what others do.',
  resolve: (_: unknown, __: object, { position }: GraphContext) => toJournalCursor(position),
};
