/**
 * Folders that were read together stay together: when one of them is asked for its children, the children of all are
 * read at once. So a query costs one statement for each level of the tree, however wide, without a timer or a queue.
 */

import { whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { countChildren, readChildren, type Folder, type Slice } from '../folders/folders.ts';

export class FolderNode {
  readonly id: string;
  readonly name: string;
  readonly level: FolderLevel;

  constructor({ id, name }: Folder, level: FolderLevel) {
    this.id = id;
    this.name = name;
    this.level = level;
  }
}

export interface ChildNodes {
  readonly nodes: readonly FolderNode[];
  readonly isCut: boolean;
}

const noChildren: ChildNodes = { nodes: [], isCut: false };

export class FolderLevel {
  readonly reader: Reader;
  readonly #ids: readonly string[];
  readonly nodes: readonly FolderNode[];
  readonly #children = new Map<string, PromiseOrValue<Map<string, ChildNodes>>>();
  #counts: PromiseOrValue<Map<string, number>> | undefined;

  constructor(reader: Reader, folders: readonly Folder[]) {
    this.reader = reader;
    this.#ids = folders.map(({ id }) => id);
    this.nodes = folders.map((folder) => new FolderNode(folder, this));
  }

  /** The children of one folder of this level, read for all of them. A slice with a position is of one folder only. */
  childrenOf(id: string, slice: Slice): PromiseOrValue<ChildNodes> {
    if (slice.after || slice.before)
      return whenDone(this.#read([id], slice), (found) => found.get(id) ?? noChildren);
    const kind = `${slice.limit} ${slice.isFromEnd}`;
    let children = this.#children.get(kind);
    if (!children) this.#children.set(kind, (children = this.#read(this.#ids, slice)));
    return whenDone(children, (found) => found.get(id) ?? noChildren);
  }

  childCountOf(id: string): PromiseOrValue<number> {
    this.#counts ??= countChildren(this.reader, this.#ids);
    return whenDone(this.#counts, (counts) => counts.get(id) ?? 0);
  }

  #read(ids: readonly string[], slice: Slice): PromiseOrValue<Map<string, ChildNodes>> {
    return whenDone(readChildren(this.reader, ids, slice), (children) => {
      const next = new FolderLevel(
        this.reader,
        [...children.values()].flatMap(({ folders }) => folders),
      );
      const found = new Map<string, ChildNodes>();
      let start = 0;
      for (const [parentId, { folders, isCut }] of children) {
        found.set(parentId, { nodes: next.nodes.slice(start, (start += folders.length)), isCut });
      }
      return found;
    });
  }
}

/** A folder that was read on its own is a level of one. */
export function levelOfOne(reader: Reader, folder: Folder): FolderNode {
  return new FolderLevel(reader, [folder]).nodes[0]!;
}
