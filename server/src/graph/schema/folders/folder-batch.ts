/**
 * Folders that were read together stay together: when one of them is asked for its children, its parent or its texts,
 * those of all are read at once. So a query costs one statement for each level of the tree, however wide, without a
 * timer or a queue.
 */

import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { positionsCost, readPositions } from '../../../folders/child-counts.ts';
import { countChildren, readChildren, sliceCost } from '../../../folders/children.ts';
import type { FolderFilter, Slice } from '../../../folders/folder-slice.ts';
import {
  noTexts,
  ancestorIds,
  readFolders,
  readTexts,
  type Folder,
  type LongTexts,
  type TreeView,
} from '../../../folders/folders.ts';

export class FolderNode {
  readonly folder: Folder;
  readonly batch: FolderBatch;
  #ancestors: PromiseOrValue<readonly FolderNode[]> | undefined;
  #path: string | undefined;

  constructor(folder: Folder, batch: FolderBatch) {
    this.folder = folder;
    this.batch = batch;
  }

  get id(): string {
    return this.folder.id;
  }

  /** The root first. */
  get ancestors(): PromiseOrValue<readonly FolderNode[]> {
    this.#ancestors ??= whenDone(this.batch.ancestorsOf(this), (found) => (this.#ancestors = found));
    return this.#ancestors;
  }

  /** The names from below the root to here, each after a slash. */
  pathAfter(ancestors: readonly FolderNode[]): string {
    if (ancestors.length === 0) return '/';
    return (this.#path ??= [...ancestors.slice(1), this].map(({ folder }) => `/${folder.name}`).join(''));
  }
}

export interface ChildNodes {
  readonly nodes: readonly FolderNode[];
  /** The page leaves some out. */
  readonly isCut: boolean;
  /** The whole level has more than may be read: these are not complete. */
  readonly exceedsMax: boolean;
}

/** Is told, before a statement runs, how many folders are looked at for the whole level, and may refuse. */
type OnRead = (count: number) => void;

export interface ReadOptions {
  /** A slice with a place is of one folder only. */
  readonly isForOne: boolean;
  readonly max: number;
  /** Left out by whoever has paid already. */
  readonly onRead?: OnRead;
}

type ByFolder<T> = PromiseOrValue<ReadonlyMap<string, T>>;

export class FolderBatch {
  readonly view: TreeView;
  readonly nodes: readonly FolderNode[];
  readonly #folders: readonly Folder[];
  readonly #children = new Map<string, ByFolder<ChildNodes>>();
  readonly #counts = new Map<string, ByFolder<number>>();
  #texts: ByFolder<LongTexts> | undefined;
  #ancestors: ByFolder<FolderNode> | undefined;
  #positions: ByFolder<number> | undefined;
  readonly #others = new Map<string, unknown>();

  constructor(view: TreeView, folders: readonly Folder[]) {
    this.view = view;
    this.#folders = folders;
    this.nodes = folders.map((folder) => new FolderNode(folder, this));
  }

