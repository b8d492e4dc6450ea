/**
 * The paths of folders: the ids from the root to each folder. One statement serves any number of folders and reads a shared
 * ancestor once.
 */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, type Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';

interface Step {
  readonly id: string;
  readonly parentId: string | null;
}

const findRootId = sql<object, { id: string }>`
  select id from folders where parent_id is null and detached_at is null`;

/** Includes the folders themselves. */
const findAncestors = sql<{ ids: readonly string[] }, Step>`
  with recursive up (id, parent_id) as (
    select id, parent_id from folders where id in (select value from ${list('ids')})
    union
    select folders.id, folders.parent_id from up join folders on folders.id = up.parent_id
  )
  select id, parent_id as "parentId" from up`;

export class Ancestry {
  readonly #reader: Reader;
  readonly rootId: string;
  readonly #parentIds = new Map<string, string | null>();

  static open(reader: Reader): PromiseOrValue<Ancestry> {
    return whenDone(reader.get(findRootId, {}), (root) => {
      if (!root) throw new Error('The tree has no root.');
      return new Ancestry(reader, root.id);
    });
  }

  constructor(reader: Reader, rootId: string) {
    this.#reader = reader;
    this.rootId = rootId;
    this.#parentIds.set(rootId, null);
  }

  isLoaded(id: string): boolean {
    return this.#parentIds.has(id);
  }

  /** Await it before you call `pathTo()` for these folders. */
  load(ids: readonly string[]): PromiseOrValue<void> {
    const missingIds = ids.filter((id) => !this.isLoaded(id));
    if (missingIds.length === 0) return;
    const read = (some: readonly string[]) => this.#reader.all(findAncestors, { ids: some }, some.length);
    return whenDone(readInBatches(missingIds, read), (steps) => {
      for (const { id, parentId } of steps) this.#parentIds.set(id, parentId);
    });
  }

  /** Call it for a parent that another read has returned. */
  setParent(id: string, parentId: string | null): void {
    this.#parentIds.set(id, parentId);
  }

  /** Call it for a path that you have read, possibly a former path. */
  setPath(pathIds: readonly string[]): void {
    pathIds.forEach((id, index) => this.setParent(id, pathIds[index - 1] ?? null));
  }

  /** The ids from the root to the folder itself; undefined if the folder is not in the tree. */
  pathTo(id: string): readonly string[] | undefined {
    const pathIds = this.pathFromTop(id);
    return pathIds[0] === this.rootId ? pathIds : undefined;
  }

  /** The ids to the folder from its topmost ancestor: the root, or a deleted folder. */
  pathFromTop(id: string): readonly string[] {
    const pathIds = [id];
    for (let currentId = id; currentId !== this.rootId;) {
      const parentId = this.#parentIds.get(currentId);
      if (!parentId) break;
      pathIds.push(parentId);
      if (pathIds.length > this.#parentIds.size) throw new Error(`The folder ${id} is inside itself.`);
      currentId = parentId;
    }
    return pathIds.reverse();
  }
}

interface PathChange {
  readonly kind: string;
  readonly folderId: string;
  /** A JSON array. */
  readonly pathIds: string;
  readonly oldPathIds: string | null;
}

const findPathChanges = sql<{ folderIds: readonly string[]; after: number }, PathChange>`
  select journal.kind, journal.folder_id as "folderId", journal.path_ids as "pathIds",
    journal.old_path_ids as "oldPathIds"
  from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER')
  order by journal.number desc`;

/** Reads the paths of folders as they were after the journal entry `number`. Starts from the current tree, and undoes later changes. */
export async function readPastAncestry(
  reader: Reader,
  { rootId, number }: { readonly rootId: string; readonly number: number },
  ids: readonly string[],
): Promise<Ancestry> {
  const ancestry = new Ancestry(reader, rootId);
  const loadedIds = new Set<string>();
  let missingIds = [...ids];
  while (missingIds.length > 0) {
    const parentIds = new Map<string, string | null>(missingIds.map((id) => [id, null]));
    for (const { id, parentId } of await reader.all(findAncestors, { ids: missingIds })) {
      if (!loadedIds.has(id)) parentIds.set(id, parentId);
    }
    const changes = await reader.all(findPathChanges, { folderIds: [...parentIds.keys()], after: number });
    // The changes are in descending order, so the earliest change of a folder sets its parent last.
    for (const change of changes) parentIds.set(change.folderId, parentBefore(change));
    for (const [id, parentId] of parentIds) {
      loadedIds.add(id);
      ancestry.setParent(id, parentId);
    }
    missingIds = [...parentIds.values()].filter((id) => id !== null).filter((id) => !loadedIds.has(id));
  }
  return ancestry;
}

/** Null for a restore, because the folder had no parent before. Only moves have `oldPathIds`; a deletion has the path in `pathIds`. */
function parentBefore({ kind, pathIds, oldPathIds }: PathChange): string | null {
  if (kind === 'RESTORE_FOLDER') return null;
  return (JSON.parse(oldPathIds ?? pathIds) as string[]).at(-2)!;
}
