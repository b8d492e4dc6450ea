/** Entries of the journal that were read together: whom and what they name is read for all at once. */

import { readGroups, type Group } from '../../accounts/groups.ts';
import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import type { TreeView } from '../../folders/folders.ts';
import type { JournalEntry } from '../../journal/journal-entry.ts';
import { readUserNodes, type UserNode } from '../people/people-level.ts';
import { readFolderNodes, type FolderNode } from '../tree/folder-level.ts';

export class EntryLevel {
  readonly nodes: readonly EntryNode[];
  readonly #view: TreeView;
  #users: PromiseOrValue<ReadonlyMap<string, UserNode>> | undefined;
  #groups: PromiseOrValue<ReadonlyMap<string, Group>> | undefined;
  #folders: PromiseOrValue<ReadonlyMap<string, FolderNode>> | undefined;

  constructor(view: TreeView, entries: readonly JournalEntry[]) {
    this.#view = view;
    this.nodes = entries.map((entry) => ({ entry, level: this }));
  }

  userOf(id: string | null): PromiseOrValue<UserNode | null> {
    if (!id) return null;
    this.#users ??= readUserNodes(
      this.#view.reader,
      this.#idsOf(({ byUserId, userId }) => [byUserId, userId]),
    );
    return whenDone(this.#users, (users) => users.get(id) ?? null);
  }

  groupOf(id: string | null): PromiseOrValue<Group | null> {
    if (!id) return null;
    this.#groups ??= readGroups(
      this.#view.reader,
      this.#idsOf(({ groupId }) => [groupId]),
    );
    return whenDone(this.#groups, (groups) => groups.get(id) ?? null);
  }

  folderOf(id: string | null): PromiseOrValue<FolderNode | null> {
    if (!id) return null;
    this.#folders ??= readFolderNodes(
      this.#view,
      this.#idsOf(({ folderId }) => [folderId]),
    );
    return whenDone(this.#folders, (folders) => folders.get(id) ?? null);
  }

  #idsOf(choose: (entry: JournalEntry) => readonly (string | null)[]): string[] {
    const ids = this.nodes.flatMap(({ entry }) => choose(entry)).filter((id) => id !== null);
    return [...new Set(ids)];
  }
}

export interface EntryNode {
  readonly entry: JournalEntry;
  readonly level: EntryLevel;
}