  /** The children of one folder of this level, read for all of them unless the slice is of this one only. */
  childrenOf(
    { folder }: FolderNode,
    slice: Slice,
    { isForOne, max, onRead }: ReadOptions,
  ): PromiseOrValue<ChildNodes> {
    const read = (parents: readonly Folder[]) => {
      onRead?.(sliceCost(this.view, parents, slice));
      return this.#readChildren(parents, slice, max);
    };
    const children = isForOne
      ? read([folder])
      : remembered(this.#children, kindOf(slice), () => read(this.#folders));
    return whenDone(children, (found) => found.get(folder.id)!);
  }

  childCountOf(
    { folder }: FolderNode,
    filter: FolderFilter | undefined,
    onRead: OnRead,
  ): PromiseOrValue<number> {
    const counts = remembered(this.#counts, JSON.stringify(filter), () => {
      onRead(sliceCost(this.view, this.#folders, { filter }));
      return countChildren(this.view, this.#folders, filter);
    });
    return whenDone(counts, (found) => found.get(folder.id) ?? 0);
  }

  textsOf({ folder }: FolderNode): PromiseOrValue<LongTexts> {
    if (folder.texts) return folder.texts;
    this.#texts ??= whenDone(readTexts(this.view, this.#folders), (found) => (this.#texts = found));
    return whenDone(this.#texts, (texts) => texts.get(folder.id) ?? noTexts);
  }

  parentOf({ folder }: FolderNode): PromiseOrValue<FolderNode | null> {
    const { parentId } = folder;
    return parentId ? whenDone(this.#readAncestors(), (found) => found.get(parentId) ?? null) : null;
  }

  /** How many siblings come before it. */
  positionOf({ folder }: FolderNode, onRead: OnRead): PromiseOrValue<number> {
    this.#positions ??= whenDone(this.#readAncestors(), (above) => {
      const siblings = this.#folders.flatMap((each) => {
        const parent = each.parentId === null ? undefined : above.get(each.parentId)?.folder;
        return parent ? [{ folder: each, parent }] : [];
      });
      onRead(positionsCost(this.view, siblings));
      return readPositions(this.view, siblings);
    });
    return whenDone(this.#positions, (positions) => positions.get(folder.id) ?? 0);
  }

  /** The root first. */
  ancestorsOf({ folder }: FolderNode): PromiseOrValue<FolderNode[]> {
    return whenDone(this.#readAncestors(), (found) =>
      ancestorIds(this.view, folder.id).flatMap((id) => found.get(id) ?? []),
    );
  }

  /** The folders of this level, and all above them. */
  withAncestors(): ByFolder<FolderNode> {
    return whenDone(
      this.#readAncestors(),
      (above) => new Map([...above, ...this.nodes.map((node): [string, FolderNode] => [node.id, node])]),
    );
  }

  /** What others read for all of the level: once for each name. */
  readOnce<T>(name: string, read: () => T): T {
    if (!this.#others.has(name)) this.#others.set(name, read());
    return this.#others.get(name) as T;
  }

  /** Asked by every folder of the level: only the first time does any work. */
  #readAncestors(): ByFolder<FolderNode> {
    return (this.#ancestors ??= this.#readAllAncestors());
  }

  #readAllAncestors(): ByFolder<FolderNode> {
    const { ancestry } = this.view;
    // Where a folder is now was perhaps read before: the folder of a change can have the parent of an earlier moment.
    const unknown = this.#folders.filter(({ id }) => !ancestry.isLoaded(id));
    const parentIds = new Set(unknown.flatMap(({ parentId }) => parentId ?? []));
    return whenDone(ancestry.load([...parentIds]), () => {
      for (const { id, parentId } of unknown) ancestry.setParent(id, parentId);
      const above = new Set<string>();
      for (const { id } of this.#folders) for (const each of ancestorIds(this.view, id)) above.add(each);
      return readFolderNodes(this.view, [...above]);
    });
  }

  #readChildren(parents: readonly Folder[], slice: Slice, max: number): ByFolder<ChildNodes> {
    return whenDone(readChildren(this.view, parents, slice, max), ({ byParent, exceedsMax }) => {
      const folders = [...byParent.values()].flatMap((children) => children.folders);
      const next = new FolderBatch(this.view, folders);
      const found = new Map<string, ChildNodes>();
      for (const { id } of parents) found.set(id, { nodes: [], isCut: false, exceedsMax });
      let start = 0;
      for (const [parentId, { folders: own, isCut }] of byParent) {
        found.set(parentId, { nodes: next.nodes.slice(start, (start += own.length)), isCut, exceedsMax });
      }
      return found;
    });
  }
}

function remembered<T>(known: Map<string, ByFolder<T>>, kind: string, read: () => ByFolder<T>): ByFolder<T> {
  let found = known.get(kind);
  if (!found) known.set(kind, (found = read()));
  return found;
}

/** A slice without places in words: most are nothing but a page from the start, and are not worth being written as JSON. */
function kindOf(slice: Slice): string {
  const { limit, isFromEnd, skip, isInclusive, order, filter, columns } = slice;
  const rest = order || filter ? JSON.stringify([order, filter]) : '';
  return `${limit} ${isFromEnd} ${skip} ${isInclusive} ${columns} ${rest}`;
}

/** Those of the folders that the viewer may see, as one level. */
export function readFolderNodes(view: TreeView, ids: readonly string[]): ByFolder<FolderNode> {
  return whenDone(readFolders(view, ids), (folders) => {
    const { nodes } = new FolderBatch(view, [...folders.values()]);
    return new Map(nodes.map((node) => [node.id, node]));
  });
}

/** A folder that was read on its own is a level of one. */
export function toFolderNode(view: TreeView, folder: Folder): FolderNode {
  return new FolderBatch(view, [folder]).nodes[0]!;
}
