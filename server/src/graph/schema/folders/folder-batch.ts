/**
 * Folders that were read together form a batch. Their children, parents or texts are read for the whole batch together. A query
 * therefore runs one statement for each level of the tree, however wide, without a timer or a queue.
 */

import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { positionsCost, readPositions } from '../../../folders/children/child-counts.ts';
import { countChildren, readChildren, sliceCost } from '../../../folders/children/children.ts';
import type { FolderFilter, Slice } from '../../../folders/folder-slice.ts';
import {
  noTexts,
  ancestorIds,
  readFolder,
  readFolders,
  readTexts,
  type Folder,
  type LongTexts,
  type TreeView,
} from '../../../folders/tree-view.ts';

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

  /** The names below the root, each after a slash. */
  pathAfter(ancestors: readonly FolderNode[]): string {
    if (ancestors.length === 0) return '/';
    return (this.#path ??= [...ancestors.slice(1), this].map(({ folder }) => `/${folder.name}`).join(''));
  }
}

export interface ChildNodes {
  readonly nodes: readonly FolderNode[];
  /** There are more children than the slice holds. */
  readonly hasMore: boolean;
  /** The batch has more children than `max` allows, so the nodes are not complete. */
  readonly exceedsMax: boolean;
}

/** Called before a statement runs, with the number of folders that it examines for the whole batch. It may refuse. */
type OnRead = (count: number) => void;

export interface ReadOptions {
  /** The slice has a cursor, so it belongs to one folder only. */
  readonly isForOne: boolean;
  readonly max: number;
  /** Missing if the read has been charged already. */
  readonly onRead?: OnRead;
}

type ByFolder<T> = PromiseOrValue<ReadonlyMap<string, T>>;

export class FolderBatch {
  readonly view: TreeView;
  readonly nodes: readonly FolderNode[];
  readonly #folders: readonly Folder[];
  #texts: ByFolder<LongTexts> | undefined;
  #ancestors: ByFolder<FolderNode> | undefined;
  #positions: ByFolder<number> | undefined;
  readonly #shared = new Map<string, unknown>();

  constructor(view: TreeView, folders: readonly Folder[]) {
    this.view = view;
    this.#folders = folders;
    this.nodes = folders.map((folder) => new FolderNode(folder, this));
  }

  /** The children of one folder, read for the whole batch unless the slice belongs to this folder only. */
  childrenOf(
    { folder }: FolderNode,
    slice: Slice,
    { isForOne, max, onRead }: ReadOptions,
  ): PromiseOrValue<ChildNodes> {
    const read = (parents: readonly Folder[]) => {
      onRead?.(sliceCost(this.view, parents, slice));
      return this.#readChildren(parents, slice, max);
    };
    const children = isForOne ? read([folder]) : this.readOnce(childrenKey(slice), () => read(this.#folders));
    return whenDone(children, (found) => found.get(folder.id)!);
  }

  childCountOf(
    { folder }: FolderNode,
    filter: FolderFilter | undefined,
    onRead: OnRead,
  ): PromiseOrValue<number> {
    const counts = this.readOnce(`counts ${JSON.stringify(filter)}`, () => {
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

  /** The number of siblings before the folder. */
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

  /** The folders of the batch and all their ancestors. */
  withAncestors(): ByFolder<FolderNode> {
    return whenDone(
      this.#readAncestors(),
      (above) => new Map([...above, ...this.nodes.map((node): [string, FolderNode] => [node.id, node])]),
    );
  }

  /** Reads something for the whole batch, once for each name. */
  readOnce<T>(name: string, read: () => T): T {
    let found = this.#shared.get(name) as T | undefined;
    if (found === undefined) this.#shared.set(name, (found = read()));
    return found;
  }

  /** Every folder of the batch calls this; only the first call reads. */
  #readAncestors(): ByFolder<FolderNode> {
    return (this.#ancestors ??= this.#readAllAncestors());
  }

  #readAllAncestors(): ByFolder<FolderNode> {
    const { ancestry } = this.view;
    // A folder from a change can have an outdated parent. A location that the view has loaded is current, so it stays.
    const unloaded = this.#folders.filter(({ id }) => !ancestry.isLoaded(id));
    const parentIds = new Set(unloaded.flatMap(({ parentId }) => parentId ?? []));
    return whenDone(ancestry.load([...parentIds]), () => {
      for (const { id, parentId } of unloaded) ancestry.setParent(id, parentId);
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
      for (const { id } of parents) found.set(id, { nodes: [], hasMore: false, exceedsMax });
      let start = 0;
      for (const [parentId, { folders: own, hasMore }] of byParent) {
        found.set(parentId, { nodes: next.nodes.slice(start, (start += own.length)), hasMore, exceedsMax });
      }
      return found;
    });
  }
}

/** A cache key for a slice without cursors. Most slices are a first page, so this avoids JSON for them. */
function childrenKey(slice: Slice): string {
  const { limit, isFromEnd, skip, isInclusive, order, filter, columns } = slice;
  const rest = order || filter ? JSON.stringify([order, filter]) : '';
  return `children ${limit} ${isFromEnd} ${skip} ${isInclusive} ${columns} ${rest}`;
}

/** Reads folders as one batch. The map has no entry for a folder that the viewer may not see. */
export function readFolderNodes(view: TreeView, ids: readonly string[]): ByFolder<FolderNode> {
  return whenDone(readFolders(view, ids), (folders) => {
    const { nodes } = new FolderBatch(view, [...folders.values()]);
    return new Map(nodes.map((node) => [node.id, node]));
  });
}

/** Reads one folder; null if the viewer does not see it. */
export function findFolderNode(view: TreeView, id: string): PromiseOrValue<FolderNode | null> {
  return whenDone(readFolder(view, id), (folder) => (folder ? toFolderNode(view, folder) : null));
}

/** Creates a batch of one folder. */
export function toFolderNode(view: TreeView, folder: Folder): FolderNode {
  return new FolderBatch(view, [folder]).nodes[0]!;
}
