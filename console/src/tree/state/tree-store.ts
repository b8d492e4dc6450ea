/**
 * The tree as it is shown: levels that were read in part, and which folders are open. Finds the folder of any row of a
 * million, and the row of any folder, without walking over the others. Knows nothing of the server.
 */

import { compareSiblings } from '@espalier/client';
import type { FolderRow } from '../../graph/live.tsx';
import { Level, type IndexRange } from './level.ts';
import { findFirstIndex, RowLayout } from './row-layout.ts';

/** One line of the tree. Without a folder, it is not read yet. */
export interface TreeRow {
  readonly folder: FolderRow | null;
  readonly parentId: string | null;
  /** Its place among its siblings, from 0. */
  readonly position: number;
  readonly siblingCount: number;
  /** 0 for the root. */
  readonly depth: number;
  readonly isOpen: boolean;
}

/** In a level up to this size that is wholly known, a new folder is put where it belongs; a larger one is read again. */
export const maxSortedLevelSize = 1_000;

export class TreeStore {
  readonly #folders = new Map<string, FolderRow>();
  readonly #levels = new Map<string, Level>();
  readonly #layout = new RowLayout(this);
  readonly #listeners = new Set<() => void>();
  readonly #opened = new Set<string>();
  /** Taken away here before the server has done it, each with whether it has been told gone since. */
  readonly #awaited = new Map<string, { isToldGone: boolean }>();
  #rootId: string | null = null;
  #version = 0;
  #isTelling = false;

  get root(): FolderRow | null {
    return this.#rootId === null ? null : this.#folders.get(this.#rootId)!;
  }

