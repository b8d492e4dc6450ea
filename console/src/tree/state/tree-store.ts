/**
 * The state of the displayed tree: partly loaded levels and the expanded folders. Maps rows to folders and folders to rows
 * without iterating over all rows. It does not depend on the server.
 */

import { compareSiblings } from '@espalier/client';
import type { FolderRow } from '../../graph/live.tsx';
import { Level, type IndexRange } from './level.ts';
import { findFirstIndex, RowLayout } from './row-layout.ts';

/** One row of the tree. `folder` is null until the row is loaded. */
export interface TreeRow {
  readonly folder: FolderRow | null;
  readonly parentId: string | null;
  /** Its index among its siblings. */
  readonly position: number;
  readonly siblingCount: number;
  /** 0 for the root. */
  readonly depth: number;
  readonly isExpanded: boolean;
}

/** A complete level below this size is kept sorted when a folder is added. A larger level is read again. */
const maxSortedLevelSize = 1_000;

export class TreeStore {
  readonly #folders = new Map<string, FolderRow>();
  readonly #levels = new Map<string, Level>();
  readonly #layout = new RowLayout(this);
  readonly #listeners = new Set<() => void>();
  readonly #expandedIds = new Set<string>();
  /** Folders removed optimistically, each with whether the server has confirmed the removal. */
  readonly #pendingRemovals = new Map<string, { isConfirmed: boolean }>();
  #rootId: string | null = null;
  #version = 0;
  #isNotifying = false;

  get root(): FolderRow | null {
    return this.#rootId === null ? null : this.#folders.get(this.#rootId)!;
  }

  get expandedIds(): ReadonlySet<string> {
    return this.#expandedIds;
  }

  get rowCount(): number {
    return this.#rootId === null ? 0 : 1 + this.#layout.countRowsInside(this.#rootId);
  }

  folder(id: string): FolderRow | undefined {
    return this.#folders.get(id);
  }

  level(id: string): Level | undefined {
    return this.#levels.get(id);
  }

  isExpanded(id: string): boolean {
    return this.#expandedIds.has(id) && (this.#folders.get(id)?.folders.totalCount ?? 0) > 0;
  }

