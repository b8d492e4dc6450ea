/** Folders in memory, and what a change does to them by the rules of docs/live.md. It asks nobody: what has to be read, it says. */

import type { Folder } from './folder.ts';
import { inNaturalOrder } from './natural-order.ts';

export type FolderChangeKind = 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';

/** What has been read of a folder and all that is inside, in one or several moments. */
export interface ReadPart {
  readonly tree: LiveTree;
  /** Folders above it, as they were in those moments. */
  readonly above: readonly Levelled[];
}

export type Levelled = Pick<Folder, 'id' | 'accessLevel'>;

/** A change that concerns one folder. */
export interface FolderChange {
  readonly kind: Exclude<FolderChangeKind, 'RESYNC'>;
  readonly folderId: string;
  /** As it is now; null if it is not there any more. */
  readonly folder: Folder | null;
}

export class LiveTree {
  readonly rootId: string;
  readonly #folders = new Map<string, Folder>();
  readonly #inside = new Map<string, Set<string>>();
  /** Something inside was read when they had another level than here: when they are told of, they are read anew. */
  readonly #mixed = new Set<string>();
  /**
   * Something inside was dropped, as it was told; but it may have come there only later, in a folder that was moved, and
   * been read ahead of the changes. Of that move alone it is told: what is moved is read anew.
   */
  readonly #lessened = new Set<string>();
  /** Of the folders whose sub-folders were asked for since they changed. */
  readonly #ordered = new Map<string, readonly Folder[]>();

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
    let ordered = this.#ordered.get(id);
    if (!ordered) {
      ordered = inNaturalOrder(Array.from(this.#inside.get(id) ?? [], (each) => this.#folders.get(each)!));
      this.#ordered.set(id, ordered);
    }
    return ordered;
  }

  /** From below the root of this tree down to the folder; empty for the root, and for what is not here. */
  way(id: string): readonly Folder[] {
    const way: Folder[] = [];
    for (let at = this.get(id); at && at.id !== this.rootId; at = this.get(at.parentId!)) way.unshift(at);
    return way;
  }

  /** The names from below the root to here, each after a slash; undefined for what is not here. */
  path(id: string): string | undefined {
    if (!this.get(id)) return undefined;
    return `/${this.way(id)
      .map(({ name }) => name)
      .join('/')}`;
  }

  put(folder: Folder): void {
    const { id, parentId } = folder;
    this.#takeOut(id);
    this.#folders.set(id, folder);
    if (id === this.rootId) return;
    const siblings = this.#inside.get(parentId!);
    if (siblings) siblings.add(id);
    else this.#inside.set(parentId!, new Set([id]));
    this.#ordered.delete(parentId!);
  }

  /** With all that is inside. */
  drop(id: string): void {
    this.#takeOut(id);
    const dropped = [id];
    // What is added while the list is walked through is walked through, too.
    for (const each of dropped) {
      for (const inside of this.#inside.get(each) ?? []) dropped.push(inside);
      for (const known of [this.#folders, this.#inside, this.#ordered, this.#mixed, this.#lessened]) {
        known.delete(each);
      }
    }
  }

  /** Answers whether the folder has to be read anew with what is inside it; nothing is done then before `take`. */
  apply({ kind, folderId: id, folder }: FolderChange): boolean {
    if (kind === 'DELETE' || !folder || !this.#hasPlaceFor(folder)) {
      if (this.get(id)) this.#lessen(id);
      this.drop(id);
      return false;
    }
    const isSame = this.get(id)?.accessLevel === folder.accessLevel && !this.#mixed.has(id);
    const isWhole = kind === 'UPDATE' || (kind === 'MOVE' && !this.#lessened.has(id));
    if (!isSame || !isWhole) return true;
    this.put(folder);
    return false;
  }

  /** A folder as it has been read with what is inside, instead of all that was here of it; nothing if it is gone. */
  take(id: string, read: ReadPart | undefined): void {
    this.drop(id);
    // By now it may be what this tree itself is inside of.
    if (!read || (id !== this.rootId && read.tree.get(this.rootId))) return;
    // What has come into it from elsewhere in this tree goes from there with what was inside: that is told of, too.
    for (const each of read.tree.#folders.keys()) this.drop(each);
    if (!this.#hasPlaceFor(read.tree.get(id)!)) return;
    for (const folder of read.tree.#folders.values()) this.put(folder);
    for (const each of read.tree.#mixed) this.#mixed.add(each);
    for (const each of read.above) this.note(each);
  }

  /** How a folder was when something inside it was read; answers whether it is here. */
  note({ id, accessLevel }: Levelled): boolean {
    const here = this.get(id);
    if (here && here.accessLevel !== accessLevel) this.#mixed.add(id);
    return here !== undefined;
  }

  /** All that it is inside of, before it is dropped. */
  #lessen(id: string): void {
    for (const above of [this.rootId, ...this.way(id).map((each) => each.id)]) this.#lessened.add(above);
  }

  /** It is told what a folder is now, before it is told of all that led there: it may seem to be inside itself. */
  #hasPlaceFor({ id, parentId }: Folder): boolean {
    if (id === this.rootId) return true;
    const parent = parentId === null ? undefined : this.get(parentId);
    return parent !== undefined && parentId !== id && !this.way(parent.id).some((above) => above.id === id);
  }

  #takeOut(id: string): void {
    const parentId = this.get(id)?.parentId;
    const siblings = parentId && this.#inside.get(parentId);
    if (!siblings) return;
    siblings.delete(id);
    if (siblings.size === 0) this.#inside.delete(parentId);
    this.#ordered.delete(parentId);
  }
}