  get openIds(): ReadonlySet<string> {
    return this.#opened;
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

  isOpen(id: string): boolean {
    return this.#opened.has(id) && (this.#folders.get(id)?.folders.totalCount ?? 0) > 0;
  }

  /** From the parent up to the root, as far as it is known. */
  ancestorIds(id: string): string[] {
    const above: string[] = [];
    for (let one = this.#folders.get(id)?.parent; one; one = this.#folders.get(one.id)?.parent)
      above.push(one.id);
    return above;
  }

  rowAt(index: number): TreeRow | null {
    const { root } = this;
    if (!root || index < 0 || index >= this.rowCount) return null;
    const isOpen = (folder: FolderRow | null) => folder !== null && this.isOpen(folder.id);
    if (index === 0) {
      return { folder: root, parentId: null, position: 0, siblingCount: 1, depth: 0, isOpen: isOpen(root) };
    }
    const { parentId, position, levels } = this.#layout.locate(root.id, index);
    const level = this.#levels.get(parentId)!;
    const folder = this.#folders.get(level.idAt(position) ?? '') ?? null;
    return { folder, parentId, position, siblingCount: level.total, depth: levels, isOpen: isOpen(folder) };
  }

  /** The row of a folder; null if it is not known, or inside one that is closed. */
  indexOf(id: string): number | null {
    if (id === this.#rootId) return 0;
    const parentId = this.#folders.get(id)?.parent?.id;
    const place = parentId === undefined ? undefined : this.#levels.get(parentId)?.positionOf(id);
    return place === undefined ? null : this.indexOfPosition(parentId!, place);
  }

  indexOfPosition(parentId: string, place: number): number | null {
    const above = this.isOpen(parentId) ? this.indexOf(parentId) : null;
    return above === null ? null : above + this.#layout.countRowsAbove(parentId, place);
  }

  setRoot(folder: FolderRow): void {
    this.#rootId = folder.id;
    this.#opened.add(folder.id);
    this.#know(folder);
    this.changed(folder.id);
  }

  open(id: string): void {
    this.#opened.add(id);
    const folder = this.#folders.get(id);
    if (folder) this.#know(folder);
    this.changed(id);
  }

  close(id: string): void {
    this.#opened.delete(id);
    this.changed(id);
  }

  /** What was read of a level. Answers with open folders that are not where they were. */
  putRange(id: string, stretch: IndexRange, folders: readonly FolderRow[], total: number): string[] {
    const above = folders.find((folder) => this.#isInside(id, folder.id));
    if (above) {
      this.remove(above.id);
      return [];
    }
    for (const folder of folders) this.#leaveOther(folder);
    const isOpen = (one: string) => this.#opened.has(one);
    const ids = folders.map((folder) => folder.id);
    const gone = this.#levelOf(id, total).putRange(stretch, ids, total, isOpen);
    for (const one of gone) if (!isOpen(one)) this.#folders.delete(one);
    for (const folder of folders) this.#know(folder);
    this.#count(id);
    return gone.filter(isOpen);
  }

  /** A folder at the place that it is known to have, as one of `total`. */
  putAt(folder: FolderRow, putAt: number, total: number): void {
    if (!folder.parent) return;
    this.#leaveOther(folder);
    this.#levelOf(folder.parent.id, total).putAt(folder.id, putAt, total);
    this.#know(folder);
    this.#count(folder.parent.id);
  }

  /** New, or other than it was, wherever it belongs now. */
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
    const isSibling = before?.parent?.id === parentId;
    if (isSibling && (before.name === folder.name || !level || !canSort(level))) {
      if (level && before.name !== folder.name) level.isStale = true;
    } else {
      if (before) this.#leave(before);
      this.#enter(folder, parentId);
    }
    if (before || level?.positionOf(folder.id) !== undefined) this.#know(folder);
    this.changed(folder.id);
  }

  /** With all that is inside it. */
  remove(id: string): void {
    const folder = this.#folders.get(id);
    if (!folder || id === this.#rootId) return;
    this.#leave(folder);
    this.#forget(id);
    this.changed(folder.parent?.id ?? null);
  }

  /** Before a removal that the server may refuse: answers with how to ask whether it has been told gone meanwhile. */
  trackRemoval(id: string): () => boolean {
    const awaited = { isToldGone: false };
    this.#awaited.set(id, awaited);
    return () => awaited.isToldGone;
  }

  /** The server has told that a folder is not there any more, whether it is known here or not. */
  confirmRemoval(id: string): void {
    const awaited = this.#awaited.get(id);
    if (awaited) awaited.isToldGone = true;
    this.#awaited.delete(id);
    if (this.#folders.has(id)) this.remove(id);
    else this.markPartialLevelsStale();
  }

  /** What is shown of a level is to be read again. */
  markStale(id: string): void {
    const level = this.#levels.get(id);
    if (level) level.isStale = true;
    this.changed(id);
  }

  /** The same for all levels that are known below a folder; below the root, for all. */
  markSubtreeStale(id: string): void {
    for (const one of id === this.#rootId ? this.#levels.keys() : [id]) this.markStale(one);
    if (id !== this.#rootId) for (const one of this.#levels.get(id)?.ids ?? []) this.markSubtreeStale(one);
  }

  /** A folder is gone that was not known: it may have been in any level that is known in part. */
  markPartialLevelsStale(): void {
    for (const [id, level] of this.#levels)
      if (level.loadedCount > 0 && !level.isComplete) this.markStale(id);
  }

  clear(): void {
    for (const id of this.#levels.keys()) this.#layout.invalidate(id);
    for (const known of [this.#folders, this.#levels, this.#opened, this.#awaited]) known.clear();
    this.#rootId = null;
    this.changed(null);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another one after each change. */
  readonly version = (): number => this.#version;

  /** Rows inside a folder are others, and so are those of all above it. Listeners are told of several changes at once. */
  changed(id: string | null): void {
    this.#version += 1;
    if (id !== null) for (const one of [id, ...this.ancestorIds(id)]) this.#layout.invalidate(one);
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /**
   * What is told of one folder can be ahead of what was told of others, so that a folder seems to be inside itself. Then it
   * is dropped: what led there is still to be told, and brings it back.
   */
  #isInside(id: string, folderId: string): boolean {
    return id === folderId || this.ancestorIds(id).includes(folderId);
  }

  #levelOf(id: string, total: number): Level {
    const level = this.#levels.get(id) ?? new Level(total);
    this.#levels.set(id, level);
    return level;
  }

  #know(folder: FolderRow): void {
    this.#folders.set(folder.id, folder);
    const { totalCount } = folder.folders;
    const level = this.#opened.has(folder.id)
      ? this.#levelOf(folder.id, totalCount)
      : this.#levels.get(folder.id);
    if (!level || level.total === totalCount) return;
    if (level.loadedCount === 0) level.total = totalCount;
    else level.isStale = true;
    this.#layout.invalidate(folder.id);
  }

  /** Tells the folder how many are inside it. */
  #count(id: string): void {
    const folder = this.#folders.get(id);
    const total = this.#levels.get(id)?.total;
    if (folder && total !== undefined && folder.folders.totalCount !== total) {
      this.#folders.set(id, { ...folder, folders: { totalCount: total } });
    }
    this.changed(id);
  }

  #enter(folder: FolderRow, parentId: string): void {
    const level = this.#levels.get(parentId);
    const parent = this.#folders.get(parentId);
    if (level && canSort(level)) {
      const place = findFirstIndex(
        level.total,
        (at) => compareSiblings(this.#folders.get(level.idAt(at)!)!, folder) > 0,
      );
      level.insert(place, folder.id);
      this.#count(parentId);
      return;
    }
    if (level) level.isStale = true;
    else if (parent?.folders.totalCount === 0) {
      this.#folders.set(parentId, { ...parent, folders: { totalCount: 1 } });
    }
    this.changed(parentId);
  }

  #leave(folder: FolderRow): void {
    const parentId = folder.parent?.id;
    const level = parentId === undefined ? undefined : this.#levels.get(parentId);
    if (parentId === undefined || !level) return;
    const isSure = level.isComplete;
    level.remove(folder.id);
    if (!isSure) level.isStale = true;
    this.#count(parentId);
  }

  /** It was read in a level: it is in no other any more. */
  #leaveOther(folder: FolderRow): void {
    const before = this.#folders.get(folder.id);
    if (before && before.parent?.id !== folder.parent?.id) this.#leave(before);
  }

  #forget(id: string): void {
    for (const one of this.#levels.get(id)?.ids ?? []) this.#forget(one);
    this.#layout.invalidate(id);
    this.#levels.delete(id);
    this.#folders.delete(id);
    this.#opened.delete(id);
  }
}

function canSort(level: Level): boolean {
  return level.isComplete && level.total < maxSortedLevelSize;
}
