/**
 * Where folders are: the way from the root down to each. Any number of folders costs one statement, and an ancestor
 * that they share is read once.
 */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { inBatches, type Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';

interface Step {
  readonly id: string;
  readonly parentId: string | null;
}

const findRootId = sql<object, { id: string }>`
  select id from folders where parent_id is null and detached_at is null`;

/** The folders, and all above them. */
export const findAncestors = sql<{ ids: readonly string[] }, Step>`
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

  static begin(reader: Reader): PromiseOrValue<Ancestry> {
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

  /** To be awaited before `wayTo` is asked for these folders. */
  load(ids: readonly string[]): PromiseOrValue<void> {
    const unknown = ids.filter((id) => !this.isLoaded(id));
    if (unknown.length === 0) return;
    const read = (some: readonly string[]) => this.#reader.all(findAncestors, { ids: some }, some.length);
    return whenDone(inBatches(unknown, read), (steps) => {
      for (const { id, parentId } of steps) this.#parentIds.set(id, parentId);
    });
  }

  /** For what is known already from reading the tree downwards. */
  setParent(id: string, parentId: string | null): void {
    this.#parentIds.set(id, parentId);
  }

  /** For what was there: the ids from the root. */
  setPath(pathIds: readonly string[]): void {
    pathIds.forEach((id, place) => this.setParent(id, pathIds[place - 1] ?? null));
  }

  /** The ids from the root to the folder itself; undefined if it is not, or no longer, on the tree. */
  pathTo(id: string): readonly string[] | undefined {
    const pathIds = this.pathFromTop(id);
    return pathIds[0] === this.rootId ? pathIds : undefined;
  }

  /** The ids to the folder from whatever is above all of it: the root, or what was taken off the tree. */
  pathFromTop(id: string): readonly string[] {
    const pathIds = [id];
    for (let at = id; at !== this.rootId;) {
      const parentId = this.#parentIds.get(at);
      if (!parentId) break;
      pathIds.push(parentId);
      if (pathIds.length > this.#parentIds.size) throw new Error(`The folder ${id} is inside itself.`);
      at = parentId;
    }
    return pathIds.reverse();
  }
}

interface Move {
  readonly kind: string;
  readonly folderId: string;
  /** JSON: the ids from the root. */
  readonly pathIds: string;
  readonly oldPathIds: string | null;
}
const findMoves = sql<{ folderIds: readonly string[]; after: number }, Move>`
  select journal.kind, journal.folder_id as "folderId", journal.path_ids as "pathIds",
    journal.old_path_ids as "oldPathIds"
  from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER')
  order by journal.number desc`;

export interface PastTree {
  readonly rootId: string;
  /** Of an entry: as it was after that. */
  readonly number: number;
}
/** Knows the ways to these folders, as they were then. */

export async function readPastAncestry(
  reader: Reader,
  { rootId, number }: PastTree,
  ids: readonly string[],
): Promise<Ancestry> {
  const ancestry = new Ancestry(reader, rootId);
  const known = new Set<string>();
  let unknown = [...ids];
  while (unknown.length > 0) {
    const parentIds = new Map<string, string | null>(unknown.map((id) => [id, null]));
    for (const { id, parentId } of await reader.all(findAncestors, { ids: unknown })) {
      if (!known.has(id)) parentIds.set(id, parentId);
    }
    const moves = await reader.all(findMoves, { folderIds: [...parentIds.keys()], after: number });
    // The latest first: of several moves of one folder, the first that happened has the last word.
    for (const move of moves) parentIds.set(move.folderId, parentBefore(move));
    for (const [id, parentId] of parentIds) {
      known.add(id);
      ancestry.setParent(id, parentId);
    }
    unknown = [...parentIds.values()].filter((id) => id !== null).filter((id) => !known.has(id));
  }
  return ancestry;
}
/** None if it was off the tree. */
function parentBefore({ kind, pathIds, oldPathIds }: Move): string | null {
  if (kind === 'RESTORE_FOLDER') return null;
  return (JSON.parse(oldPathIds ?? pathIds) as string[]).at(-2)!;
}
