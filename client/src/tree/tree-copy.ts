/** Folders in memory, and how a change affects them by the rules of docs/clients/follow-changes.md. It sends no requests. */

import type { Folder } from '../folder.ts';
import { inNaturalOrder } from './natural-order.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

/** A folder and its descendants, read in one or several pages. */
export interface SubtreeSnapshot {
  readonly tree: TreeCopy;
  /** Ancestors of the folder, with their access levels at the time of each page. */
  readonly ancestors: readonly FolderLevel[];
}

export type FolderLevel = Pick<Folder, 'id' | 'accessLevel'>;

/** A change of one folder. */
export interface FolderChange {
  readonly kind: Exclude<FolderChangeKind, 'RESYNC'>;
  readonly folderId: string;
  /** Its current state; null if it no longer exists. */
  readonly folder: Folder | null;
}

export class TreeCopy {
  readonly rootId: string;
  readonly #folders = new Map<string, Folder>();
  readonly #childIds = new Map<string, Set<string>>();
  /**
   * Folders that had another access level when a descendant was read. After the next change of such a folder, its subtree is
   * read again, even if the change reports the level that this tree already has.
   */
  readonly #staleLevels = new Set<string>();
  /**
   * Folders that have lost a descendant. If the tree was read ahead of the changes, a later change can move the folder together
   * with that descendant. That change reports only the folder, so a moved folder in this set is read again.
   */
  readonly #removedFrom = new Set<string>();
  /** Cache of sorted subfolders by parent id. A change of a subfolder removes the entry. */
  readonly #sortedChildren = new Map<string, readonly Folder[]>();

  constructor(rootId: string) {
    this.rootId = rootId;
  }

  get size(): number {
    return this.#folders.size;
  }

  get(id: string): Folder | undefined {
    return this.#folders.get(id);
  }

  children(id: string): readonly Folder[] {
    let sorted = this.#sortedChildren.get(id);
    if (!sorted) {
      sorted = inNaturalOrder(
        Array.from(this.#childIds.get(id) ?? [], (childId) => this.#folders.get(childId)!),
      );
      this.#sortedChildren.set(id, sorted);
    }
    return sorted;
  }

  /** Returns the folders from the level below the root down to this one. Empty for the root and for unknown folders. */
  foldersTo(id: string): readonly Folder[] {
    const folders: Folder[] = [];
    for (let at = this.get(id); at && at.id !== this.rootId; at = this.get(at.parentId!)) folders.unshift(at);
    return folders;
  }

  /** Returns the path below the root, for example `/Places/Floor 2`, or undefined for an unknown folder. */
  path(id: string): string | undefined {
    if (!this.get(id)) return undefined;
    return `/${this.foldersTo(id)
      .map(({ name }) => name)
      .join('/')}`;
  }

  put(folder: Folder): void {
    const { id, parentId } = folder;
    this.#detach(id);
    this.#folders.set(id, folder);
    if (id === this.rootId) return;
    const siblings = this.#childIds.get(parentId!);
    if (siblings) siblings.add(id);
    else this.#childIds.set(parentId!, new Set([id]));
    this.#sortedChildren.delete(parentId!);
  }

  /** Removes a folder and its descendants. */
  drop(id: string): void {
    this.#detach(id);
    const dropped = [id];
    // The loop also visits the ids that it appends.
    for (const droppedId of dropped) {
      for (const childId of this.#childIds.get(droppedId) ?? []) dropped.push(childId);
      this.#folders.delete(droppedId);
      this.#childIds.delete(droppedId);
      this.#sortedChildren.delete(droppedId);
      this.#staleLevels.delete(droppedId);
      this.#removedFrom.delete(droppedId);
    }
  }

  /** Applies a change. Returns true if the caller must read the subtree and call `replaceSubtree` instead. */
  apply({ kind, folderId: id, folder }: FolderChange): boolean {
    if (kind === 'DELETE' || !folder || !this.#canAttach(folder)) {
      if (this.get(id)) this.#markRemoval(id);
      this.drop(id);
      return false;
    }
    const isSameLevel = this.get(id)?.accessLevel === folder.accessLevel && !this.#staleLevels.has(id);
    const isComplete = kind === 'UPDATE' || (kind === 'MOVE' && !this.#removedFrom.has(id));
    if (!isSameLevel || !isComplete) return true;
    this.put(folder);
    return false;
  }

  /** Replaces a folder and its descendants with a snapshot. Without a snapshot it only removes them. */
  replaceSubtree(id: string, snapshot: SubtreeSnapshot | undefined): void {
    this.drop(id);
    // The folder may have become an ancestor of this tree's root.
    if (!snapshot || (id !== this.rootId && snapshot.tree.get(this.rootId))) return;
    // A folder that moved into the subtree leaves its old position, together with its descendants. Later changes report them.
    for (const folderId of snapshot.tree.#folders.keys()) this.drop(folderId);
    if (!this.#canAttach(snapshot.tree.get(id)!)) return;
    for (const folder of snapshot.tree.#folders.values()) this.put(folder);
    for (const folderId of snapshot.tree.#staleLevels) this.#staleLevels.add(folderId);
    for (const ancestor of snapshot.ancestors) this.recordLevel(ancestor);
  }

  /** Records the level that a folder had when a descendant was read. Returns whether the folder is in this tree. */
  recordLevel({ id, accessLevel }: FolderLevel): boolean {
    const folder = this.get(id);
    if (folder && folder.accessLevel !== accessLevel) this.#staleLevels.add(id);
    return folder !== undefined;
  }

  /** Marks all ancestors of a folder, before the folder is dropped. */
  #markRemoval(id: string): void {
    this.#removedFrom.add(this.rootId);
    for (const folder of this.foldersTo(id)) this.#removedFrom.add(folder.id);
  }

  /** A change contains the folder's current state, which can be ahead of this tree: the folder may seem to contain itself. */
  #canAttach({ id, parentId }: Folder): boolean {
    if (id === this.rootId) return true;
    const parent = parentId === null ? undefined : this.get(parentId);
    return (
      parent !== undefined &&
      parentId !== id &&
      !this.foldersTo(parent.id).some((ancestor) => ancestor.id === id)
    );
  }

  #detach(id: string): void {
    const parentId = this.get(id)?.parentId;
    const siblings = parentId && this.#childIds.get(parentId);
    if (!siblings) return;
    siblings.delete(id);
    if (siblings.size === 0) this.#childIds.delete(parentId);
    this.#sortedChildren.delete(parentId);
  }
}