  /** The ids from the parent up to the root, as far as these folders are loaded. */
  ancestorIds(id: string): string[] {
    const ancestors: string[] = [];
    let parent = this.#folders.get(id)?.parent;
    for (; parent; parent = this.#folders.get(parent.id)?.parent) ancestors.push(parent.id);
    return ancestors;
  }

  rowAt(index: number): TreeRow | null {
    const { root } = this;
    if (!root || index < 0 || index >= this.rowCount) return null;
    const isExpanded = (folder: FolderRow | null) => folder !== null && this.isExpanded(folder.id);
    if (index === 0) {
      return {
        folder: root,
        parentId: null,
        position: 0,
        siblingCount: 1,
        depth: 0,
        isExpanded: isExpanded(root),
      };
    }
    const { parentId, position, depth } = this.#layout.locate(root.id, index);
    const level = this.#levels.get(parentId)!;
    const folder = this.#folders.get(level.idAt(position) ?? '') ?? null;
    return { folder, parentId, position, siblingCount: level.total, depth, isExpanded: isExpanded(folder) };
  }

  /** The row of a folder, or null if it is not loaded or inside a collapsed folder. */
  indexOf(id: string): number | null {
    if (id === this.#rootId) return 0;
    const parentId = this.#folders.get(id)?.parent?.id;
    const position = parentId === undefined ? undefined : this.#levels.get(parentId)?.positionOf(id);
    return position === undefined ? null : this.indexOfPosition(parentId!, position);
  }

  indexOfPosition(parentId: string, position: number): number | null {
    const parentIndex = this.isExpanded(parentId) ? this.indexOf(parentId) : null;
    return parentIndex === null ? null : parentIndex + this.#layout.offsetOf(parentId, position);
  }

  setRoot(folder: FolderRow): void {
    this.#rootId = folder.id;
    this.#expandedIds.add(folder.id);
    this.#storeFolder(folder);
    this.recordChange(folder.id);
  }

  expand(id: string): void {
    this.#expandedIds.add(id);
    const folder = this.#folders.get(id);
    if (folder) this.#storeFolder(folder);
    this.recordChange(id);
  }

  collapse(id: string): void {
    this.#expandedIds.delete(id);
    this.recordChange(id);
  }

  /** Stores a range of a level. Returns the expanded folders that are no longer at their old position. */
  putRange(id: string, range: IndexRange, folders: readonly FolderRow[], total: number): string[] {
    const ancestor = folders.find((folder) => this.#isInside(id, folder.id));
    if (ancestor) {
      this.remove(ancestor.id);
      return [];
    }
    for (const folder of folders) this.#leaveOldLevel(folder);
    const isExpanded = (folderId: string) => this.#expandedIds.has(folderId);
    const ids = folders.map((folder) => folder.id);
    const gone = this.#levelOf(id, total).putRange(range, ids, total, isExpanded);
    for (const goneId of gone) if (!isExpanded(goneId)) this.#folders.delete(goneId);
    for (const folder of folders) this.#storeFolder(folder);
    this.#syncChildCount(id);
    return gone.filter(isExpanded);
  }

  /** Stores a folder at its position in a level of `total` folders. */
  putAt(folder: FolderRow, position: number, total: number): void {
    if (!folder.parent) return;
    this.#leaveOldLevel(folder);
    this.#levelOf(folder.parent.id, total).putAt(folder.id, position, total);
    this.#storeFolder(folder);
    this.#syncChildCount(folder.parent.id);
  }

  /** Adds or updates a folder, and moves it to the level and position where it belongs now. */
  upsert(folder: FolderRow): void {
    const before = this.#folders.get(folder.id);
    const parentId = folder.parent?.id;
    if (parentId === undefined) {
      if (folder.id === this.#rootId) this.setRoot(folder);
      return;
    }
    if (this.#isInside(parentId, folder.id)) {
      this.remove(folder.id);
      return;
    }
    const level = this.#levels.get(parentId);
    // A level that was read before the folder entered it does not contain the folder.
    const isPlaced = before?.parent?.id === parentId && (!level || level.positionOf(folder.id) !== undefined);
    if (isPlaced && (before.name === folder.name || !level || !canSort(level))) {
      if (level && before.name !== folder.name) level.isStale = true;
    } else {
      if (before) this.#leaveLevel(before);
      this.#enterLevel(folder, parentId);
    }
    if (before || level?.positionOf(folder.id) !== undefined) this.#storeFolder(folder);
    this.recordChange(folder.id);
  }

  /** Removes a folder and its descendants. */
  remove(id: string): void {
    const folder = this.#folders.get(id);
    if (!folder || id === this.#rootId) return;
    this.#leaveLevel(folder);
    this.#forgetSubtree(id);
    this.recordChange(folder.parent?.id ?? null);
  }

  /** Call this before an optimistic removal. Returns a function that checks whether the server has confirmed the removal. */
  trackRemoval(id: string): () => boolean {
    const removal = { isConfirmed: false };
    this.#pendingRemovals.set(id, removal);
    return () => removal.isConfirmed;
  }

  /** Call this when the server reports that a folder is gone. The folder need not be loaded here. */
  confirmRemoval(id: string): void {
    const removal = this.#pendingRemovals.get(id);
    if (removal) removal.isConfirmed = true;
    this.#pendingRemovals.delete(id);
    if (this.#folders.has(id)) this.remove(id);
    else this.markPartialLevelsStale();
  }

  /** Marks a level as stale, so that its visible rows are read again. */
  markStale(id: string): void {
    const level = this.#levels.get(id);
    if (level) level.isStale = true;
    this.recordChange(id);
  }

  /** Marks all loaded levels in a subtree as stale. For the root, that is every level. */
  markSubtreeStale(id: string): void {
    for (const levelId of id === this.#rootId ? this.#levels.keys() : [id]) this.markStale(levelId);
    if (id === this.#rootId) return;
    for (const childId of this.#levels.get(id)?.ids ?? []) this.markSubtreeStale(childId);
  }

  /** Call this when a folder that is not loaded is gone, because it may have been in any partly loaded level. */
  markPartialLevelsStale(): void {
    for (const [id, level] of this.#levels)
      if (level.loadedCount > 0 && !level.isComplete) this.markStale(id);
  }

  clear(): void {
    for (const id of this.#levels.keys()) this.#layout.invalidate(id);
    for (const cache of [this.#folders, this.#levels, this.#expandedIds, this.#pendingRemovals])
      cache.clear();
    this.#rootId = null;
    this.recordChange(null);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Increases with each change, for `useSyncExternalStore`. */
  readonly version = (): number => this.#version;

  /** Invalidates the row counts of a folder and its ancestors. Several changes notify the listeners once. */
  recordChange(id: string | null): void {
    this.#version += 1;
    if (id !== null) for (const folderId of [id, ...this.ancestorIds(id)]) this.#layout.invalidate(folderId);
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    queueMicrotask(() => {
      this.#isNotifying = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /**
   * Data of one folder can be newer than data of others, so a folder may seem to be inside itself. Such a folder is
   * removed. The events that are still to come add it again.
   */
  #isInside(id: string, folderId: string): boolean {
    return id === folderId || this.ancestorIds(id).includes(folderId);
  }

  #levelOf(id: string, total: number): Level {
    const level = this.#levels.get(id) ?? new Level(total);
    this.#levels.set(id, level);
    return level;
  }

  #storeFolder(folder: FolderRow): void {
    this.#folders.set(folder.id, folder);
    const { totalCount } = folder.folders;
    const level = this.#expandedIds.has(folder.id)
      ? this.#levelOf(folder.id, totalCount)
      : this.#levels.get(folder.id);
    if (!level || level.total === totalCount) return;
    if (level.loadedCount === 0) level.total = totalCount;
    else level.isStale = true;
    this.#layout.invalidate(folder.id);
  }

  /** Copies the size of a level to its folder. */
  #syncChildCount(id: string): void {
    const folder = this.#folders.get(id);
    const total = this.#levels.get(id)?.total;
    if (folder && total !== undefined && folder.folders.totalCount !== total) {
      this.#folders.set(id, { ...folder, folders: { totalCount: total } });
    }
    this.recordChange(id);
  }

  #enterLevel(folder: FolderRow, parentId: string): void {
    const level = this.#levels.get(parentId);
    const parent = this.#folders.get(parentId);
    if (level && canSort(level)) {
      const position = findFirstIndex(
        level.total,
        (index) => compareSiblings(this.#folders.get(level.idAt(index)!)!, folder) > 0,
      );
      level.insert(position, folder.id);
      this.#syncChildCount(parentId);
      return;
    }
    if (level) level.isStale = true;
    else if (parent?.folders.totalCount === 0) {
      this.#folders.set(parentId, { ...parent, folders: { totalCount: 1 } });
    }
    this.recordChange(parentId);
  }

  #leaveLevel(folder: FolderRow): void {
    const parentId = folder.parent?.id;
    const level = parentId === undefined ? undefined : this.#levels.get(parentId);
    if (parentId === undefined || !level) return;
    const wasComplete = level.isComplete;
    level.remove(folder.id);
    if (!wasComplete) level.isStale = true;
    this.#syncChildCount(parentId);
  }

  /** Removes a folder that was read in one level from its former level. */
  #leaveOldLevel(folder: FolderRow): void {
    const before = this.#folders.get(folder.id);
    if (before && before.parent?.id !== folder.parent?.id) this.#leaveLevel(before);
  }

  #forgetSubtree(id: string): void {
    for (const childId of this.#levels.get(id)?.ids ?? []) this.#forgetSubtree(childId);
    this.#layout.invalidate(id);
    this.#levels.delete(id);
    this.#folders.delete(id);
    this.#expandedIds.delete(id);
  }
}

function canSort(level: Level): boolean {
  return level.isComplete && level.total < maxSortedLevelSize;
}
