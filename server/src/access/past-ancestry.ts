/** Where folders were at an earlier place of the journal: the tree of now, but for what was moved since. */

import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { Ancestry, climb } from './ancestry.ts';

interface Move {
  readonly kind: string;
  readonly folderId: string;
  /** JSON: the ids from the root. */
  readonly way: string;
  readonly oldWay: string | null;
}

const findMoves = sql<{ folderIds: readonly string[]; after: number }, Move>`
  select journal.kind, journal.folder_id as "folderId", journal.way, journal.old_way as "oldWay"
  from ${list('folderIds')} cross join journal
  where journal.folder_id = each.value and journal.number > ${'after'}
    and journal.kind in ('MOVE_FOLDER', 'DELETE_FOLDER', 'RESTORE_FOLDER')
  order by journal.number desc`;

export interface PastPlace {
  readonly rootId: string;
  /** Of an entry: as it was after that. */
  readonly number: number;
}

/** Knows the ways to these folders, as they were then. */
export async function ancestryAt(
  reader: Reader,
  { rootId, number }: PastPlace,
  ids: readonly string[],
): Promise<Ancestry> {
  const ancestry = new Ancestry(reader, rootId);
  const known = new Set<string>();
  let unknown = [...ids];
  while (unknown.length > 0) {
    const parentIds = new Map<string, string | null>(unknown.map((id) => [id, null]));
    for (const { id, parentId } of await reader.all(climb, { ids: unknown })) {
      if (!known.has(id)) parentIds.set(id, parentId);
    }
    const moves = await reader.all(findMoves, { folderIds: [...parentIds.keys()], after: number });
    // The latest first: of several moves of one folder, the first that happened has the last word.
    for (const move of moves) parentIds.set(move.folderId, parentBefore(move));
    for (const [id, parentId] of parentIds) {
      known.add(id);
      ancestry.note(id, parentId);
    }
    unknown = [...parentIds.values()].filter((id) => id !== null).filter((id) => !known.has(id));
  }
  return ancestry;
}

/** None if it was off the tree. */
function parentBefore({ kind, way, oldWay }: Move): string | null {
  if (kind === 'RESTORE_FOLDER') return null;
  return (JSON.parse(oldWay ?? way) as string[]).at(-2)!;
}
